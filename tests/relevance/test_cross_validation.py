"""Cross-validation: who judges whom, and what follows from it."""

import numpy as np
import pytest

from tres.errors import TrainingError
from tres.relevance.cross_validation import CrossValidation, Scores, cross_validate
from tres.relevance.examples import Examples


class Memory:
    """A model that is sure of what it has seen and says `chance` of anything else."""

    def __init__(self, examples, chance=0.25):
        self.seen, self.chance = set(examples.texts), chance

    def probabilities(self, texts):
        return np.array([1.0 if text in self.seen else self.chance for text in texts], np.float32)


def examples(relevant=10, irrelevant=25):
    return Examples.of(
        [f"yes {i}" for i in range(relevant)], [f"no {i}" for i in range(irrelevant)]
    )


def test_every_page_is_predicted_by_a_model_trained_without_it_on_stratified_folds():
    parts = []

    def train(part, fold):
        parts.append(part)
        return Memory(part)

    judged = cross_validate(examples(), 5, seed=1, train=train)

    assert judged.probabilities.tolist() == [0.25] * 35
    assert [(len(p.relevant), len(p.irrelevant)) for p in parts] == [(8, 20)] * 5
    held = [set(examples().texts) - set(part.texts) for part in parts]
    assert set.union(*held) == set(examples().texts)
    assert sum(map(len, held)) == 35


def test_scores_worked_out_by_hand():
    truth = np.array([1, 1, 1, 0, 0, 0, 0, 0], bool)
    said = np.array([1, 1, 0, 1, 0, 0, 0, 0], bool)

    scores = Scores.of(truth, said)

    assert scores.precision == pytest.approx(2 / 3)
    assert scores.recall == pytest.approx(2 / 3)
    assert scores.macro_f1 == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_scores_equal_those_of_scikit_learn():
    from sklearn.metrics import f1_score, precision_score, recall_score

    rng = np.random.default_rng(1)
    truth, said = rng.random(200) < 0.3, rng.random(200) < 0.4
    scores = Scores.of(truth, said)

    assert scores.precision == pytest.approx(precision_score(truth, said))
    assert scores.recall == pytest.approx(recall_score(truth, said))
    assert scores.macro_f1 == pytest.approx(f1_score(truth, said, average="macro"))


def judged(chances, relevant):
    few = examples(relevant, len(chances) - relevant)
    return CrossValidation(
        few, np.array(chances, np.float32), (Scores(1, 0.5, 0.8), Scores(0, 0.5, 0.6))
    )


def test_mean_and_spread_are_over_folds():
    assert judged([0.5], 1).mean() == Scores(0.5, 0.5, pytest.approx(0.7))
    assert judged([0.5], 1).spread() == Scores(0.5, 0.0, pytest.approx(0.1))


def test_the_reliability_curve_compares_probabilities_with_the_share_of_relevant_pages():
    low, high = judged([0.92, 0.98, 0.97, 0.11, 0.12, 1.0], 3).reliability()

    assert (low.low, low.high, low.pages, low.relevant) == (0.1, 0.2, 2, 0.0)
    assert (high.low, high.pages, high.relevant) == (0.9, 4, 0.75)
    assert high.mean == pytest.approx((0.92 + 0.98 + 0.97 + 1.0) / 4)


def test_the_least_sure_and_the_worst():
    outcome = judged([0.9, 0.45, 0.1, 0.2, 0.6, 0.99], 3)

    assert outcome.least_sure(2) == [1, 4]
    assert outcome.worst_mistakes(10) == [5, 2, 4, 1]  # surest mistake first, right ones not at all


@pytest.mark.parametrize(
    ("relevant", "irrelevant", "message"),
    [
        (4, 25, "4 relevant example pages are too few for 5 folds; "),
        (9, 3, "3 irrelevant example pages are too few for 5 folds; "),
    ],
)
def test_too_few_examples_for_the_folds(relevant, irrelevant, message):
    with pytest.raises(TrainingError) as caught:
        cross_validate(examples(relevant, irrelevant), 5, 1, lambda part, fold: Memory(part))

    assert caught.value.message == message + "give more examples or set training.folds lower"
