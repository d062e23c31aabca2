"""Learning a topic from its words and a crawl: it must find what nobody has labelled."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.relevance import positive_unlabelled
from tres.relevance.examples import JUDGED_WEIGHT, TAUGHT_WEIGHT
from tres.relevance.model import THRESHOLD
from tres.relevance.positive_unlabelled import (
    FIRST_REFIT,
    LAST_REFIT,
    SEED_WEIGHT,
    CrawledPage,
    guess_labels,
    learn_topic,
    next_refit,
    otsu_threshold,
)
from tres.relevance.static import untrained_model
from tres.relevance.training import TopicWords

from .conftest import BOTH, REST, SEA, write_pages

TOPIC = TopicWords(("tide", "reef", "whale"))
JARGON = ["blorfin", "grunkel", "snavitz", "quilpod"]
"""Words of the topic that no encoder knows."""


@pytest.fixture(scope="module")
def start():
    return untrained_model(TOPIC)


@pytest.fixture(scope="module")
def crawl():
    """Five seeds, 40 pages about the sea and 120 about other things, on 30 sites."""
    rng = np.random.default_rng(5)
    sea, rest = write_pages(45, SEA, rng), write_pages(120, REST, rng)
    seeds = [
        CrawledPage(text, f"sea{n}.example", True, SEED_WEIGHT) for n, text in enumerate(sea[:5])
    ]
    about = [CrawledPage(text, f"sea{n % 15}.example") for n, text in enumerate(sea[5:])]
    other = [CrawledPage(text, f"land{n % 15}.example") for n, text in enumerate(rest)]
    return [*seeds, *about, *other]


TRUTH = np.array([True] * 45 + [False] * 120)


def labels(pages, start):
    guesses = guess_labels(pages, start)
    assert guesses is not None
    return np.array(guesses.labels)


def scores(pages, start):
    """From -1 (surely not relevant) to 1, as sure as the guesses are."""
    guesses = guess_labels(pages, start)
    assert guesses is not None
    return np.where(guesses.labels, 1.0, -1.0) * np.array(guesses.weights)


# When


@given(st.integers(0, LAST_REFIT + 100))
def test_the_next_refit_is_due_now_or_later(pages):
    due = next_refit(pages)

    assert due is None or pages <= due <= LAST_REFIT
    assert due is None or next_refit(due) == due


def schedule():
    due = next_refit(0)
    while due is not None:
        yield due
        due = next_refit(due + 1)


def test_refits_become_rarer_and_end():
    times = list(schedule())
    waits = np.diff(times)

    assert times[0] == FIRST_REFIT
    assert (np.diff(waits) > 0).all()
    assert len(times) < 20
    assert LAST_REFIT / 2 < times[-1] <= LAST_REFIT


# Where relevance begins


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_otsus_threshold_is_the_best_of_all_thresholds(found):
    def between(border):
        upper, lower = ([s for s in found if (s >= border) == side] for side in (True, False))
        if not lower:
            return 0.0
        return len(upper) * len(lower) * (np.mean(upper) - np.mean(lower)) ** 2

    best = max(map(between, found))

    assert otsu_threshold(np.array(found)) in found
    assert otsu_threshold(np.array(found[::-1])) == otsu_threshold(np.array(found))
    assert between(otsu_threshold(np.array(found))) == pytest.approx(best, rel=1e-6, abs=1e-9)


# Guesses


def test_most_pages_are_guessed_right(crawl, start):
    guesses = guess_labels(crawl, start)

    assert np.mean(np.array(guesses.labels) == TRUTH) > 0.95


def test_the_examples_are_the_pages_in_their_order(crawl, start):
    guesses = guess_labels(crawl, start)

    assert guesses.texts == tuple(page.content for page in crawl)
    assert guesses.sites == tuple(page.site for page in crawl)


def test_seeds_and_judged_pages_keep_their_labels_and_weights(crawl, start):
    """Whatever their words say, and whatever their site is like."""
    strange = replace(crawl[60], label=True, weight=SEED_WEIGHT)
    refused = replace(crawl[10], label=False, weight=JUDGED_WEIGHT)
    taught = replace(crawl[11], label=False, weight=TAUGHT_WEIGHT)
    pages = [*crawl[:10], refused, taught, *crawl[12:60], strange, *crawl[61:]]

    guesses = guess_labels(pages, start)

    known = [(guesses.labels[at], guesses.weights[at]) for at in (0, 10, 11, 60)]
    assert known == [
        (True, SEED_WEIGHT),
        (False, JUDGED_WEIGHT),
        (False, TAUGHT_WEIGHT),
        (True, SEED_WEIGHT),
    ]


def test_a_guess_weighs_less_than_what_is_known_and_the_less_the_less_sure_it_is(crawl, start):
    between = CrawledPage(f"{SEA[0]} {SEA[1]} {REST[0]} {REST[1]} {' '.join(BOTH)}", "new.example")

    *_, weight = weights = np.array(guess_labels([*crawl, between], start).weights)

    assert (weights[5:] <= 1.0).all()
    assert 0.0 <= weight < np.quantile(weights[5:], 0.1)


def test_pages_that_hardly_use_the_topics_words_are_found_by_what_they_share(start, monkeypatch):
    """They are full of a jargon that no encoder knows, with a word of the sea here or there."""
    rng = np.random.default_rng(3)
    words = [SEA[4:] + JARGON * 12] * 40 + [REST] * 120
    pages = [
        CrawledPage(write_pages(1, own, rng)[0], f"site{n % 40}.example")
        for n, own in enumerate(words)
    ]

    found = labels(pages, start)
    monkeypatch.setattr(positive_unlabelled, "ROUNDS", 0)
    by_affinity = labels(pages, start)

    assert found[:40].mean() > by_affinity[:40].mean() + 0.15
    assert found[40:].mean() < 0.05


def test_a_page_does_not_become_relevant_because_its_own_label_was_guessed_so(crawl, start):
    """One page of another kind names a keyword again and again; its other words decide."""
    shouting = CrawledPage(f"{REST[0]} {REST[1]}\n{' '.join(REST * 4)} tide", "land3.example")

    assert not labels([*crawl, shouting], start)[-1]


def test_seeds_that_hardly_use_the_topics_words_do_not_make_everything_relevant(crawl, start):
    rng = np.random.default_rng(8)
    shy = [
        CrawledPage(f"{text} tide", f"shy{n}.example", True, SEED_WEIGHT)
        for n, text in enumerate(write_pages(5, BOTH, rng))
    ]

    assert labels([*shy, *crawl[5:]], start)[5:].mean() < 0.4


# Sites


def with_doubtful(crawl, sites):
    """The crawl, and two pages that say nothing: of a site about the sea, and of another one."""
    rng = np.random.default_rng(9)
    pages = [replace(page, site=site) for page, site in zip(crawl, sites, strict=True)]
    text = write_pages(1, BOTH, rng)[0]
    return [*pages, CrawledPage(text, sites[6]), CrawledPage(text, sites[-1])]


def test_pages_of_a_site_move_together_where_sites_differ(crawl, start):
    *_, at_sea, on_land = scores(with_doubtful(crawl, [page.site for page in crawl]), start)

    assert at_sea > on_land + 0.2


def test_but_not_where_they_do_not(crawl, start):
    mixed = [f"site{n}.example" for n in np.random.default_rng(1).permutation(165) % 30]

    *_, one, other = scores(with_doubtful(crawl, mixed), start)

    assert one == pytest.approx(other, abs=0.1)


def test_nor_where_there_is_only_one(crawl, start):
    *_, one, other = scores(with_doubtful(crawl, ["wiki.example"] * 165), start)

    assert one == pytest.approx(other, abs=0.1)


# Too little


@pytest.mark.parametrize(
    "pages",
    [
        [],
        [CrawledPage("tide reef whale", "a.example", True, SEED_WEIGHT)],
        [CrawledPage(text, "a.example") for text in ("tide reef whale", "wall tax") * 3],
        [CrawledPage("tide reef whale", f"{n}.example") for n in range(40)],
        [CrawledPage("wall paint tax", f"{n}.example") for n in range(40)],
        [CrawledPage(f"page{n}", f"{n}.example") for n in range(40)],
        [CrawledPage("", f"{n}.example") for n in range(40)],
        [CrawledPage("the of and", "a.example", n % 2 == 0, JUDGED_WEIGHT) for n in range(40)],
    ],
    ids=[
        *("nothing", "a seed", "a handful", "all relevant", "none relevant"),
        *("nothing in common", "no text", "stop words alone"),
    ],
)  # fmt: skip
def test_pages_that_are_too_few_or_all_alike_teach_nothing(pages, start):
    assert guess_labels(pages, start) is None
    assert learn_topic(pages, start) is None


# The model


@pytest.fixture(scope="module")
def learnt(crawl, start):
    return learn_topic(crawl, start, seed=7)


def test_the_model_knows_new_pages_without_a_single_keyword(learnt):
    rng = np.random.default_rng(6)
    others = [word for word in SEA if word not in TOPIC.keywords]

    sea, rest = (learnt.probabilities(write_pages(50, own, rng)) for own in (others, REST))

    assert np.mean(sea >= THRESHOLD) > 0.9
    assert np.mean(rest >= THRESHOLD) < 0.1


def test_it_knows_words_that_no_page_has_used_as_well(learnt):
    assert not {"ocean", "fjord", "mortgage"} & learnt.vocabulary.keys()
    ocean, mortgage = learnt.log_odds(["ocean", "mortgage"])[0]

    assert ocean > mortgage


def test_one_crawl_gives_one_model_with_one_digest(crawl, start, learnt):
    again = learn_topic(list(crawl), untrained_model(TOPIC), seed=7)

    assert again.digest == learnt.digest
    assert learnt.facts["seed"] == 7
    assert (learnt.facts["relevant"], learnt.facts["irrelevant"]) == (45, 120)


def test_another_page_gives_another_model(crawl, start, learnt):
    assert learn_topic(crawl[:-1], start, seed=7).digest != learnt.digest


def test_what_it_began_with_stays_as_it_was(crawl, start):
    before = start.digest, start.probabilities(["whale", "wall"]).tolist()
    learn_topic(crawl, start)

    assert (start.digest, start.probabilities(["whale", "wall"]).tolist()) == before


def test_the_order_of_the_pages_hardly_matters(crawl, start):
    places = np.random.default_rng(4).permutation(len(crawl))
    shuffled = labels([crawl[place] for place in places], start)

    assert np.mean(shuffled == labels(crawl, start)[places]) > 0.97


def judged(crawl, number):
    """Somebody has judged so many pages of each class, and means the opposite of the topic."""
    return [
        replace(page, label=not truth, weight=JUDGED_WEIGHT) if at % 45 < number else page
        for at, (page, truth) in enumerate(zip(crawl[:90], TRUTH, strict=False))
    ] + crawl[90:]


def test_with_few_judgements_guesses_count_too(crawl, start, monkeypatch):
    monkeypatch.setattr(positive_unlabelled, "ENOUGH", 20)

    facts = learn_topic(judged(crawl, 19), start).facts

    assert facts["relevant"] + facts["irrelevant"] == len(crawl)


def test_judgements_of_both_classes_replace_the_guesses_as_soon_as_they_are_enough(
    crawl, start, monkeypatch
):
    monkeypatch.setattr(positive_unlabelled, "ENOUGH", 20)

    model = learn_topic(judged(crawl, 20), start)

    assert (model.facts["relevant"], model.facts["irrelevant"]) == (20, 20)
    assert (model.probabilities([page.content for page in crawl[90:]]) >= THRESHOLD).mean() > 0.9


def test_judgements_of_one_class_do_not_however_many(crawl, start, monkeypatch):
    monkeypatch.setattr(positive_unlabelled, "ENOUGH", 20)
    pages = [*crawl[:45], *(replace(p, label=False, weight=JUDGED_WEIGHT) for p in crawl[45:])]

    facts = learn_topic(pages, start).facts

    assert (facts["relevant"], facts["irrelevant"]) == (45, 120)


def test_a_judgement_counts_more_than_a_guess(crawl, start):
    """Of two crawls, the one in which somebody has refused a page likes its words less."""
    odd = CrawledPage(f"{SEA[0]} {SEA[1]} blorfin blorfin grunkel", "odd.example")
    plain, refused = (
        learn_topic([*crawl, page, replace(page, content=f"{page.content} day")], start)
        for page in (odd, replace(odd, label=False, weight=JUDGED_WEIGHT))
    )

    before, after = (model.log_odds(["blorfin grunkel"])[0][0] for model in (plain, refused))

    assert after < before
