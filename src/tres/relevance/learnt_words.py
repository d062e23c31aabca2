"""The words that a judge has learnt: those that speak most for the topic, and most against it.

Only a linear model can say it in words alone: there a word always speaks for the same side. Its
strength is what one occurrence adds to the log-odds of a text, up to a factor that all words
share (TF-IDF scales every text to the same length).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tres.relevance.model import RelevanceModel
from tres.relevance.svm import TITLE, SvmModel
from tres.relevance.tfidf import TfidfModel

Strengths = tuple[tuple[str, float], ...]
"""Words with their strengths, the strongest first; the strongest of all has strength 1."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """What a model goes by."""

    speak_for: Strengths
    speak_against: Strengths
    are_stems: bool


def learnt_words(model: RelevanceModel, count: int = 24) -> Learnt | None:
    """The strongest words of a linear model, up to `count` on each side; None of any other."""
    match model:
        case TfidfModel():
            return _strongest(_by_word(model.vocabulary, model.idf * model.weights), count, False)
        case SvmModel():
            return _strongest(_by_word(model.vocabulary, model.slope * model.weights), count, True)
        case _:
            return None


def _by_word(vocabulary: Mapping[str, int], weights: NDArray[np.float32]) -> dict[str, float]:
    """Weights by word; of a word that counts in titles by itself, the stronger of both."""
    found: dict[str, float] = {}
    for word, place in vocabulary.items():
        name, weight = word.removeprefix(TITLE), float(weights[place])
        if abs(weight) > abs(found.get(name, 0.0)):
            found[name] = weight
    return found


def _strongest(weights: Mapping[str, float], count: int, are_stems: bool) -> Learnt:
    most = max(map(abs, weights.values()), default=1.0)
    return Learnt(
        _ranked(((word, weight / most) for word, weight in weights.items()), count),
        _ranked(((word, -weight / most) for word, weight in weights.items()), count),
        are_stems,
    )


def _ranked(strengths: Iterable[tuple[str, float]], count: int) -> Strengths:
    positive = [(word, strength) for word, strength in strengths if strength > 0]
    return tuple(sorted(positive, key=lambda item: (-item[1], item[0]))[:count])
