"""Cross-validation: who judges whom, and what follows from it."""

import numpy as np
import pytest

from tres.errors import TrainingError
from tres.relevance.cross_validation import (
    CrossValidation,
    Scores,
    cross_validate,
    divide_by_site,
    predict_folds,
)
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


class Sites:
    """A model that knows the sites it was trained on, and nothing else."""

    def __init__(self, examples):
        self.labels = dict(zip(map(site, examples.texts), examples.labels, strict=True))

    def probabilities(self, texts):
        return np.array([self.labels.get(site(text), 0.25) for text in texts], np.float32)


def site(text):
    return text.split("/")[0]


def on_sites(relevant=6, irrelevant=8, pages=4):
    yes, no = (
        [f"{name}{number}/{page}" for number in range(sites) for page in range(pages)]
        for name, sites in (("yes", relevant), ("no", irrelevant))
    )
    return Examples.of(yes, no, map(site, yes + no))


def test_a_model_that_learnt_sites_by_heart_is_found_out_on_sites_never_seen():
    fold_of = divide_by_site(on_sites(), 5, seed=1)

    seen = cross_validate(on_sites(), 5, 1, lambda part, fold: Sites(part))
    never_seen = predict_folds(on_sites(), fold_of, lambda part, fold: Sites(part))

    assert seen.mean().macro_f1 == 1.0
    assert never_seen.probabilities.tolist() == [0.25] * len(on_sites().texts)
    assert never_seen.mean().recall == 0.0
    assert len(never_seen.folds) == 5


def test_every_fold_of_sites_has_pages_of_both_classes():
    fold_of = divide_by_site(on_sites(), 5, seed=1)

    truth = np.array(on_sites().labels)
    assert {*fold_of[truth]} == {*fold_of[~truth]} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("pages", "folds", "why"),
    [
        (examples(), 5, "not every example names its site (rows of .jsonl files do so by url)"),
        (Examples.of("abc", "def", ["a.org"] * 6), 2, "all examples come from one site"),
        (on_sites(relevant=1), 2, "the relevant examples come from 1 site, and 5 are needed"),
        (on_sites(relevant=4), 2, "the relevant examples come from 4 sites, and 5 are needed"),
        (on_sites(irrelevant=7), 8, "the relevant examples come from 6 sites, and 8 are needed"),
        (on_sites(irrelevant=3), 5, "the irrelevant examples come from 3 sites, and 5 are needed"),
    ],
)
def test_why_sites_cannot_be_kept_apart(pages, folds, why):
    assert divide_by_site(pages, folds, seed=1) == why


def test_a_class_that_no_greedy_choice_spreads_is_told(monkeypatch):
    monkeypatch.setattr(
        "tres.relevance.cross_validation.site_folds",
        lambda truth, sites, folds, rng: np.zeros(len(truth), np.intp),
    )

    assert divide_by_site(on_sites(), 5, seed=1) == (
        "the sites do not give relevant and irrelevant pages to each of 5 folds"
    )
