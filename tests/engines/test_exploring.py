"""An exploration as a crawl: the same pages as offline, one at a time, politely."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from tres.crawl.events import Done, Fetch, StopReason, Wait
from tres.engines.explore import exploration, explore
from tres.engines.exploring import Exploring, Parser
from tres.engines.reading import Received
from tres.sections import LiveSection
from tres.web.page import Failed, FailureKind, Page
from tres.webs.generated import GeneratedWeb

WORDS = frozenset({"star", "galaxy"})


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(2000, 1)


def exploring_of(web: GeneratedWeb, pages: int, watched: list[int] | None = None) -> Exploring:
    seeds = web.seeds("astronomy", 3)
    asking = exploration(seeds, WORDS, pages, np.random.default_rng(1))
    return Exploring(asking, watch=[].append if watched is None else watched.append)


def test_driven_as_a_crawl_it_finds_what_it_finds_offline(web: GeneratedWeb) -> None:
    counted: list[int] = []
    exploring = exploring_of(web, 60, counted)
    while isinstance(demand := exploring.next(4), Fetch):
        (url,) = demand.urls
        assert exploring.next(4) == Wait()
        assert exploring.receive(url, web.fetch(url)) == []
    assert demand == Done(StopReason.BUDGET)
    seeds = web.seeds("astronomy", 3)
    assert exploring.found == explore(web, seeds, WORDS, 60, np.random.default_rng(1))
    assert counted[-1] == 60


def test_it_waits_for_its_site(web: GeneratedWeb) -> None:
    exploring = exploring_of(web, 10)
    site = web.seeds("astronomy", 1)[0].split("/")[2].removeprefix("www.")
    assert exploring.next(1, [site]) == Wait()
    assert exploring.in_flight == 0
    assert isinstance(exploring.next(1, ["another.example"]), Fetch)


def test_an_interrupted_exploration_has_found_nothing(web: GeneratedWeb) -> None:
    exploring = exploring_of(web, 10)
    demand = exploring.next()
    assert isinstance(demand, Fetch)
    exploring.interrupt()
    assert exploring.next() == Wait()
    exploring.receive(demand.urls[0], web.fetch(demand.urls[0]))
    assert exploring.next() == Done(StopReason.INTERRUPTED)
    assert exploring.found is None


def test_only_what_was_asked_for_is_taken(web: GeneratedWeb) -> None:
    exploring = exploring_of(web, 10)
    with pytest.raises(KeyError):
        exploring.receive("http://a.example/", web.fetch("http://a.example/"))


def test_seeds_that_fail_are_told(web: GeneratedWeb) -> None:
    asking = exploration(["http://gone.example/"], WORDS, 10, np.random.default_rng(1))
    exploring = Exploring(asking)
    exploring.next()
    failed = Failed("http://gone.example/", FailureKind.TIMEOUT)
    exploring.receive("http://gone.example/", failed)
    assert exploring.found is not None
    assert exploring.found.failed == (failed,)


@pytest.mark.parametrize(
    ("kind", "body", "outcome"),
    [
        ("text/html; charset=latin-1", b"<title>caf\xe9</title><a href=/x>x</a>", "café"),
        ("image/png", b"...", FailureKind.NOT_HTML),
        ("text/html", b"\x00\x01\x02\x03" * 50, FailureKind.MALFORMED),
    ],
)
def test_pages_are_parsed_and_not_judged(
    kind: str, body: bytes, outcome: str | FailureKind
) -> None:
    parser = Parser(LiveSection(exclude=["/x"]), 2026)
    read = asyncio.run(parser.read(Received("http://a.example/", 200, kind, body)))
    if isinstance(read.outcome, Page):
        assert (read.outcome.title, read.outcome.links) == (outcome, ())
    else:
        assert read.outcome.kind == outcome
