"""Which words made a page relevant: what a model would say of it without them.

A model is asked again about the text with one word left out wherever it stands, and the word's
weight is what the text loses by that, in log-odds; so it is told of every model alike, linear or
neural, in the model's own voice. Forms of one word (*galaxy*, *galaxies*) are left out together,
for some models know them as one. Weights do not add up: a page that is certainly relevant loses
little with any single word. So the words that spoke most are also left out all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from tres.relevance.model import RelevanceModel
from tres.topic.text import STOP_WORDS, words

TRIED = 250
"""Words of a text that are left out in turn, at most: those of the title, then the frequent."""
NEGLIGIBLE = 0.005
"""Log-odds that a word must move to have said anything."""
CERTAIN = 1e-6
"""Probabilities are taken to be at least this far from 0 and 1."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """What the words of a text say to a model; weights are log-odds, the weightiest first."""

    probability: float
    spoke_for: tuple[tuple[str, float], ...]
    spoke_against: tuple[tuple[str, float], ...]
    without: float
    """The probability of the text without any of those that spoke for it."""


def attributed_words(model: RelevanceModel, text: str, count: int = 6) -> Attribution:
    """The words that spoke most for the topic and most against it, up to `count` each."""
    families = _families(text)
    tried = [_without(text, family) for family in families.values()]
    whole, *rest = model.probabilities([_without(text, ()), *tried]).tolist()
    lost = log_odds(np.array([whole])) - log_odds(np.array(rest))
    weights = dict(zip(families, lost.tolist(), strict=True))
    spoke = sorted(weights.items(), key=lambda item: -item[1])
    pro = tuple((word, weight) for word, weight in spoke if weight > NEGLIGIBLE)[:count]
    con = tuple((word, weight) for word, weight in spoke[::-1] if weight < -NEGLIGIBLE)[:count]
    left_out = [form for word, _ in pro for form in families[word]]
    without = float(model.probabilities([_without(text, left_out)])[0]) if pro else whole
    return Attribution(whole, pro, con, without)


def log_odds(chances: NDArray[np.floating]) -> NDArray[np.float64]:
    """Probabilities on a scale on which evidence adds up."""
    inside = np.clip(chances.astype(np.float64), CERTAIN, 1.0 - CERTAIN)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def _families(text: str) -> dict[str, set[str]]:
    """The words worth trying, each with its other forms in the text."""
    title, _, _ = text.partition("\n")
    order = [*words(title), *(word for word, _ in Counter(words(text)).most_common())]
    stem = snowballstemmer.stemmer("porter").stemWord
    named: dict[str, str] = {}
    families: dict[str, set[str]] = {}
    for word in dict.fromkeys(word for word in order if word not in STOP_WORDS):
        families.setdefault(named.setdefault(stem(word), word), set()).add(word)
    return dict(list(families.items())[:TRIED])


def _without(text: str, left_out: Collection[str]) -> str:
    """The text as its words, title first, without some of them."""
    title, newline, body = text.partition("\n")
    lines = [title, body] if newline else [title]
    kept = ([word for word in words(line) if word not in left_out] for line in lines)
    return "\n".join(map(" ".join, kept))
