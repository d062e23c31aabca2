"""Which words count for a model: those of one page, and those of the whole topic.

*Of a page*, for any model: attribution by leaving words out (occlusion). The model judges the text
again with one word left out everywhere; the word's weight is what the text loses, in log-odds.
Forms of one word (*galaxy*, *galaxies*) are left out together, because some models do not tell them
apart. Weights do not add up: a page that is certainly relevant loses little with any single word.
So the text is also judged without all of the words that count most for the topic.

*Of the topic*, for linear models only: there a word has one weight, whatever the text. Its strength
is what one occurrence adds to the log-odds of a text, up to a factor that all words share (TF-IDF
scales every text to length 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import snowballstemmer
from numpy.typing import NDArray

from tres.relevance.model import RelevanceModel
from tres.topic.text import STOP_WORDS, words

MAX_WORDS = 250
"""Words of a text that are tried: those of the title, then the most frequent."""
NEGLIGIBLE = 0.005
"""Weights below this, in log-odds, are not reported."""
CERTAIN = 1e-6
"""Probabilities are clipped to stay this far from 0 and 1."""

Strengths = tuple[tuple[str, float], ...]
"""Words with their strengths, the strongest first; the strongest word of a model has 1."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """The words of a text that matter most to a model; weights are log-odds, largest first.

    The names of the fields are those of `tres explain --json`.
    """

    probability: float
    spoke_for: tuple[tuple[str, float], ...]
    spoke_against: tuple[tuple[str, float], ...]
    without: float
    """The probability of the text without any of the words that spoke for it."""


def attribute_words(model: RelevanceModel, text: str, count: int = 6) -> Attribution:
    """Find the words that count most for and against the topic, up to `count` on each side."""
    forms = _word_forms(text)
    variants = [_leave_out(text, each) for each in forms.values()]
    whole, *rest = model.probabilities([_leave_out(text, ()), *variants]).tolist()
    lost = log_odds(np.array([whole])) - log_odds(np.array(rest))
    ranked = sorted(zip(forms, lost.tolist(), strict=True), key=lambda item: -item[1])
    positive = tuple(item for item in ranked if item[1] > NEGLIGIBLE)[:count]
    negative = tuple(item for item in ranked[::-1] if item[1] < -NEGLIGIBLE)[:count]
    removed = _leave_out(text, [form for word, _ in positive for form in forms[word]])
    without = float(model.probabilities([removed])[0]) if positive else whole
    return Attribution(whole, positive, negative, without)


def log_odds(probabilities: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the logits of probabilities, on which scale evidence adds up."""
    clipped = np.clip(probabilities.astype(np.float64), CERTAIN, 1.0 - CERTAIN)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def _word_forms(text: str) -> dict[str, set[str]]:
    """The words to leave out, each with its other forms in the text."""
    title, _, _ = text.partition("\n")
    order = [*words(title), *(word for word, _ in Counter(words(text)).most_common())]
    stem = snowballstemmer.stemmer("porter").stemWord
    first_of_stem: dict[str, str] = {}
    forms: dict[str, set[str]] = {}
    for word in dict.fromkeys(word for word in order if word not in STOP_WORDS):
        forms.setdefault(first_of_stem.setdefault(stem(word), word), set()).add(word)
    return dict(list(forms.items())[:MAX_WORDS])


def _leave_out(text: str, left_out: Collection[str]) -> str:
    """The words of the text, title first, without some of them."""
    title, newline, body = text.partition("\n")
    lines = [title, body] if newline else [title]
    remaining = ([word for word in words(line) if word not in left_out] for line in lines)
    return "\n".join(map(" ".join, remaining))


@runtime_checkable
class LinearModel(Protocol):
    """A model with one weight per word."""

    has_stems: bool
    """Are its words stems?"""

    def word_weights(self) -> Mapping[str, float]:
        """What each word adds to the log-odds, up to a factor that all words share."""


@dataclass(frozen=True, slots=True)
class StrongestWords:
    """The strongest words of a model on each side."""

    positive: Strengths
    negative: Strengths
    are_stems: bool


def strongest_words(model: RelevanceModel, count: int = 24) -> StrongestWords | None:
    """Return up to `count` words on each side; None if the model is not linear."""
    if not isinstance(model, LinearModel):
        return None
    weights = model.word_weights()
    largest = max(map(abs, weights.values()), default=1.0)
    return StrongestWords(
        _ranked(((word, weight / largest) for word, weight in weights.items()), count),
        _ranked(((word, -weight / largest) for word, weight in weights.items()), count),
        model.has_stems,
    )


def _ranked(strengths: Iterable[tuple[str, float]], count: int) -> Strengths:
    positive = [(word, strength) for word, strength in strengths if strength > 0]
    return tuple(sorted(positive, key=lambda item: (-item[1], item[0]))[:count])
