"""From examples to a model: what the topic file's `[training]` section asks for.

Examples come from a web's labels or from files; a trainer by the name of the model's
kind learns from them. A new kind of model is one more line in `TRAINERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tres.errors import TrainingError
from tres.relevance.base import RelevanceModel
from tres.relevance.example_files import examples_from_files
from tres.relevance.examples import Examples, examples_from_labels
from tres.relevance.tfidf import KIND as TFIDF
from tres.relevance.tfidf import train_tfidf

__all__ = ["Examples", "examples_from_files", "examples_from_labels", "train_model"]

Trainer = Callable[[Sequence[str], Sequence[bool], int], RelevanceModel]
TRAINERS: dict[str, Trainer] = {TFIDF: train_tfidf}
AUTO, CHOSEN = "auto", TFIDF
"""Whoever leaves the kind of model to tres gets this one."""


def train_model(kind: str, examples: Examples, seed: int) -> RelevanceModel:
    """Train a model of a kind that the topic file names."""
    kind = CHOSEN if kind == AUTO else kind
    if kind not in TRAINERS:
        raise TrainingError(f"{kind!r} is no kind of model; valid are {', '.join(TRAINERS)}")
    return TRAINERS[kind](examples.texts, examples.labels, seed)
