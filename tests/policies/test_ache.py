"""ACHE: page relevance first, then a link classifier; domains in turns; hard and soft focus."""

from __future__ import annotations

import numpy as np
from tests.support.webs import To, drive, page, start, web_of

from tres.agent.link_words import link_words, train_links
from tres.policies.ache import Ache
from tres.policies.setup import PolicySettings
from tres.relevance.examples import Reservoir

HARD = PolicySettings("ache")
SOFT = PolicySettings("ache", focus="soft")


def test_hard_focus_throws_the_links_of_irrelevant_pages_away() -> None:
    web = web_of(page("a/seed", 0.9, "a/dull"), page("a/dull", 0.1, "a/far"), page("a/far", 0.9))
    assert drive(start(web, ["a/seed"], HARD), web).asked == ["a/seed", "a/dull"]


def test_soft_focus_keeps_them() -> None:
    web = web_of(page("a/seed", 0.9, "a/dull"), page("a/dull", 0.1, "a/far"), page("a/far", 0.9))
    assert drive(start(web, ["a/seed"], SOFT), web).asked == ["a/seed", "a/dull", "a/far"]


def test_domains_take_turns_whatever_their_scores() -> None:
    web = web_of(
        page("hub/seed", 0.9, "rich/1", "rich/2", "rich/3", "poor/1", "poor/2"),
        *(page(f"rich/{i}", 0.95) for i in (1, 2, 3)),
        *(page(f"poor/{i}", 0.6) for i in (1, 2)),
    )
    asked = drive(start(web, ["hub/seed"], HARD), web).asked
    assert asked == ["hub/seed", "rich/1", "poor/1", "rich/2", "poor/2", "rich/3"]


def test_within_a_domain_the_link_of_the_more_relevant_page_comes_first() -> None:
    web = web_of(
        page("x/seed", 0.6, "d/weak", "d/weak2"),
        page("d/weak", 0.99, "d/strong"),
        page("d/weak2", 0.9),
        page("d/strong", 0.9),
    )
    asked = drive(start(web, ["x/seed"], HARD), web).asked
    assert asked == ["x/seed", "d/weak", "d/strong", "d/weak2"]


def test_after_training_links_are_ordered_by_their_words() -> None:
    targets = [To(f"s{i}/a", anchor="good tune" if i % 2 else "bad thing") for i in range(40)]
    late = [To("late/bad", anchor="bad thing"), To("late/good", anchor="good tune")]
    pages = [page(f"s{i}/a", 0.9 if i % 2 else 0.1) for i in range(40)]
    ends = [page("late/good", 0.9), page("late/bad", 0.1)]
    web = web_of(page("hub/seed", 0.9, *targets, *late), *pages, *ends)
    session = start(web, ["hub/seed"], SOFT)
    assert isinstance(session.policy, Ache)
    session.policy._train_every = 10
    asked = drive(session, web).asked
    assert asked.index("late/good") < asked.index("late/bad")


def test_the_classifier_tells_words_of_relevant_links_from_others() -> None:
    good = [link_words("midi music", f"http://a.org/song{i}") for i in range(20)]
    bad = [link_words("tax form", f"http://a.org/tax{i}") for i in range(20)]
    classifier = train_links(good, bad)
    assert classifier is not None
    assert classifier.probability(link_words("music", "http://b.org/")) > 0.6
    assert classifier.probability(link_words("tax", "http://b.org/")) < 0.4


def test_there_is_no_classifier_without_both_kinds_of_links() -> None:
    assert train_links([frozenset({"music"})] * 10, []) is None


def test_a_reservoir_holds_a_fair_sample_of_a_long_stream() -> None:
    held = np.zeros(100)
    for seed in range(300):
        reservoir = Reservoir(10, np.random.default_rng(seed))
        for i in range(100):
            reservoir.offer(frozenset({str(i)}))
        assert len(reservoir.sample) == 10
        held[[int(next(iter(words))) for words in reservoir.sample]] += 1
    assert abs(held[:50].mean() - 30) < 4
    assert held.min() > 10
