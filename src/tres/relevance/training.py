"""From examples to a model: what the topic file's `[training]` section asks for.

Examples come from a web's labels or from files; a trainer by the name of the model's
kind learns from them. A new kind of model is one more line in `TRAINERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tres.errors import TrainingError
from tres.relevance.example_files import examples_from_files
from tres.relevance.examples import Examples, examples_from_labels
from tres.relevance.model import RelevanceModel
from tres.relevance.neural.bilstm import KIND as BILSTM
from tres.relevance.neural.bilstm import KW_KIND as KW_BILSTM
from tres.relevance.neural.train_bilstm import Progress, Start, train_bilstm
from tres.relevance.svm import KIND as SVM
from tres.relevance.svm import train_svm
from tres.relevance.tfidf import KIND as TFIDF
from tres.relevance.tfidf import train_tfidf

__all__ = ["Examples", "Start", "examples_from_files", "examples_from_labels", "train_model"]

Plain = Callable[[Sequence[str], Sequence[bool], int], RelevanceModel]
Trainer = Callable[[Sequence[str], Sequence[bool], int, Start, Progress], RelevanceModel]


def _plain(trainer: Plain) -> Trainer:
    """A trainer that needs nothing but examples, and no progress bar."""
    return lambda texts, labels, seed, start, progress: trainer(texts, labels, seed)


def _neural(kind: str) -> Trainer:
    return lambda texts, labels, seed, start, progress: train_bilstm(
        texts, labels, seed, kind, start, progress
    )


AUTO, CHOSEN = "auto", TFIDF
"""Whoever leaves the kind of model to tres gets this one."""

TRAINERS: dict[str, Trainer] = {
    TFIDF: _plain(train_tfidf),
    SVM: _plain(train_svm),
    BILSTM: _neural(BILSTM),
    KW_BILSTM: _neural(KW_BILSTM),
}


def train_model(
    kind: str,
    examples: Examples,
    seed: int,
    start: Start | None = None,
    progress: Progress = lambda done: None,
) -> RelevanceModel:
    """Train a model of a kind that the topic file names; `progress` is told the share done."""
    kind = CHOSEN if kind == AUTO else kind
    if kind not in TRAINERS:
        raise TrainingError(f"{kind!r} is no kind of model; valid are {', '.join(TRAINERS)}")
    return TRAINERS[kind](examples.texts, examples.labels, seed, start or Start(), progress)
