"""Learning from positives and unlabelled texts: it must find what nobody has labelled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.errors import TrainingError
from tres.relevance.model import THRESHOLD
from tres.relevance.model_kinds import train_model
from tres.relevance.positive_unlabelled import POSITIVE_WEIGHT, guess_labels, otsu_threshold
from tres.topic.keyword_matcher import keyword_forms

from .conftest import REST, SEA, write_pages

KEYWORDS = ["tide", "reef", "whale"]


@pytest.fixture(scope="module")
def web():
    """Five seeds, then 40 unlabelled pages about the sea among 120 about other things."""
    rng = np.random.default_rng(5)
    sea, rest = write_pages(45, SEA, rng), write_pages(120, REST, rng)
    return sea[:5], sea[5:] + rest, [True] * 40 + [False] * 120


def test_most_unlabelled_pages_are_guessed_right(web):
    seeds, unlabelled, truth = web

    guesses = guess_labels(seeds, unlabelled, KEYWORDS)

    assert guesses.texts == (*seeds, *unlabelled)
    assert guesses.labels[:5] == (True,) * 5
    assert np.mean(np.array(guesses.labels[5:]) == truth) > 0.95


def test_the_model_knows_pages_without_a_single_keyword(web):
    seeds, unlabelled, _ = web
    rng = np.random.default_rng(6)
    others = [word for word in SEA if word not in KEYWORDS]
    model = train_model("auto", guess_labels(seeds, unlabelled, KEYWORDS), seed=1)

    sea, rest = (model.probabilities(write_pages(50, own, rng)) for own in (others, REST))

    assert np.mean(sea >= THRESHOLD) > 0.9
    assert np.mean(rest >= THRESHOLD) < 0.1


def test_self_training_finds_what_the_keywords_alone_miss(web, monkeypatch):
    seeds, unlabelled, truth = web
    found = guess_labels(seeds, unlabelled, ["tide"])
    monkeypatch.setattr("tres.relevance.positive_unlabelled.ROUNDS", 0)
    by_keyword = guess_labels(seeds, unlabelled, ["tide"])

    recall = [np.mean(np.array(g.labels[5:])[truth]) for g in (by_keyword, found)]

    assert recall[1] > recall[0] + 0.05


def test_seeds_full_of_keywords_do_not_make_it_too_strict(web):
    _, unlabelled, truth = web
    zealous = ["Reef\n" + "tide reef whale " * 12] * 3

    guesses = guess_labels(zealous, unlabelled, KEYWORDS)

    assert np.mean(np.array(guesses.labels[3:])[truth]) > 0.9


def test_seeds_with_few_keywords_do_not_make_everything_relevant(web):
    _, unlabelled, truth = web
    shy = [f"Harbour\n{'shore ship sail harbour salt ' * 8} whale"] * 3
    common = [f"{text} tide" for text in unlabelled]

    guesses = guess_labels(shy, common, KEYWORDS)

    assert np.mean(np.array(guesses.labels[3:]) == truth) > 0.9


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_otsus_threshold_is_the_best_of_all_thresholds(scores):
    def between(border):
        upper, lower = ([s for s in scores if (s >= border) == side] for side in (True, False))
        if not lower:
            return 0.0
        return len(upper) * len(lower) * (np.mean(upper) - np.mean(lower)) ** 2

    best = max(map(between, scores))

    assert otsu_threshold(np.array(scores)) in scores
    assert between(otsu_threshold(np.array(scores))) == pytest.approx(best, rel=1e-6, abs=1e-9)


def test_seeds_stay_relevant_even_without_keywords_and_weigh_more(web):
    _, unlabelled, _ = web
    strange = write_pages(3, REST, np.random.default_rng(1))

    guesses = guess_labels([*web[0], *strange], unlabelled, KEYWORDS)

    assert guesses.labels[:8] == (True,) * 8
    assert set(guesses.weights[:8]) == {POSITIVE_WEIGHT}
    assert set(guesses.weights[8:]) == {1.0}


def test_guessing_is_deterministic(web):
    seeds, unlabelled, _ = web

    assert guess_labels(seeds, unlabelled, KEYWORDS) == guess_labels(seeds, unlabelled, KEYWORDS)


def test_plurals_are_keywords_too_in_any_case():
    assert {"city", "cities", "gene", "genes", "fox", "foxes"} <= keyword_forms(
        ["City", "gene", "FOX"]
    )
    assert keyword_forms(["море"]) >= {"море"}
    assert keyword_forms(["!"]) == frozenset()


@pytest.mark.parametrize(
    ("positives", "unlabelled", "message"),
    [
        (["tide reef"], ["wall"] * 18,
         "a topic cannot be learnt without labels from 19 pages (1 seed), 20 with a seed are "
         "needed; name seeds that link to more pages, or give examples (training.labels, or "
         "positives with negatives)"),
        ([], ["wall"],
         "a topic cannot be learnt without labels from 1 page (no seeds), 20 with a seed are "
         "needed; name seeds that link to more pages, or give examples (training.labels, or "
         "positives with negatives)"),
        (["tide reef"], ["tide reef"] * 30,
         "all of the explored pages look relevant by their keywords; name more specific "
         "keywords, or give examples (training.labels, or positives with negatives)"),
        (["wall"], ["wall paint"] * 30,
         "none of the explored pages look relevant by their keywords; name more specific "
         "keywords, or give examples (training.labels, or positives with negatives)"),
        ([""], [""] * 30,
         "no word occurs in 2 of the 31 explored pages; name seeds that lead to pages with text"),
    ],
)  # fmt: skip
def test_pages_that_teach_nothing_are_refused(positives, unlabelled, message):
    with pytest.raises(TrainingError) as caught:
        guess_labels(positives, unlabelled, KEYWORDS)

    assert caught.value.message == message
