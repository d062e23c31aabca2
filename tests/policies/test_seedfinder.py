"""SeedFinder: queries bring pages, pages bring better queries, then it crawls like ACHE."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.support.webs import PerceptWeb, drive, links, page, site_of, web_of

from tres.crawl.session import CrawlSession
from tres.frontier.url_rows import UrlRows
from tres.mdp.feature_schema import EVIDENCE
from tres.mdp.state import CrawlState
from tres.offline.bm25 import SimulatedSearch
from tres.policies.seedfinder import MAX_QUERIES, SeedFinder, Terms
from tres.settings.site_caps import SiteCap
from tres.web.page import Page
from tres.web.search_engine import Hit, SearchEngine


class Shelf:
    """A search engine that knows a few texts and remembers what it was asked."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts
        self.asked: list[tuple[str, ...]] = []

    def search(self, query: Sequence[str], page: int) -> list[Hit]:
        if page == 0:
            self.asked.append(tuple(query))
        found = [u for u, text in self.texts.items() if set(query) <= set(text.split())]
        return [Hit(url, self.texts[url]) for url in found[page * 10 : page * 10 + 10]]


def crawl_with(
    engine: SearchEngine, web: PerceptWeb, *, pages: int = 100, cap: object = "inf"
) -> list[str]:
    """What is asked for, in order."""
    crawl = CrawlState()
    rows = UrlRows(EVIDENCE, crawl.sites)
    rng = np.random.default_rng(1)
    policy = SeedFinder(rows, crawl, rng, engine, ["music", "midi"], site_of)
    session = CrawlSession(crawl, policy, links("a/seed"), pages, SiteCap.parse(cap))
    return drive(session, web).asked


def test_hits_are_fetched_before_links_and_paid_from_the_budget() -> None:
    web = web_of(page("a/seed", 0.9, "a/link"), page("b/hit", 0.9), page("a/link", 0.9))
    assert crawl_with(Shelf({"b/hit": "music synth"}), web, pages=2) == ["a/seed", "b/hit"]


def test_when_queries_bring_nothing_more_links_are_followed() -> None:
    web = web_of(page("a/seed", 0.9, "a/link"), page("b/hit", 0.9, "b/link"))
    asked = crawl_with(Shelf({"b/hit": "music synth"}), web)
    assert asked[:2] == ["a/seed", "b/hit"]
    assert set(asked[2:]) == {"a/link", "b/link"}


def test_terms_of_relevant_hits_become_queries() -> None:
    texts = {f"b/{i}": "music synth" for i in range(3)} | {"c/deep": "synth modular"}
    web = web_of(page("a/seed", 0.9), *(page(url, 0.9) for url in texts))
    engine = Shelf(texts)
    assert "c/deep" in crawl_with(engine, web)  # no keyword of the topic leads there
    assert any("synth" in query for query in engine.asked)


def test_terms_of_irrelevant_hits_do_not() -> None:
    texts = {f"b/{i}": "music advert" for i in range(3)} | {"c/shop": "advert shop"}
    web = web_of(page("a/seed", 0.9), *(page(url, 0.1) for url in texts))
    assert "c/shop" not in crawl_with(Shelf(texts), web)


def test_a_query_takes_the_best_terms_and_one_never_used() -> None:
    terms = Terms(["music", "midi"])
    assert terms.query == ("music",)
    assert terms.feed_back([(Hit("1", "music synth synth chord"), True)]) == 1.0
    assert terms.renew(3)
    assert terms.query == ("music", "midi")
    assert terms.renew(3)
    assert terms.query == ("music", "midi", "synth")


def test_the_terms_of_a_useless_query_are_not_used_again() -> None:
    terms = Terms(["music", "midi"])
    assert terms.feed_back([(Hit("x", "music advert"), False)]) == 0.0
    assert terms.renew(2)
    assert terms.query == ("midi",)
    terms.feed_back([])
    assert not terms.renew(2)


def test_it_stops_asking_after_a_hundred_queries() -> None:
    texts = {f"b/{i}": f"music word{'x' * (i % 7)} other{'y' * i}" for i in range(300)}
    web = web_of(page("a/seed", 0.9), *(page(url, 0.9) for url in texts))
    engine = Shelf(texts)
    crawl_with(engine, web, pages=1000)
    assert len(engine.asked) == MAX_QUERIES


def test_hits_of_a_site_at_its_cap_are_not_fetched() -> None:
    texts = {f"b/{i}": "music" for i in range(8)}
    web = web_of(page("a/seed", 0.9), *(page(url, 0.9) for url in texts))
    asked = crawl_with(Shelf(texts), web, cap=3)
    assert sum(url.startswith("b/") for url in asked) == 3


def test_the_simulated_engine_finds_pages_that_hold_all_words() -> None:
    pages = [
        Page("http://a/1", "Midi", "music and midi and midi"),
        Page("http://a/2", "Tax", "music tax"),
        Page("http://a/3", "Midi files", "midi"),
    ]
    engine = SimulatedSearch(pages)
    assert [hit.url for hit in engine.search(["midi", "music"], 0)] == ["http://a/1"]
    assert {hit.url for hit in engine.search(["midi"], 0)} == {"http://a/1", "http://a/3"}
    assert engine.search(["midi"], 1) == []
    assert engine.search(['" OR title:'], 0) == []


def test_a_partial_index_knows_its_share_of_the_pages() -> None:
    pages = [Page(f"http://a/{i}", "", "music") for i in range(1000)]
    assert 150 < len(SimulatedSearch(pages, share=0.2, seed=1)) < 250
