"""TF-IDF and affinity: the default relevance model, which knows words that no example contained.

The log-odds of a text are

    words · TF-IDF(text) + strength * affinity(text) + intercept

The first part is the model of `tres.relevance.tfidf`: what the examples say about this web. The
second is one number, how near the words of the text are to the topic's own
(`tres.relevance.topic_affinity`), and holds on sites that nobody has labelled. One regression
learns both; how much the affinity counts beside the words is chosen by the number of examples and
by cross-validation (`tres.relevance.mixture`).

Without examples there is a model as well (`untrained_model`): the affinity alone, with a threshold
that fits most topics. It is what a crawl starts with (`tres.relevance.positive_unlabelled`).

Each word is looked up once and then kept as four numbers, so this costs hardly more than TF-IDF.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.errors import ModelError
from tres.relevance.batches import predict_cached
from tres.relevance.encoders.encoder import unit_rows
from tres.relevance.encoders.record import encoder_record, recorded_encoder
from tres.relevance.encoders.sources import STATIC, load_encoder
from tres.relevance.encoders.static_table import StaticEncoder
from tres.relevance.examples import Examples
from tres.relevance.mixture import chosen_scale
from tres.relevance.model_files import ModelFiles, SavedModel
from tres.relevance.tfidf import (
    BATCH,
    MIN_PAGES,
    balanced_regression,
    no_common_word,
    terms,
    tfidf_vectors,
)
from tres.relevance.topic_affinity import TopicAffinity, topic_affinity
from tres.relevance.training import (
    TopicWords,
    prior_probability,
    require_both_classes,
    training_record,
)
from tres.topic.text import STOP_WORDS

KIND = "static"
ENCODER, NAMED = "encoder.json", "topic-words.json"
STRENGTH, BORDER = 40.0, 0.12
"""Of a model without examples: log-odds per affinity, and the affinity where relevance begins."""
PRIOR = 0.1
"""Of a model without examples, for texts without a known word."""
KEPT_WORDS = 1 << 17
"""Words whose numbers are kept; then all but the known ones are forgotten."""

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


class _WordNumbers(dict[str, int]):
    """The row of each word in `numbers`; a new word is only noted, until `complete`.

    A row is: idf, idf times weight, affinity, and whether the word counts for the length.
    """

    def __init__(self, model: StaticModel) -> None:
        self._model = model
        self.numbers = np.zeros((KEPT_WORDS, 4))
        self._new: list[str] = []

    def __missing__(self, word: str) -> int:
        row = self[word] = len(self)
        self._new.append(word)
        return row

    def complete(self) -> None:
        """Fill in the rows of the words that were noted."""
        if self._new:
            first, new, self._new = len(self) - len(self._new), self._new, []
            if len(self) > len(self.numbers):
                more = np.zeros((len(self), 4))
                self.numbers = np.concatenate([self.numbers, more])
            self.numbers[first : len(self)] = self._model.numbers_of(new)

    def make_room(self) -> None:
        """Forget all words if there are too many."""
        if len(self) > KEPT_WORDS:
            self.clear()
            self.numbers = np.zeros((KEPT_WORDS, 4))


@dataclass(frozen=True, eq=False)
class StaticModel(SavedModel):
    """The known words with their weights, and the topic as a direction among word vectors."""

    vocabulary: Mapping[str, int]
    idf: Floats
    weights: Floats
    topic: TopicAffinity
    strength: float
    intercept: float
    prior: float
    facts: Mapping[str, Any]

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """One probability per text; short texts that repeat, as anchors do, are cached."""
        return predict_cached(texts, self._predict, BATCH, self._cache)

    @cached_property
    def _cache(self) -> dict[str, float]:
        return {}

    @cached_property
    def _words(self) -> _WordNumbers:
        return _WordNumbers(self)

    def _predict(self, texts: list[str]) -> Floats:
        logits, known = self.log_odds(texts)
        probabilities = np.exp(-np.logaddexp(0.0, -logits))
        return np.where(known, probabilities, self.prior).astype(np.float32)

    def log_odds(self, texts: Sequence[str]) -> tuple[Doubles, NDArray[np.bool_]]:
        """The log-odds of each text, and whether any of its words says something."""
        words, affinity, known = self._parts(texts)
        return words + self.strength * affinity + self.intercept, known

    def affinity(self, texts: Sequence[str]) -> Doubles:
        """The affinity of each text."""
        parts = [self._parts(texts[at : at + BATCH])[1] for at in range(0, len(texts), BATCH)]
        return np.concatenate([np.empty(0), *parts])

    def _parts(self, texts: Sequence[str]) -> tuple[Doubles, Doubles, NDArray[np.bool_]]:
        """The two parts of each text: weights times TF-IDF, and affinity.

        Words are summed in the order of the text, so the answer is the same whatever the batch and
        whatever was asked before.
        """
        counts = [Counter(terms(text)) for text in texts]
        rows = np.repeat(np.arange(len(texts)), [len(each) for each in counts])
        self._words.make_room()
        places = np.fromiter(map(self._words.__getitem__, chain.from_iterable(counts)), np.intp)
        times = np.fromiter(chain.from_iterable(each.values() for each in counts), np.float64)
        self._words.complete()
        idf, weight, affinity, counted = self._words.numbers[places].T
        often = 1.0 + np.log(times)

        def total(values: Doubles) -> Doubles:
            return np.bincount(rows, values, len(texts)).astype(np.float64)

        length = np.sqrt(total(np.square(often * idf)))
        whole = np.sqrt(total(np.square(often) * counted))
        near = total(often * affinity)
        known = (length > 0.0) | (near > 0.0)
        words = total(often * weight) / np.where(length > 0.0, length, 1.0)
        return words, near / np.where(whole > 0.0, whole, 1.0), known

    def numbers_of(self, found: Sequence[str]) -> Doubles:
        """Return the numbers of words: idf, idf times weight, affinity, whether it counts."""
        numbers = np.zeros((len(found), 4))
        places = np.array([self.vocabulary.get(word, -1) for word in found], np.intp)
        known = places >= 0
        numbers[known, 0] = self.idf[places[known]]
        numbers[known, 1] = self.idf[places[known]] * self.weights[places[known]]
        numbers[:, 2] = self.topic.of_words(found)
        numbers[:, 3] = [word not in STOP_WORDS for word in found]
        return numbers

    def word_weights(self) -> dict[str, float]:
        """What each known word adds to the log-odds, up to a factor that all words share."""
        known = list(self.vocabulary)
        near = self.strength * self.topic.of_words(known)
        return dict(zip(known, (self.idf * self.weights + near).tolist(), strict=True))

    def _files(self) -> ModelFiles:
        scalars = np.array([self.strength, self.intercept, self.prior])
        words = {"idf": self.idf, "weights": self.weights, "direction": self.topic.direction}
        arrays = {**words, "scalars": scalars}
        named = json.dumps(sorted(self.topic.named)) + "\n"
        parts = {ENCODER: encoder_record(self.topic.encoder), NAMED: named.encode()}
        return ModelFiles(KIND, tuple(self.vocabulary), arrays, dict(self.facts), parts)

    @classmethod
    def from_files(cls, files: ModelFiles) -> StaticModel:
        """Rebuild a saved model; `ModelError` if the parts do not fit together."""
        encoder = recorded_encoder(files.parts.get(ENCODER, b""), static_encoder)
        index = {word: place for place, word in enumerate(files.vocabulary)}
        expected = {
            "idf": ("float32", (len(index),)),
            "weights": ("float32", (len(index),)),
            "direction": ("float32", (encoder.dimension,)),
            "scalars": ("float64", (3,)),
        }
        arrays = files.arrays
        found = {name: (array.dtype.name, array.shape) for name, array in arrays.items()}
        if found != expected or not all(np.isfinite(array).all() for array in arrays.values()):
            raise ModelError("its arrays do not fit its vocabulary; train the model anew")
        strength, intercept, prior = arrays["scalars"].tolist()
        topic = TopicAffinity(arrays["direction"], _named(files), encoder)
        words = index, arrays["idf"], arrays["weights"]
        return cls(*words, topic, strength, intercept, prior, files.facts)


def _named(files: ModelFiles) -> frozenset[str]:
    """The words of the topic without a vector; `ModelError` if the file says something else."""
    try:
        named = json.loads(files.parts[NAMED])
    except (KeyError, ValueError, RecursionError):
        named = None
    if not isinstance(named, list) or not all(isinstance(word, str) for word in named):
        raise ModelError("it does not say which words its topic has; train the model anew")
    return frozenset(named)


def static_encoder(name: str = STATIC) -> StaticEncoder:
    """Return a static encoder by its name; `ModelError` if it is of another kind."""
    encoder = load_encoder(name)
    if not isinstance(encoder, StaticEncoder):
        raise ModelError(f"the encoder {name!r} is no table of words; use 'static'")
    return encoder


def train_from_topic(examples: Examples, seed: int, topic: TopicWords) -> StaticModel:
    """Fit the model of a topic to examples."""
    start = starting_model(examples, topic)
    return train_static(examples, seed, start, best_scale(examples, start))


def best_scale(examples: Examples, start: StaticModel) -> float:
    """Return how much the affinity counts beside the words of these examples."""
    try:
        return chosen_scale(examples, start.affinity(examples.texts))
    except ValueError:
        raise no_common_word(MIN_PAGES, len(examples.labels)) from None


def starting_model(examples: Examples, topic: TopicWords) -> StaticModel:
    """Return the model before the regression; topic or examples give its direction."""
    require_both_classes(examples.labels)
    return untrained_model(topic) or _directed_by(examples)


def train_static(examples: Examples, seed: int, start: StaticModel, scale: float) -> StaticModel:
    """Fit a model that has no examples yet. Nothing is drawn; the seed is only recorded."""
    return fit_with_columns(examples, seed, start, scale, np.empty((len(examples.texts), 0)))[0]


def fit_with_columns(
    examples: Examples, seed: int, start: StaticModel, scale: float, more: NDArray[np.floating]
) -> tuple[StaticModel, Doubles]:
    """Fit a model beside `more` columns, in one regression; also return their weights."""
    from scipy.sparse import csr_matrix, hstack
    from threadpoolctl import threadpool_limits

    require_both_classes(examples.labels)
    labels = np.asarray(examples.labels, np.bool_)
    with threadpool_limits(1):  # faster here, and sums always have the same order
        try:
            vectors, vocabulary, idf = tfidf_vectors(examples.texts)
        except ValueError:
            raise no_common_word(MIN_PAGES, len(labels)) from None
        affinity = scale * start.affinity(examples.texts)[:, None]
        regression = balanced_regression()
        columns = hstack([vectors, csr_matrix(affinity), csr_matrix(more)]).tocsr()
        regression.fit(columns, labels, sample_weight=examples.weights)
    words = len(vocabulary)
    weights, (strength,), others = np.split(regression.coef_[0], [words, words + 1])
    model = StaticModel(
        vocabulary={word: place for place, word in enumerate(vocabulary)},
        idf=idf.astype(np.float32),
        weights=np.asarray(weights, np.float32),
        topic=start.topic,
        strength=float(scale * strength),
        intercept=float(regression.intercept_[0]),
        prior=prior_probability(examples.labels),
        facts=training_record(examples.labels, seed, ["numpy", "scikit-learn"]),
    )
    return model, others


def _directed_by(examples: Examples) -> StaticModel:
    """The model of a topic without words: its direction is from the other examples to the relevant.

    It is weak (docs/relevance-measured.md): words that people choose say more.
    """
    encoder = static_encoder()
    relevant, others = (encoder.encode(texts).mean(axis=0) for texts in examples.by_class)
    direction = unit_rows((relevant - others)[None, :])[0]
    return _affinity_alone(TopicAffinity(direction, frozenset(), encoder))


def untrained_model(topic: TopicWords) -> StaticModel | None:
    """The model of a topic without examples; None if it has no words."""
    affinity = topic_affinity(topic, static_encoder())
    return None if affinity is None else _affinity_alone(affinity)


def _affinity_alone(topic: TopicAffinity) -> StaticModel:
    none = np.empty(0, np.float32)
    return StaticModel(
        *({}, none, none, topic, STRENGTH, -STRENGTH * BORDER, PRIOR),
        facts={"relevant": 0, "irrelevant": 0},
    )
