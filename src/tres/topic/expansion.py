"""Keyword expansion: words of relevant pages that are as similar to the keywords as those
are to each other (section 2.3 of the paper, Algorithm 1 and equation 2).

Let KS be the given keywords, N of them, and cos the cosine of two word vectors. A word w
is a new keyword if its mean cosine to the given ones,

    CS(w) = 1/N * sum of cos(w, k) over k in KS,

reaches their own mean cosine to each other, without the pairs of a word with itself:

    b = 1/(N(N-1)) * sum of cos(k, k') over k and k' != k in KS.        (equation 2)

With vectors of length 1, CS is one product with the mean of KS, and b follows from the
length of the sum of KS: |sum|^2 holds all pairs, N of them being self-pairs.

**Phrases.** The vector of a phrase is the mean over its words, without stop words; a phrase
belongs to KS if all of them have a vector. New keywords are single words.

**Candidates** are the words of the relevant examples that have a vector, are neither stop
words nor numbers, and occur in at least `min_documents` of the examples.

**Common components.** Frequent words share some directions of the space, whatever they
mean (Mu and Viswanath, "All-but-the-Top", 2018), so "example" is near everything. Without
the mean and the first few principal components, more of the meaning is left.

**Contrast** is not in the paper. "Found" and "method" are near "gene", but they are on all
other pages too, where a keyword would mislead. So the share of relevant examples with a new
keyword must be `contrast` times that of the other examples. This also replaces the list of
stop words, which is English, in other languages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tres.errors import ConfigError
from tres.settings.sections import TopicSection
from tres.topic.text import STOP_WORDS, words
from tres.topic.vectors.word_vectors import Matrix, Space, WordVectors


@dataclass(frozen=True, slots=True)
class Keyword:
    """A new keyword, and the evidence for it."""

    word: str
    score: float
    """CS: its mean cosine to the given keywords."""
    relevant: float
    """How often it occurs in a relevant example, on average."""
    other: float
    """The same for the other examples."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """The result of keyword expansion, best keywords first."""

    given: tuple[tuple[str, float], ...]
    """The given keywords and phrases, each with its mean cosine to the others."""
    without_vector: tuple[str, ...]
    threshold: float
    candidates: int
    found: tuple[Keyword, ...]
    struck: tuple[Keyword, ...]
    """Keywords that a person has excluded."""

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(keyword.word for keyword in self.found)

    @property
    def relevant(self) -> float:
        """New keywords in a relevant example, on average (Table 2: C)."""
        return sum(keyword.relevant for keyword in self.found)

    @property
    def other(self) -> float:
        """New keywords in another example, on average (Table 2: C')."""
        return sum(keyword.other for keyword in self.found)


@dataclass(frozen=True, slots=True)
class WordCounts:
    """How often words occur in some texts, and in how many of them."""

    texts: int
    occurrences: Counter[str]
    containing: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> WordCounts:
        number = 0
        occurrences: Counter[str] = Counter()
        containing: Counter[str] = Counter()
        for found in map(words, texts):
            number += 1
            occurrences.update(found)
            containing.update(set(found))
        return cls(number, occurrences, containing)

    def mean(self, word: str) -> float:
        """Occurrences per text."""
        return self.occurrences[word] / max(1, self.texts)

    def share(self, word: str) -> float:
        """Share of the texts that contain a word."""
        return self.containing[word] / max(1, self.texts)


def expand_keywords(
    topic: TopicSection, relevant: Iterable[str], other: Iterable[str], vectors: WordVectors
) -> Expansion:
    """Apply Algorithm 1 to the words of example pages, with the settings of a topic."""
    space = Space.of(vectors, topic.common_components)
    terms = dict.fromkeys(tuple(words(term)) for term in topic.keywords + topic.phrases)
    given = {" ".join(term): v for term in terms if (v := space.term(term)) is not None}
    _refuse_too_few(len(terms), list(given), vectors.name)
    keywords = np.array(list(given.values()))
    counts, others = WordCounts.of(relevant), WordCounts.of(other)
    candidates = [w for w in candidate_words(topic, counts, others, vectors) if w not in given]
    threshold = mean_pairwise_cosine(keywords)
    scores = mean_cosines(space.words(candidates), keywords).tolist()
    new = [
        Keyword(word, score, counts.mean(word), others.mean(word))
        for score, word in sorted(zip(scores, candidates, strict=True), reverse=True)
        if score >= threshold
    ]
    struck = {word for term in topic.strike for word in words(term)}
    return Expansion(
        given=tuple(zip(given, leave_one_out_cosines(keywords).tolist(), strict=True)),
        without_vector=tuple(term for term in map(" ".join, terms) if term not in given),
        threshold=threshold,
        candidates=len(candidates),
        found=tuple(keyword for keyword in new if keyword.word not in struck),
        struck=tuple(keyword for keyword in new if keyword.word in struck),
    )


def _refuse_too_few(terms: int, given: Sequence[str], vectors: str) -> None:
    """Raise unless at least two keywords have a vector."""
    if len(given) >= 2:
        return
    some = f"only {given[0]!r}" if given else "none"
    raise ConfigError(
        f"topic.keywords: {some} of {terms} has a word vector in {vectors}, and expansion "
        "needs two; add common words of the topic, or set topic.expand = false"
    )


def candidate_words(
    topic: TopicSection, relevant: WordCounts, other: WordCounts, vectors: WordVectors
) -> list[str]:
    """Return the words that may become keywords, in the order of their first occurrence."""
    return [
        word
        for word, containing in relevant.containing.items()
        if containing >= topic.min_documents
        and relevant.share(word) >= topic.contrast * other.share(word)
        and word not in STOP_WORDS
        and not word.isdecimal()
        and word in vectors
    ]


def mean_pairwise_cosine(keywords: Matrix) -> float:
    """Return the mean cosine of all pairs (equation 2), for vectors of length 1."""
    number = len(keywords)
    total = keywords.sum(axis=0)
    return float((total @ total - number) / (number * (number - 1)))


def mean_cosines(candidates: Matrix, keywords: Matrix) -> Matrix:
    """Return CS of each candidate, for vectors of length 1."""
    return np.asarray(candidates @ keywords.mean(axis=0), np.float32)


def leave_one_out_cosines(keywords: Matrix) -> Matrix:
    """Return the mean cosine of each keyword to the others; the mean of these is b."""
    all_pairs = keywords @ keywords.sum(axis=0)
    return np.asarray((all_pairs - 1) / (len(keywords) - 1), np.float32)
