"""BiLSTM and KwBiLSTM: the paper's relevance model, as it is served.

What the network is and how it learns stands in `tres.relevance.neural.lstm_network`, what it reads
in `tres.relevance.neural.word_rows`. Both kinds get the opinion of a linear model as a shortcut
(`tres.relevance.neural.linear_features`), a KwBiLSTM also three numbers about the topic's keywords
in the text (`tres.relevance.neural.keyword_counts`).

Serving is onnxruntime on one thread, without torch. Texts that repeat, as anchors do, are
read once; the others are sorted by length and answered in small batches of about `CELLS`
words, which keeps padding low and the caches warm. The runtime is told the lengths, so
padding and the other texts of a batch never change an answer.

The directory of a saved model holds, beside manifest and vocabulary,

    weights.safetensors   the table of words, the weights of network and linear model
    exact.onnx            the graph
    network.json          prior, keywords and phrases

Models of earlier versions also hold a graph in 8 bits (small.onnx) and pages to compare the two
with. Nothing asks for them any more, but they are part of what the digest of such a model names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.errors import ModelError
from tres.relevance.batches import each_once
from tres.relevance.model_files import AGAIN, ModelFiles
from tres.relevance.neural.extra import need_extra
from tres.relevance.neural.keyword_counts import KeywordCounter
from tres.relevance.neural.linear_features import Linear
from tres.relevance.neural.word_rows import Batch, WordTable, read

KIND = "bilstm"
KW_KIND = "kw-bilstm"
TABLE, GRAPH, SETTINGS = "weights.safetensors", "exact.onnx", "network.json"
LINEAR = ("linear.idf", "linear.weights", "linear.intercept")
CHUNK = 512
"""Texts whose words are in memory at the same time."""
CELLS = 2400
"""Words of a batch, padding included."""
TEXTS = 64
"""Texts of a batch, at most."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class BiLstmModel:
    """A trained network with all it needs to answer."""

    kind: str
    table: WordTable
    counter: KeywordCounter
    prior: float
    arrays: Mapping[str, NDArray[Any]]
    """The weights of network and linear model."""
    graphs: Mapping[str, bytes]
    """The graph that answers, by its file name, and what an earlier version saved with it."""
    facts: Mapping[str, Any]

    @cached_property
    def digest(self) -> str:
        """Identity of the answers."""
        return self._files().digest

    @cached_property
    def _session(self) -> Any:
        return session(self.graphs[GRAPH])

    @cached_property
    def _vectors(self) -> Floats:
        return self.table.matrix.astype(np.float32)

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """One probability per text; a text without a known word gets the prior."""
        return each_once(texts, self._read, CHUNK)

    def _read(self, texts: list[str]) -> Floats:
        reads, heards = self.table.read_and_heard(texts)
        return self._answer(reads, self._shortcut(texts, heards))

    def _shortcut(self, texts: Sequence[str], heards: Batch) -> Floats:
        opinions = self._linear.opinions(heards, np.zeros(len(texts), np.intp))[:, None]
        if self.kind != KW_KIND:
            return opinions
        return np.concatenate([opinions, self.counter.numbers([read(t) for t in texts])], 1)

    @cached_property
    def _linear(self) -> Linear:
        arrays = self.arrays
        return Linear(arrays["linear.idf"], arrays["linear.weights"], arrays["linear.intercept"], 1)

    def _answer(self, batch: Batch, shortcut: Floats) -> Floats:
        """Probabilities of texts that are read already."""
        answers = np.full(len(batch), self.prior, np.float32)
        for chosen in micro_batches(batch.lengths):
            rows, lengths = batch.padded(chosen)
            feed = {"x": self._vectors[rows], "lengths": lengths, "shortcut": shortcut[chosen]}
            (logits,) = self._session.run(["logits"], feed)
            answers[chosen] = np.exp(-np.logaddexp(0.0, -logits.astype(np.float64)))
        return answers

    def save(self, directory: Path) -> None:
        """Write the model into `directory`, replacing one that is there."""
        self._files().write(directory)

    def _files(self) -> ModelFiles:
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(array) for name, array in self.arrays.items()}
        settings = {
            "prior": self.prior,
            "keywords": list(self.counter.keywords),
            "phrases": list(self.counter.phrases),
        }
        parts = {
            TABLE: save({"table": self.table.matrix, **arrays}),
            SETTINGS: json.dumps(settings, indent=2).encode(),
            **self.graphs,
        }
        return ModelFiles(self.kind, tuple(self.table.index), {}, dict(self.facts), parts)

    @classmethod
    def from_files(cls, files: ModelFiles) -> BiLstmModel:
        """The model that was saved; `ModelError` if the parts do not fit together."""
        need_extra("onnxruntime", "safetensors")
        for name in (TABLE, GRAPH, SETTINGS):
            if name not in files.parts:
                raise ModelError(f"the manifest does not name {name}; {AGAIN}")
        arrays = _arrays(files.parts[TABLE])
        table = arrays.pop("table")
        if not _usable({"table": table, **arrays}) or len(table) != len(files.vocabulary):
            raise ModelError("its arrays do not fit its vocabulary; train the model anew")
        settings = _settings(files.parts[SETTINGS])
        return cls(
            files.kind,
            WordTable(files.vocabulary, table),
            KeywordCounter(settings["keywords"], settings["phrases"]),
            settings["prior"],
            arrays,
            {name: part for name, part in files.parts.items() if name not in (TABLE, SETTINGS)},
            files.facts,
        )._checked()

    def _checked(self) -> BiLstmModel:
        """Let the graph answer once, so that a foreign one is refused before a crawl starts."""
        word = Batch(np.zeros(1, np.int32), np.ones(1, np.int64))
        try:
            self._answer(word, self._shortcut([""], word))
        except Exception as problem:  # the runtime's exceptions have no common base
            raise ModelError(f"{GRAPH} cannot answer ({problem}); train the model anew") from None
        return self


def micro_batches(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    """Texts that have words, by length, in batches that fit `CELLS` and `TEXTS`.

    >>> [batch.tolist() for batch in micro_batches(np.array([2, 0, 4000, 1]))]
    [[3, 0], [2]]
    """
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    begin = 0
    for at, text in enumerate(order):
        if at - begin >= TEXTS or (at > begin and (at - begin + 1) * lengths[text] > CELLS):
            yield order[begin:at]
            begin = at
    if begin < len(order):
        yield order[begin:]


def session(graph: bytes) -> Any:
    """A runtime for a graph: one thread, and silent."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _arrays(content: bytes) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: dict[str, NDArray[Any]] = load(content)
    except (SafetensorError, KeyError) as problem:  # a kind of number that NumPy does not know
        raise ModelError(f"{TABLE} holds no arrays ({problem}); {AGAIN}") from None
    if not {"table", *LINEAR} <= arrays.keys():
        raise ModelError(f"{TABLE} lacks arrays; {AGAIN}")
    return arrays


def _usable(arrays: Mapping[str, NDArray[Any]]) -> bool:
    table = arrays["table"]
    return (
        table.dtype == np.float16
        and table.ndim == 2
        and arrays["linear.idf"].shape == (len(table),)
        and arrays["linear.weights"].shape == (1, len(table))
        and arrays["linear.intercept"].shape == (1,)
        and all(np.isfinite(array).all() for array in arrays.values())
    )


def _settings(content: bytes) -> dict[str, Any]:
    try:
        settings = json.loads(content)
        prior, lists = settings["prior"], (settings["keywords"], settings["phrases"])
        good = isinstance(prior, float) and all(
            isinstance(terms, list) and all(isinstance(term, str) for term in terms)
            for terms in lists
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        good = False
    if not good:
        raise ModelError(f"{SETTINGS} is damaged; {AGAIN}")
    return dict(settings)
