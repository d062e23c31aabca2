"""From example pages to a trained BiLSTM or KwBiLSTM.

The steps: choose the words that the model will know, look up their vectors and fit their linear
features, train the network (`tres.relevance.neural.fit_lstm`), and export it as a graph
(`tres.relevance.neural.onnx_graph`). The manifest records the vectors, by name and digest, and the
best epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.relevance.neural.bilstm import GRAPH, KW_KIND, LINEAR, BiLstmModel
from tres.relevance.neural.keyword_counts import KeywordCounter
from tres.relevance.neural.linear_features import LinearModels, fit_linear_models
from tres.relevance.neural.word_table import (
    RaggedRows,
    WordTable,
    network_tokens,
    standardised_vectors,
    table_vocabulary,
)
from tres.relevance.training import (
    Progress,
    TopicWords,
    prior_probability,
    require_both_classes,
    training_record,
)
from tres.topic.vectors.word_vectors import load_vectors

PACKAGES = ("numpy", "onnx", "onnxruntime", "safetensors", "scikit-learn", "torch")

Texts = list[list[str]]


def train_bilstm(
    texts: Sequence[str],
    labels: Sequence[bool],
    kind: str,
    seed: int,
    topic: TopicWords,
    progress: Progress = lambda done: None,
) -> BiLstmModel:
    """Train a network of either kind; the same seed gives the same network."""
    from tres.relevance.neural.fit_lstm import TrainingPages, fit
    from tres.relevance.neural.onnx_graph import onnx_graph

    require_both_classes(labels)
    vectors = load_vectors(topic.vectors)
    counter = KeywordCounter(topic.keywords, topic.phrases)
    vocabulary = table_vocabulary(vectors, texts, counter.words)
    linear, fold_of = fit_linear_models(texts, labels, vocabulary, seed)
    features = linear.word_features()[-1][:, None]
    matrix = np.concatenate([standardised_vectors(vectors, vocabulary), features], 1)
    table = WordTable(vocabulary, matrix.astype(np.float16))
    rows, linear_rows = table.network_and_linear_rows(texts)
    known = np.flatnonzero(rows.lengths)

    def shortcut(linear_rows: RaggedRows, words: Callable[[], Texts]) -> NDArray[np.float32]:
        logits = linear.logits(linear_rows, fold_of[known])[:, None]
        counts = [counter.features(words())] if kind == KW_KIND else []
        return np.concatenate([logits, *counts], 1)

    pages = TrainingPages(
        pages=rows.select(known),
        shortcut=shortcut(
            linear_rows.select(known), lambda: [network_tokens(texts[i]) for i in known.tolist()]
        ),
        shortcut_of=lambda shown: shortcut(shown, lambda: _words(shown, vocabulary)),
        truth=np.asarray(labels, np.bool_)[known],
        look_up=_cross_fitted_vectors(table.matrix, linear, fold_of[known]),
    )
    if len(set(pages.truth.tolist())) < 2:
        raise TrainingError(
            "no example page of one class holds a known word; "
            "give longer examples, or vectors of their language"
        )
    network, epoch = fit(pages, matrix.shape[1], seed, progress)
    weights = {name: value.numpy().copy() for name, value in network.state_dict().items()}
    final_linear_model = linear.idf, linear.weights[-1:].copy(), linear.intercepts[-1:].copy()
    return BiLstmModel(
        kind=kind,
        table=table,
        counter=counter,
        prior=prior_probability(labels),
        arrays={**weights, **dict(zip(LINEAR, final_linear_model, strict=True))},
        graphs={GRAPH: onnx_graph(weights)},
        facts={
            **training_record(labels, seed, PACKAGES),
            "epoch": epoch,
            "vectors": {"name": vectors.name, "digest": vectors.digest},
        },
    )


def _words(pages: RaggedRows, vocabulary: Sequence[str]) -> Texts:
    """The words of rows."""
    ends = np.cumsum(pages.lengths)
    words = [vocabulary[i] for i in pages.ids]
    return [words[end - n : end] for end, n in zip(ends, pages.lengths, strict=True)]


def _cross_fitted_vectors(
    matrix: NDArray[np.float16], linear: LinearModels, fold_of: NDArray[np.intp]
) -> Callable[[NDArray[np.int32], NDArray[np.intp]], NDArray[np.float32]]:
    """A look-up of word vectors, with linear features from a model fitted without the page."""
    vectors, features = matrix.astype(np.float32), linear.word_features()

    def look_up(rows: NDArray[np.int32], chosen: NDArray[np.intp]) -> NDArray[np.float32]:
        found = vectors[rows]
        found[..., -1] = features[fold_of[chosen], rows]
        return found

    return look_up
