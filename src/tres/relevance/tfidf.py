"""TF-IDF and logistic regression: the fast relevance model.

A text becomes a vector with one entry per known word, (1 + ln n) * idf for a word that
occurs n times, scaled to length 1; the probability is the logistic function of that
vector times the weights, plus an intercept. A page's first line is its title, whose
words count `TITLE_WEIGHT` times; a text of one line, such as an anchor, has no title.

What was chosen by measurement, training on at most 150 relevant and 1,000 irrelevant
pages and judging all others of two webs (seven topics, two or three draws each):

- Weights balanced between the classes. Without that, recall falls by 0.1 to 0.3, and
  more for rare topics. With it, the cut at probability 0.5 is within 0.005 of the best
  possible macro F1 if there are 150 relevant examples; a cut moved by cross-validation
  was worse.
- C = 10: within 0.01 of the best for pages, while a larger C ranks anchors worse.
- Heavier titles: macro F1 +0.01 on a heterogeneous web, average precision of anchors
  +0.01 to +0.05, and no loss elsewhere.
- Single words. Pairs of words gave pages +0.01 and anchors between +0.02 and -0.05, for
  twice the cost.

Training uses scikit-learn; answering is a few NumPy calls per batch, no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.errors import TrainingError
from tres.relevance.batches import remembering
from tres.relevance.model_files import ModelFiles
from tres.relevance.provenance import count_relevant, origin, prior
from tres.topic.text import STOP_WORDS, words

KIND = "tfidf"
TITLE_WEIGHT = 5
C = 10.0
MIN_PAGES = 2
"""Training pages in which a word must occur to become known."""
BATCH = 512
"""Texts answered at once: enough to hide NumPy's overhead, few enough to stay in cache."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TfidfModel:
    """Known words, and what each says about the topic."""

    vocabulary: Mapping[str, int]
    idf: Floats
    weights: Floats
    intercept: float
    prior: float
    facts: Mapping[str, Any]
    """Where the model comes from: numbers of examples, seed, versions."""

    @cached_property
    def digest(self) -> str:
        return self._files().digest

    def probabilities(self, texts: Sequence[str]) -> Floats:
        """One probability per text; texts that repeat, as anchors do, are read once."""
        return remembering(texts, self._answer, BATCH, self._memory)

    @cached_property
    def _memory(self) -> dict[str, float]:
        return {}

    def _answer(self, texts: list[str]) -> Floats:
        rows, ids, counts = self._counts(texts)
        values = (1.0 + np.log(counts)) * self.idf[ids]
        scores = np.bincount(rows, values * self.weights[ids], len(texts))
        norms = np.sqrt(np.bincount(rows, values * values, len(texts)))
        known = norms > 0.0
        logits = scores / np.where(known, norms, 1.0) + self.intercept
        chances = np.exp(-np.logaddexp(0.0, -logits))
        return np.where(known, chances, self.prior).astype(np.float32)

    def _counts(self, texts: list[str]) -> tuple[NDArray[np.int64], ...]:
        """Text by text, which known words occur and how often (coordinates and counts)."""
        found = [terms(text) for text in texts]
        lengths = np.fromiter(map(len, found), np.int64, len(found))
        looked_up = map(self.vocabulary.get, chain.from_iterable(found), repeat(-1))
        ids = np.fromiter(looked_up, np.int64, int(lengths.sum()))
        rows = np.repeat(np.arange(len(texts)), lengths)
        cells = (rows * len(self.vocabulary) + ids)[ids >= 0]
        cells, counts = np.unique(cells, return_counts=True)
        return *np.divmod(cells, len(self.vocabulary)), counts

    def save(self, directory: Path) -> None:
        """Write the model into `directory`, replacing one that is there."""
        self._files().write(directory)

    def _files(self) -> ModelFiles:
        arrays: dict[str, NDArray[Any]] = {
            "idf": self.idf,
            "weights": self.weights,
            "scalars": np.array([self.intercept, self.prior], np.float64),
        }
        return ModelFiles(KIND, tuple(self.vocabulary), arrays, dict(self.facts))

    @classmethod
    def from_files(cls, files: ModelFiles) -> TfidfModel:
        """The model that was saved; `ModelError` if the parts do not fit together."""
        vocabulary, arrays = files.words_with(["idf", "weights"], scalars=2), files.arrays
        intercept, prior = arrays["scalars"].tolist()
        return cls(vocabulary, arrays["idf"], arrays["weights"], intercept, prior, files.facts)


def terms(text: str) -> list[str]:
    """The words of a text, those of its title line as often as they count."""
    title, newline, _ = text.partition("\n")
    return words(text) + words(title) * (TITLE_WEIGHT - 1) if newline else words(text)


def train_tfidf(
    texts: Sequence[str],
    labels: Sequence[bool],
    seed: int,
    weights: Sequence[float] | None = None,
) -> TfidfModel:
    """Fit the model. It draws nothing at random; the seed is kept as part of its history.

    With `weights` some examples count more than others, such as judgements beside guesses.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    count_relevant(labels)
    vectoriser = TfidfVectorizer(analyzer=content_terms, min_df=MIN_PAGES, sublinear_tf=True)
    with threadpool_limits(1):  # faster here, and sums in one order only
        try:
            vectors = vectoriser.fit_transform(texts)
        except ValueError:
            raise TrainingError(
                f"no word occurs in {MIN_PAGES} of the {len(texts)} example pages; "
                "give more or longer examples"
            ) from None
        regression = LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
        regression.fit(vectors, np.asarray(labels, np.bool_), sample_weight=weights)
    return TfidfModel(
        vocabulary={word: i for i, word in enumerate(vectoriser.get_feature_names_out().tolist())},
        idf=vectoriser.idf_.astype(np.float32),
        weights=regression.coef_[0].astype(np.float32),
        intercept=float(regression.intercept_[0]),
        prior=prior(labels),
        facts=origin(labels, seed, ["numpy", "scikit-learn"]),
    )


def content_terms(text: str) -> list[str]:
    """The words that a model may learn."""
    return [word for word in terms(text) if word not in STOP_WORDS]
