"""The words that made a page relevant, asked of any model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tres.relevance.model import RelevanceModel
from tres.relevance.svm import train_svm
from tres.relevance.tfidf import train_tfidf
from tres.relevance.word_attribution import MAX_WORDS, attribute_words

BEES = [f"Bees {n}\nthe queen of the hive and honey of many bees, page {n}" for n in range(12)]
TRAINS = [f"Trains {n}\nthe railway station and locomotives of many trains, {n}" for n in range(12)]
TEXT = "A report\nthe locomotives passed a hive with honey; bees flew, a bee stung"


def models() -> list[RelevanceModel]:
    texts, labels = [*BEES, *TRAINS], [True] * 12 + [False] * 12
    return [train_tfidf(texts, labels, 1), train_svm(texts, labels, 1)]


@pytest.mark.parametrize("model", models(), ids=["tfidf", "svm"])
def test_words_of_the_topic_speak_for_and_others_against(model: RelevanceModel) -> None:
    found = attribute_words(model, TEXT)
    assert {word for word, _ in found.spoke_for} >= {"hive", "honey", "bees"}
    assert next(word for word, _ in found.spoke_against) == "locomotives"
    assert found.probability == pytest.approx(float(model.probabilities([TEXT])[0]), abs=1e-6)
    assert found.without < found.probability
    weights = [weight for _, weight in found.spoke_for]
    assert weights == sorted(weights, reverse=True)


class Counting:
    """The probability is the share of bees; remembers what it was asked."""

    digest = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def probabilities(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.array([min(1.0, 0.2 + text.count("bee") / 4) for text in texts], np.float32)

    def save(self, directory: object) -> None:
        raise NotImplementedError


def test_forms_of_a_word_are_left_out_together() -> None:
    found = attribute_words(Counting(), "One bee\ntwo bees")
    assert [word for word, _ in found.spoke_for] == ["bee"]
    assert found.without == pytest.approx(0.2)
    assert found.spoke_against == ()


def test_a_text_without_words_has_no_attributions() -> None:
    found = attribute_words(Counting(), "\n")
    assert found.spoke_for == found.spoke_against == ()
    assert found.without == found.probability == pytest.approx(0.2)


def test_a_long_text_costs_no_more_than_its_frequent_words() -> None:
    model = Counting()
    found = attribute_words(model, "bee\n" + " ".join(f"word{n}x" for n in range(3000)))
    assert len(model.asked) <= MAX_WORDS + 2
    assert found.spoke_for[0][0] == "bee"
