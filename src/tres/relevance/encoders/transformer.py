"""The transformer encoder: it reads the words of a text together, in their order.

A text becomes at most `TOKENS` tokens; the network gives a vector per token, which depends on all
of them; their mean (or the first one, if the encoder was trained so) is the vector of the text. It
understands more than the static encoder and is some hundred times slower.

ONNX Runtime runs the graph on one thread. Texts with equally many tokens go together, so nothing is
padded, and in small batches, which are as fast as large ones and stay in the cache. A graph that
rounds its intermediate results to the range of the whole batch gets each text alone: a vector
must not depend on what it is computed with.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tres.errors import ModelError
from tres.relevance.encoders.encoder import Floats, unit_rows
from tres.relevance.encoders.tokenizer_files import CuttingTokenizer
from tres.relevance.onnx_session import one_thread_session

BATCH_TOKENS = 512
CHUNK = 1024
"""Texts whose tokens are in memory at the same time."""
POOLED = "sentence_embedding"
"""The output of a graph that makes one vector of a text itself."""
ROUNDS_BY_BATCH = b"DynamicQuantize"
"""Part of the names of operators that choose their 8-bit range by the batch."""


@dataclass(frozen=True, slots=True)
class Graph:
    """An ONNX graph, and what identifies the weights in it."""

    content: bytes
    digest: str


class TransformerEncoder:
    """A tokenizer, a graph, and how the vectors of tokens become one."""

    def __init__(
        self, name: str, tokenizer: CuttingTokenizer, graph: Graph, first_token: bool = False
    ) -> None:
        """Load the graph; `ModelError` if it cannot encode what the tokenizer says.

        With `first_token`, the vector of that token is the text's, not the mean of all.
        """
        self.name = name
        self._tokenizer = tokenizer
        self._first_token = first_token
        parts = (graph.digest, tokenizer.digest, str(first_token))
        self.digest = hashlib.sha256(" ".join(parts).encode()).hexdigest()
        self._alone = ROUNDS_BY_BATCH in graph.content
        try:
            self._session = one_thread_session(graph.content)
            self._inputs = [node.name for node in self._session.get_inputs()]
            outputs = [node.name for node in self._session.get_outputs()]
            self._output = POOLED if POOLED in outputs else outputs[0]
            vector = self.pooled([tokenizer.tokens("A text of a few words.")])
        except Exception as problem:  # the runtime's exceptions have no common base
            raise ModelError(f"its graph cannot encode a text ({problem})") from None
        if vector.shape != (1, vector.size) or not vector.size or not np.isfinite(vector).all():
            raise ModelError("its graph gives no usable numbers")
        self.dimension = vector.size

    def encode(self, texts: Sequence[str]) -> Floats:
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            places[text].append(place)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        distinct = list(places)
        for at in range(0, len(distinct), CHUNK):
            for text, row in self._vectors(distinct[at : at + CHUNK]):
                rows[places[text]] = row
        return unit_rows(rows)

    def _vectors(self, texts: Sequence[str]) -> Iterator[tuple[str, Floats]]:
        """The texts that have tokens, in any order, each with its vector."""
        tokens = [self._tokenizer.tokens(text) for text in texts]
        for batch in self._batches(tokens):
            found = self.pooled([tokens[place] for place in batch])
            yield from zip((texts[place] for place in batch), found, strict=True)

    def _batches(self, tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """The places of the texts that have tokens, those of one length together."""
        of_length: defaultdict[int, list[int]] = defaultdict(list)
        for place, ids in enumerate(tokens):
            of_length[len(ids)].append(place)
        for length in sorted(of_length.keys() - {0}):
            size = 1 if self._alone else max(1, BATCH_TOKENS // length)
            places = of_length[length]
            yield from (places[at : at + size] for at in range(0, len(places), size))

    def pooled(self, tokens: Sequence[Sequence[int]]) -> Floats:
        """A vector per text, of any length, from its tokens; all have equally many."""
        ids = np.array(tokens, np.int64)
        values = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        feed = {name: values[name] for name in self._inputs}
        (states,) = self._session.run([self._output], feed)
        if states.ndim == 3:
            states = states[:, 0] if self._first_token else states.mean(axis=1)
        return np.asarray(states, np.float32)
