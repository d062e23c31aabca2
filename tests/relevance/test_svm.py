"""ACHE's SVM: equal to scikit-learn's answers, without scikit-learn."""

import numpy as np
import pytest

from tres.errors import TrainingError
from tres.relevance.svm import C, SvmModel, features, min_pages, platt_scaling, train_svm


def test_features_are_stems_with_separate_ones_for_the_title():
    assert features("Sailing Ships\nThe ships sailed, sailing!") == {
        "=sail",
        "=ship",
        "ship",
        "sail",
    }
    assert features("sailing ships") == {"sail", "ship"}
    assert features("\n") == set()


def test_predictions_equal_those_of_scikit_learn(pages, svm):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.svm import SVC

    texts, labels = pages
    vectoriser = CountVectorizer(analyzer=features, min_df=2, dtype=float)
    machine = SVC(kernel="linear", C=C).fit(vectoriser.fit_transform(texts), labels)
    margins = machine.decision_function(vectoriser.transform(texts))

    expected = 1 / (1 + np.exp(-(svm.slope * margins + svm.offset)))

    np.testing.assert_allclose(svm.probabilities(texts), expected, atol=1e-5)


def test_an_answer_worked_out_by_hand():
    model = SvmModel(
        {"=cell": 0, "cell": 1}, np.array([2, 1], np.float32), -0.5, 2.0, 0.25, 0.1, {}
    )

    titled, plain, unknown = model.probabilities(["Cells\ncell cell", "cells", "wall"])

    assert titled == pytest.approx(1 / (1 + np.exp(-(2 * 2.5 + 0.25))))
    assert plain == pytest.approx(1 / (1 + np.exp(-(2 * 0.5 + 0.25))))
    assert unknown == pytest.approx(0.1)


def test_platt_scaling_draws_probabilities_towards_the_middle():
    margins = np.array([-3.0, -2.0, -1.0, 1.0, 2.0])
    slope, offset = platt_scaling(margins, margins > 0)
    chances = 1 / (1 + np.exp(-(slope * margins + offset)))

    assert slope > 0
    assert chances.max() == pytest.approx(0.75, abs=0.1)  # (n + 1) / (n + 2) of two pages
    assert chances.mean() == pytest.approx(np.mean([1 / 5] * 3 + [3 / 4] * 2), abs=0.01)


@pytest.mark.parametrize(("examples", "floor"), [(2, 2), (400, 2), (500, 3), (1000, 6), (9000, 6)])
def test_the_minimum_of_pages_falls_with_the_number_of_examples(examples, floor):
    assert min_pages(examples) == floor


def test_examples_that_share_no_word_cannot_train():
    with pytest.raises(TrainingError) as caught:
        train_svm(["reef", "wall"], [True, False], seed=1)

    assert caught.value.message == (
        "no word occurs in 2 of the 2 example pages; give more or longer examples"
    )
