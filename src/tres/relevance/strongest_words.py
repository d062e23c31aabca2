"""The words that count most for and against the topic, in models that can say it.

Only a linear model can: there a word has one weight, whatever the text. Its strength is what one
occurrence adds to the log-odds of a text, up to a factor that all words share (TF-IDF scales
every text to length 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tres.relevance.model import RelevanceModel

Strengths = tuple[tuple[str, float], ...]
"""Words with their strengths, the strongest first; the strongest word of a model has 1."""


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
