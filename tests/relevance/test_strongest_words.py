"""The words that a model has learnt are those that move its answers."""

from __future__ import annotations

import pytest
from tests.support.models import Half

from tres.relevance.svm import train_svm
from tres.relevance.tfidf import train_tfidf
from tres.relevance.word_attribution import strongest_words

BEES = ["Bees\nhoney bees live in a hive", "Hives\na hive of bees gives honey", "Honey\nhoney"] * 4
RAILS = ["Trains\nthe train leaves the station", "Lines\na station for every train"] * 6
LABELS = [True] * len(BEES) + [False] * len(RAILS)


@pytest.mark.parametrize(("train", "honey"), [(train_tfidf, "honey"), (train_svm, "honei")])
def test_a_linear_model_names_its_strongest_words(train, honey: str) -> None:
    model = train(BEES + RAILS, LABELS, 1)
    strongest = strongest_words(model, 4)
    assert strongest is not None
    assert honey in dict(strongest.positive)
    assert "train" in dict(strongest.negative)
    assert strongest.are_stems == (train is train_svm)
    for side in (strongest.positive, strongest.negative):
        strengths = [strength for _, strength in side]
        assert strengths == sorted(strengths, reverse=True)
        assert all(0 < strength <= 1 for strength in strengths)
    pro, con = strongest.positive[0][0], strongest.negative[0][0]
    for_it, against = model.probabilities([f"{pro}\n{pro}", f"{con}\n{con}"])
    assert for_it > 0.5 > against


def test_other_models_have_no_strongest_words() -> None:
    assert strongest_words(Half()) is None
