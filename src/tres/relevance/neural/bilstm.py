"""BiLSTM and KwBiLSTM: prediction with the paper's relevance models.

`tres.relevance.neural.lstm_network` describes the network, `tres.relevance.neural.fit_lstm` its
training, and `tres.relevance.neural.word_table` its input. Both kinds get the logit of a linear
model as a shortcut (`tres.relevance.neural.linear_features`), a KwBiLSTM also three numbers about
the topic's keywords in the text (`tres.relevance.neural.keyword_counts`).

Prediction uses onnxruntime on one thread, without torch. Texts that repeat, as anchors do, are
read once; the others are sorted by length and go in small batches of about `BATCH_WORDS`, which
keeps padding low and the caches warm. The runtime knows the lengths, so padding and the other
texts of a batch never change an answer.

The directory of a saved model holds, beside manifest and vocabulary,

    weights.safetensors   the table of words, the weights of network and linear model
    exact.onnx            the graph
    network.json          prior, keywords and phrases

Models of earlier versions also hold an 8-bit graph (small.onnx) and pages to compare the two with.
Nothing uses them any more, but the digest of such a model covers them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from tres.errors import ModelError
from tres.relevance.batches import predict_distinct
from tres.relevance.model_files import AGAIN, ModelFiles, SavedModel
from tres.relevance.neural.keyword_counts import KeywordCounter
from tres.relevance.neural.linear_features import LinearModels
from tres.relevance.neural.word_table import RaggedRows, WordTable, network_tokens
from tres.relevance.onnx_session import one_thread_session

KIND = "bilstm"
KW_KIND = "kw-bilstm"
TABLE, GRAPH, SETTINGS = "weights.safetensors", "exact.onnx", "network.json"
LINEAR = ("linear.idf", "linear.weights", "linear.intercept")
CHUNK = 512
"""Texts whose words are in memory at the same time."""
BATCH_WORDS = 2400
"""Words of a batch, padding included."""
BATCH_TEXTS = 64
"""Largest number of texts in a batch."""

Floats = NDArray[np.float32]


class _Settings(msgspec.Struct):
    """The content of network.json."""

    prior: float
    keywords: list[str]
    phrases: list[str]


@dataclass(frozen=True, eq=False)
class BiLstmModel(SavedModel):
    """A trained network with all that prediction needs."""

    kind: str
    table: WordTable
    counter: KeywordCounter
    prior: float
    arrays: Mapping[str, NDArray[Any]]
    """The weights of network and linear model."""
    graphs: Mapping[str, bytes]
    """The graph by its file name, and those that an earlier version saved with it."""
    facts: Mapping[str, Any]

    @cached_property
    def _session(self) -> Any:
        return one_thread_session(self.graphs[GRAPH])

    @cached_property
    def _vectors(self) -> Floats:
        return self.table.matrix.astype(np.float32)

    @cached_property
    def _linear(self) -> LinearModels:
        idf, weights, intercept = (self.arrays[name] for name in LINEAR)
        return LinearModels(idf, weights, intercept, scale=1)

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """One probability per text; a text without a known word gets the prior."""
        return predict_distinct(texts, self._predict, CHUNK)

    def _predict(self, texts: list[str]) -> Floats:
        rows, linear_rows = self.table.network_and_linear_rows(texts)
        return self._run(rows, self._shortcut(texts, linear_rows))

    def _shortcut(self, texts: Sequence[str], linear_rows: RaggedRows) -> Floats:
        logits = self._linear.logits(linear_rows, np.zeros(len(texts), np.intp))[:, None]
        if self.kind != KW_KIND:
            return logits
        counts = self.counter.features([network_tokens(text) for text in texts])
        return np.concatenate([logits, counts], 1)

    def _run(self, texts: RaggedRows, shortcut: Floats) -> Floats:
        """The network's answers to tokenised texts."""
        answers = np.full(len(texts), self.prior, np.float32)
        for chosen in batches_by_length(texts.lengths):
            rows, lengths = texts.padded(chosen)
            feed = {"x": self._vectors[rows], "lengths": lengths, "shortcut": shortcut[chosen]}
            (logits,) = self._session.run(["logits"], feed)
            answers[chosen] = np.exp(-np.logaddexp(0.0, -logits.astype(np.float64)))
        return answers

    def _files(self) -> ModelFiles:
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        settings = _Settings(self.prior, [*self.counter.keywords], [*self.counter.phrases])
        parts = {
            TABLE: save({"table": self.table.matrix, **arrays}),
            SETTINGS: json.dumps(msgspec.structs.asdict(settings), indent=2).encode(),
            **self.graphs,
        }
        return ModelFiles(self.kind, tuple(self.table.index), {}, dict(self.facts), parts)

    @classmethod
    def from_files(cls, files: ModelFiles) -> BiLstmModel:
        """Rebuild a saved model; `ModelError` if the parts do not fit together."""
        for name in (TABLE, GRAPH, SETTINGS):
            if name not in files.parts:
                raise ModelError(f"the manifest does not name {name}; {AGAIN}")
        arrays = _arrays(files.parts[TABLE])
        table = arrays.pop("table")
        if not _are_usable({"table": table, **arrays}) or len(table) != len(files.vocabulary):
            raise ModelError("its arrays do not fit its vocabulary; train the model anew")
        settings = _settings(files.parts[SETTINGS])
        return cls(
            files.kind,
            WordTable(files.vocabulary, table),
            KeywordCounter(settings.keywords, settings.phrases),
            settings.prior,
            arrays,
            {name: part for name, part in files.parts.items() if name not in (TABLE, SETTINGS)},
            files.facts,
        )._checked()

    def _checked(self) -> BiLstmModel:
        """Run the graph once, so that a foreign one is refused before a crawl starts."""
        word = RaggedRows(np.zeros(1, np.int32), np.ones(1, np.int64))
        try:
            self._run(word, self._shortcut([""], word))
        except Exception as problem:  # the runtime's exceptions have no common base
            raise ModelError(f"{GRAPH} cannot answer ({problem}); train the model anew") from None
        return self


def batches_by_length(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """The texts that have words, sorted by length, in batches within the limits.

    >>> [batch.tolist() for batch in batches_by_length(np.array([2, 0, 4000, 1]))]
    [[3, 0], [2]]
    """
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    begin = 0
    for at, text in enumerate(order):
        size = at - begin
        if size >= BATCH_TEXTS or (size and (size + 1) * lengths[text] > BATCH_WORDS):
            yield order[begin:at]
            begin = at
    if begin < len(order):
        yield order[begin:]


def _arrays(content: bytes) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: dict[str, NDArray[Any]] = load(content)
    except (SafetensorError, KeyError) as problem:  # KeyError: a dtype that NumPy lacks
        raise ModelError(f"{TABLE} holds no arrays ({problem}); {AGAIN}") from None
    if not {"table", *LINEAR} <= arrays.keys():
        raise ModelError(f"{TABLE} lacks arrays; {AGAIN}")
    return arrays


def _are_usable(arrays: Mapping[str, NDArray[Any]]) -> bool:
    table = arrays["table"]
    return (
        table.dtype == np.float16
        and table.ndim == 2
        and arrays["linear.idf"].shape == (len(table),)
        and arrays["linear.weights"].shape == (1, len(table))
        and arrays["linear.intercept"].shape == (1,)
        and all(np.isfinite(array).all() for array in arrays.values())
    )


def _settings(content: bytes) -> _Settings:
    try:
        return msgspec.json.decode(content, type=_Settings)
    except (ValueError, RecursionError):
        raise ModelError(f"{SETTINGS} is damaged; {AGAIN}") from None
