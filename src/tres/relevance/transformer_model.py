"""Words, affinity and a transformer: the model that knows most, for crawls that have the time.

The log-odds of a page are

    words · TF-IDF(page) + strength * affinity(page) + directions · encoder(page) + intercept

The first two parts are those of `tres.relevance.static`. For the third, a transformer reads the
beginning of the page (`tres.relevance.encoders.transformer`); the regression learns which
directions among its vectors belong to the topic. It learns everything at once and penalises all
weights alike, so the scales of the columns decide which part is trusted before the examples have
spoken.

A transformer judges some dozens of pages a second, as many as a polite crawl fetches. A page has a
hundred links, though, and it reads only some hundred anchors a second. So a text of one line, as
all anchors are, gets the answer of a static model that was fitted to the same examples. That is a
whole model, and not the first two parts of the sum above: these leave to the transformer what it
explains better, and would be too cautious alone. Both have the same words and the same direction,
and both give the probability of the same thing, so their answers can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tres.errors import ModelError
from tres.relevance.batches import predict_cached
from tres.relevance.encoders.encoder import Encoder
from tres.relevance.encoders.kept_vectors import page_encoder
from tres.relevance.encoders.record import encoder_record, recorded_encoder
from tres.relevance.examples import Examples
from tres.relevance.model_files import ModelFiles, SavedModel
from tres.relevance.static import (
    Floats,
    StaticModel,
    affinity_scale,
    fit_with_columns,
    starting_model,
    train_static,
)
from tres.relevance.tfidf import BATCH
from tres.relevance.training import TopicWords

KIND = "transformer"
PAGE_ENCODER = "page-encoder.json"
VECTOR_SCALE = 2.0
"""Of the transformer's columns beside the words."""


@dataclass(frozen=True, eq=False)
class TransformerModel(SavedModel):
    """A static model for lines; for pages a second one, and directions among their vectors."""

    lines: StaticModel
    pages: StaticModel
    directions: Floats
    encoder: Encoder
    has_stems: ClassVar[bool] = False

    @property
    def facts(self) -> Mapping[str, Any]:
        """The record of the training."""
        return self.lines.facts

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """One probability per text; the transformer reads those of several lines."""
        is_page = np.fromiter(("\n" in text for text in texts), np.bool_, len(texts))
        pages = [text for text in texts if "\n" in text]
        lines = [text for text in texts if "\n" not in text]
        answers = np.empty(len(texts), np.float32)
        answers[is_page] = predict_cached(pages, self._judge_pages, BATCH, self._cache)
        answers[~is_page] = self.lines.probabilities(lines)
        return answers

    @cached_property
    def _cache(self) -> dict[str, float]:
        return {}

    def _judge_pages(self, pages: list[str]) -> Floats:
        vectors = self.encoder.encode(pages)
        logits, known = self.pages.log_odds(pages)
        logits += (vectors * self.directions).sum(axis=1)  # row by row: the same whatever the batch
        probabilities = np.exp(-np.logaddexp(0.0, -logits))
        known |= vectors.any(axis=1)
        return np.where(known, probabilities, self.pages.prior).astype(np.float32)

    def word_weights(self) -> dict[str, float]:
        """What each known word adds to the log-odds of a line, up to a factor that all share."""
        return self.lines.word_weights()

    def _files(self) -> ModelFiles:
        files, pages = self.lines._files(), self.pages
        own = {
            "page_weights": pages.weights,
            "page_scalars": np.array([pages.strength, pages.intercept]),
            "page_directions": self.directions,
        }
        parts = {**files.parts, PAGE_ENCODER: encoder_record(self.encoder)}
        return replace(files, kind=KIND, arrays={**files.arrays, **own}, parts=parts)

    @classmethod
    def from_files(cls, files: ModelFiles) -> TransformerModel:
        """Rebuild a saved model; `ModelError` if the parts do not fit together."""
        encoder = recorded_encoder(files.parts.get(PAGE_ENCODER, b""), page_encoder)
        arrays = dict(files.arrays)
        own = {name: arrays.pop(name) for name in files.arrays if name.startswith("page_")}
        lines = StaticModel.from_files(replace(files, arrays=arrays))
        expected = {
            "page_weights": ("float32", (len(lines.vocabulary),)),
            "page_scalars": ("float64", (2,)),
            "page_directions": ("float32", (encoder.dimension,)),
        }
        found = {name: (array.dtype.name, array.shape) for name, array in own.items()}
        if found != expected or not all(np.isfinite(array).all() for array in own.values()):
            raise ModelError("its arrays do not fit its encoder; train the model anew")
        strength, intercept = own["page_scalars"].tolist()
        changed = {"weights": own["page_weights"], "strength": strength, "intercept": intercept}
        return cls(lines, replace(lines, **changed), own["page_directions"], encoder)


def train_transformer(examples: Examples, seed: int, topic: TopicWords) -> TransformerModel:
    """Fit the model of a topic to examples. Nothing is drawn; the seed is only recorded."""
    start = starting_model(examples, topic)
    scale = affinity_scale(sum(examples.labels))
    encoder = page_encoder(topic.encoder)
    columns = VECTOR_SCALE * encoder.encode(examples.texts)
    pages, directions = fit_with_columns(examples, seed, start, scale, columns)
    lines = train_static(examples, seed, start, scale)
    directions = VECTOR_SCALE * directions
    return TransformerModel(lines, pages, directions.astype(np.float32), encoder)
