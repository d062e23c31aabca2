"""Prediction for many texts: each distinct text once, a few hundred at a time.

Links repeat their anchors, and pages their boilerplate, so a text that repeats is read once. A
large batch goes in chunks, which bounds the memory that it needs.

The pages of a site also repeat each other's links. A model whose answer to a text never depends,
to the last bit, on the other texts of the batch may cache its answers to short texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Predict = Callable[[list[str]], Floats]

MAX_CACHED_CHARS = 200
"""Longest text that is cached: a link, not a page."""
MAX_CACHED_TEXTS = 1 << 15
"""A cache with more texts is emptied."""


def predict_distinct(texts: Sequence[str], predict: Predict, chunk: int) -> Floats:
    """The prediction for every text, with each distinct text predicted once, in chunks."""
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    distinct = list(place)
    parts = [predict(distinct[at : at + chunk]) for at in range(0, len(distinct), chunk)]
    answers = np.concatenate([np.empty(0, np.float32), *parts])
    return answers[[place[text] for text in texts]] if len(texts) > len(distinct) else answers


def predict_cached(
    texts: Sequence[str], predict: Predict, chunk: int, cache: dict[str, float]
) -> Floats:
    """The same, with the answers to short texts taken from the cache or added to it."""
    if len(cache) > MAX_CACHED_TEXTS:
        cache.clear()
    unknown = [text for text in dict.fromkeys(texts) if text not in cache]
    new = dict(zip(unknown, predict_distinct(unknown, predict, chunk).tolist(), strict=True))
    cache |= {text: answer for text, answer in new.items() if len(text) <= MAX_CACHED_CHARS}
    answers = (cache[text] if text in cache else new[text] for text in texts)
    return np.fromiter(answers, np.float32, len(texts))
