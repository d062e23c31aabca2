"""How every model answers many texts: each once, some hundred at a time.

Links repeat their anchors, and pages their boilerplate, so a text that occurs again is not read
again. Chunks keep a large batch from needing memory for all of its texts at the same time.

The pages of a site also repeat each other's links. A model whose answer to a text does not depend
on the texts beside it, to the last bit, may remember what it has said of short ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

SHORT = 200
"""Characters of a text that is worth remembering: a link, not a page."""
REMEMBERED = 1 << 15
"""Texts; when there are more, all of them are forgotten."""


def each_once(texts: Sequence[str], answer: Callable[[list[str]], Floats], chunk: int) -> Floats:
    """What `answer` says of every text, asked about each distinct one once, `chunk` at a time."""
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    distinct = list(place)
    parts = [answer(distinct[at : at + chunk]) for at in range(0, len(distinct), chunk)]
    answers = np.concatenate([np.empty(0, np.float32), *parts])
    return answers[[place[text] for text in texts]] if len(texts) > len(distinct) else answers


def remembering(
    texts: Sequence[str],
    answer: Callable[[list[str]], Floats],
    chunk: int,
    memory: dict[str, float],
) -> Floats:
    """The same, without asking again about short texts in the memory, which grows."""
    if len(memory) > REMEMBERED:
        memory.clear()
    unknown = [text for text in dict.fromkeys(texts) if text not in memory]
    told = dict(zip(unknown, each_once(unknown, answer, chunk).tolist(), strict=True))
    memory |= {text: said for text, said in told.items() if len(text) <= SHORT}
    said = (memory[text] if text in memory else told[text] for text in texts)
    return np.fromiter(said, np.float32, len(texts))
