"""The mixture of evidence: whom to trust more, the topic's own words or those of the examples."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from tres.relevance.examples import Examples
from tres.relevance.mixture import LESS, chosen_scale, cross_fitted, scale_for
from tres.relevance.tfidf import tfidf_vectors

NOISE = "day people long small water year place house road letter".split()


def labels(relevant, others):
    return np.array([True] * relevant + [False] * others)


def pages(relevant, others, sites=2, word="whale"):
    """Texts with a word that tells relevant ones from the others; each class has its own sites."""
    rng = np.random.default_rng(4)
    texts, names = [], []
    for place, is_relevant in enumerate(labels(relevant, others)):
        noise = " ".join(rng.choice(NOISE, 12))
        texts.append(f"{word if is_relevant else 'wall'} {noise}")
        names.append(f"{'sea' if is_relevant else 'land'}{place % sites}.example")
    return Examples(tuple(texts), tuple(labels(relevant, others).tolist()), None, tuple(names))


def fitted(examples, affinity=None):
    known = np.array(examples.labels)
    near = np.zeros(len(known)) if affinity is None else affinity
    vectors = tfidf_vectors(examples.texts)[0]
    return cross_fitted(vectors, near, known, np.ones(len(known)), examples.sites)


# By the number of examples


def test_the_fewer_examples_the_more_the_topics_words_are_trusted():
    scales = [scale_for(labels(number, 5_000)) for number in (1, 4, 30, 150, 1_000)]

    assert scales == sorted(scales, reverse=True)
    assert scales[0] > scales[2] > scales[3] > 0.0


def test_the_rarer_class_decides_whichever_it_is():
    assert scale_for(labels(30, 900)) == scale_for(labels(900, 30))


def test_one_class_alone_leaves_everything_to_the_topics_words():
    assert scale_for(labels(0, 900)) == scale_for(labels(900, 0)) == scale_for(labels(1, 1))


# By held-out pages


def blurred(seed):
    """Pages whose words are right now and then, and an affinity that is chance."""
    rng = np.random.default_rng(seed)
    known = labels(40, 120)
    word = np.where(rng.random(160) < 0.7, known, ~known)
    texts = [" ".join(["whale" if w else "wall", *rng.choice(NOISE, 6)]) for w in word]
    return Examples(tuple(texts), tuple(known.tolist())), rng.standard_normal(160)


def test_the_scale_is_that_which_ranks_held_out_pages_better():
    taken = set()
    for examples, affinity in map(blurred, range(6)):
        full = scale_for(np.array(examples.labels))
        scores = {
            scale: average_precision_score(examples.labels, fitted(examples, scale * affinity))
            for scale in (full, LESS * full)
        }
        chosen = chosen_scale(examples, affinity)
        taken.add(chosen == full)

        assert scores[chosen] == max(scores.values())

    assert False in taken  # an affinity that is chance is not trusted in full


def test_it_keeps_its_scale_if_held_out_pages_do_not_speak_against_it():
    examples = pages(40, 120)
    telling = np.where(examples.labels, 0.3, 0.0)

    assert chosen_scale(examples, telling) == scale_for(np.array(examples.labels))


def test_a_handful_of_examples_does_not_choose():
    examples = pages(4, 60)
    misleading = np.where(examples.labels, 0.0, 0.3)

    assert chosen_scale(examples, misleading) == scale_for(np.array(examples.labels))


def test_the_choice_is_the_same_every_time():
    examples = pages(40, 120, sites=12)
    affinity = np.random.default_rng(2).random(160)

    assert len({chosen_scale(examples, affinity) for _ in range(3)}) == 1


# Held-out pages


def test_pages_are_scored_by_what_others_have_taught():
    examples = pages(40, 120)

    assert ((fitted(examples) > 0) == np.array(examples.labels)).all()


def test_a_page_does_not_confirm_itself():
    """A word that marks one wrong label says nothing about that very page."""
    right = pages(40, 120)
    wrong = Examples(
        (*right.texts, "wall violin violin", "wall violin"),
        (*right.labels, True, False),
        None,
        (*right.sites, "land0.example", "land1.example"),
    )

    assert fitted(wrong)[-2] < 0.0


@pytest.mark.parametrize(("sites", "known"), [(12, False), (3, True)])
def test_nor_does_a_site_where_there_are_enough_of_them(sites, known):
    """Here each site has a word of its own and no other; few sites cannot be held out."""
    examples = pages(48, 48, sites)
    named = tuple(f"{site.partition('.')[0]} people" for site in examples.sites)
    alone = Examples(named, examples.labels, None, examples.sites)

    right = (fitted(alone) > 0) == np.array(alone.labels)

    assert right.all() == known


def test_without_sites_pages_are_held_out_one_by_one():
    examples = pages(40, 120)
    nameless = Examples(examples.texts, examples.labels)

    assert ((fitted(nameless) > 0) == np.array(nameless.labels)).all()


def test_a_class_without_enough_pages_gives_no_score():
    examples = pages(1, 20)

    scores = fitted(examples)

    assert scores.shape == (21,)
    assert np.isfinite(scores).all()
