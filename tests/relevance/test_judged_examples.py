"""Judgements beside guesses: what a person said counts more, and in the end alone."""

import numpy as np

from tres.relevance.examples import (
    JUDGED_WEIGHT,
    TAUGHT_WEIGHT,
    Examples,
    add_judgements,
    weigh_as_judged,
)
from tres.relevance.model_kinds import train_model

from .conftest import REST, SEA, write_pages

GUESSES = Examples(("reef", "wall", "tide"), (True, False, False), (3.0, 1.0, 1.0))


def test_a_judgement_replaces_the_guess_about_the_same_page():
    joined = add_judgements(GUESSES, {"tide": True, "roof": False})

    assert joined.texts == ("reef", "wall", "tide", "roof")
    assert joined.labels == (True, False, True, False)
    assert joined.weights == (3.0, 1.0, JUDGED_WEIGHT, JUDGED_WEIGHT)


def test_judgements_bring_their_sites():
    known = Examples(*(GUESSES.texts, GUESSES.labels, GUESSES.weights), ("a.org", "b.org", "c.org"))
    judged, sites = {"tide": True, "roof": False}, {"tide": "d.org", "roof": "e.org"}

    assert add_judgements(known, judged, sites=sites).sites == ("a.org", "b.org", "d.org", "e.org")
    assert add_judgements(Examples((), ()), judged, sites=sites).sites == ("d.org", "e.org")
    assert add_judgements(known, judged).sites is None
    assert add_judgements(GUESSES, judged, sites=sites).sites is None


def test_what_a_language_model_judged_weighs_less_than_a_persons_word_and_more_than_a_guess():
    joined = add_judgements(GUESSES, {"tide": True, "roof": False}, taught={"tide"})

    assert joined.weights == (3.0, 1.0, TAUGHT_WEIGHT, JUDGED_WEIGHT)
    assert 1.0 < TAUGHT_WEIGHT < JUDGED_WEIGHT


def test_guesses_are_left_out_once_there_are_enough_examples_of_both_classes():
    judged = {"tide": True, "roof": False, "court": False}

    assert "wall" in add_judgements(GUESSES, judged, enough=3).texts
    assert add_judgements(GUESSES, judged, enough=2).texts == ("reef", "tide", "roof", "court")


def test_labelled_examples_weigh_as_much_as_judgements_and_are_never_left_out():
    labelled = weigh_as_judged(Examples.of(("reef", "tide"), ("wall", "roof")))

    joined = add_judgements(labelled, {"court": False}, enough=1)

    assert joined.texts == ("reef", "tide", "wall", "roof", "court")
    assert set(joined.weights) == {JUDGED_WEIGHT}


def test_a_few_judgements_correct_wrong_guesses():
    rng = np.random.default_rng(2)
    sea, rest = write_pages(40, SEA, rng), write_pages(40, REST, rng)
    wrong = Examples((*sea, *rest), (True,) * 20 + (False,) * 60, (1.0,) * 80)
    asked = write_pages(40, SEA, rng)

    before = train_model("tfidf", wrong, 1).probabilities(asked)
    after = train_model(
        "tfidf", add_judgements(wrong, dict.fromkeys(sea[20:35], True)), 1
    ).probabilities(asked)

    assert after.mean() > before.mean() + 0.1
