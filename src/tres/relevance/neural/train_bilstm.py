"""From example pages to a BiLSTM or KwBiLSTM that can be served.

The steps: choose the words that the model will know, look up their vectors and learn
their leanings, train the network (`tres.relevance.neural.lstm_network`), and write it down as a
graph (`tres.relevance.neural.onnx_graph`). The manifest keeps the vectors by name and digest, and
the epoch that won.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.relevance.neural.bilstm import GRAPH, KW_KIND, BiLstmModel
from tres.relevance.neural.extra import need_extra
from tres.relevance.neural.keyword_counts import KeywordCounter
from tres.relevance.neural.linear_features import Linear, learn_linear_features
from tres.relevance.neural.word_rows import (
    Batch,
    WordTable,
    heard,
    known_words,
    read,
    scaled_vectors,
)
from tres.relevance.provenance import count_relevant, origin, prior
from tres.topic.vectors.word_vectors import WordVectors, load_vectors

PACKAGES = ("numpy", "onnx", "onnxruntime", "safetensors", "scikit-learn", "torch")

Progress = Callable[[float], None]
Texts = list[list[str]]


@dataclass(frozen=True, slots=True)
class Start:
    """What the topic brings beside examples: its keywords, and the word vectors to use."""

    keywords: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    vectors: str | Path = "glove-6b-50d"


def train_bilstm(
    texts: Sequence[str],
    labels: Sequence[bool],
    seed: int,
    kind: str,
    start: Start,
    progress: Progress = lambda done: None,
) -> BiLstmModel:
    """Train a network of either kind; the same seed gives the same network."""
    need_extra("torch", "onnx", "onnxruntime", "safetensors")
    count_relevant(labels)
    vectors = load_vectors(start.vectors)
    counter = KeywordCounter(start.keywords, start.phrases)
    return _train(texts, labels, seed, kind, counter, vectors, progress)


def _train(
    texts: Sequence[str],
    labels: Sequence[bool],
    seed: int,
    kind: str,
    counter: KeywordCounter,
    vectors: WordVectors,
    progress: Progress,
) -> BiLstmModel:
    from tres.relevance.neural.lstm_network import TrainingPages, fit
    from tres.relevance.neural.onnx_graph import onnx_graph

    found = [read(text) for text in texts]
    whole = [heard(text) for text in texts]
    vocabulary = known_words(vectors, whole, counter.words)
    linear, fold_of = learn_linear_features(texts, labels, vocabulary, seed)
    matrix = _matrix(scaled_vectors(vectors, vocabulary), linear.leanings()[-1])
    table = WordTable(vocabulary, matrix)
    pages = table.rows(found)
    kept = np.flatnonzero(pages.lengths)

    def shortcut(heards: Batch, words: Callable[[], Texts]) -> NDArray[np.float32]:
        opinions = linear.opinions(heards, fold_of[kept])[:, None]
        counted = [counter.numbers(words())] if kind == KW_KIND else []
        return np.concatenate([opinions, *counted], 1)

    lesson = TrainingPages(
        pages=_some(pages, kept),
        shortcut=shortcut(_some(table.rows(whole), kept), lambda: [found[i] for i in kept]),
        shortcut_of=lambda shown: shortcut(shown, lambda: _words(shown, vocabulary)),
        truth=np.asarray(labels, np.bool_)[kept],
        look_up=_look_up(matrix, linear, fold_of[kept]),
    )
    _refuse_wordless(lesson.truth)
    network, epoch = fit(lesson, matrix.shape[1], seed, progress)
    weights = {name: value.numpy().copy() for name, value in network.state_dict().items()}
    return BiLstmModel(
        kind=kind,
        table=table,
        counter=counter,
        prior=prior(labels),
        arrays={**weights, **_kept(linear)},
        graphs={GRAPH: onnx_graph(weights)},
        facts={
            **origin(labels, seed, PACKAGES),
            "epoch": epoch,
            "vectors": {"name": vectors.name, "digest": vectors.digest},
        },
    )


def _matrix(scaled: NDArray[np.float32], leanings: NDArray[np.float32]) -> NDArray[np.float16]:
    return np.concatenate([scaled, leanings[:, None]], 1).astype(np.float16)


def _kept(linear: Linear) -> dict[str, NDArray[Any]]:
    """What is kept of the linear models: the one for new pages."""
    return {
        "linear.idf": linear.idf,
        "linear.weights": linear.weights[-1:].copy(),
        "linear.intercept": linear.intercepts[-1:].copy(),
    }


def _refuse_wordless(truth: NDArray[np.bool_]) -> None:
    if truth.all() or not truth.any():
        raise TrainingError(
            "no example page of one class holds a known word; "
            "give longer examples, or vectors of their language"
        )


def _words(pages: Batch, vocabulary: Sequence[str]) -> Texts:
    """Rows as words again."""
    ends = np.cumsum(pages.lengths)
    named = [vocabulary[i] for i in pages.ids]
    return [named[end - n : end] for end, n in zip(ends, pages.lengths, strict=True)]


def _some(pages: Batch, chosen: NDArray[np.intp]) -> Batch:
    starts = pages.starts
    pieces = [pages.ids[starts[i] : starts[i] + pages.lengths[i]] for i in chosen]
    return Batch(np.concatenate([np.empty(0, np.int32), *pieces]), pages.lengths[chosen])


def _look_up(
    matrix: NDArray[np.float16], linear: Linear, fold_of: NDArray[np.intp]
) -> Callable[[NDArray[np.int32], NDArray[np.intp]], NDArray[np.float32]]:
    """Vectors of words as an example shows them: leaning by a model that never saw it."""
    vectors, leanings = matrix.astype(np.float32), linear.leanings()

    def look_up(rows: NDArray[np.int32], chosen: NDArray[np.intp]) -> NDArray[np.float32]:
        shown = vectors[rows]
        shown[..., -1] = leanings[fold_of[chosen], rows]
        return shown

    return look_up
