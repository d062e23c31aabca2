"""An exploration as a crawl: the same pages as offline, one at a time, politely."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.reading import reader

from tres.crawl.events import Done, Fetch, StopReason, Wait
from tres.engines.exploration.exploration_session import ExplorationSession
from tres.engines.exploration.explore import explore, explore_offline
from tres.engines.reading.page_reader import Received
from tres.engines.reading.reader_plan import ReaderPlan, make_reader
from tres.engines.reading.wire import checked_reading, reading_message
from tres.offline.generated.generator import GeneratedWeb
from tres.settings.sections import LiveSection
from tres.web.page import Failed, FailureKind, Outcome, Page

WORDS = frozenset({"star", "galaxy"})


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(2000, 1)


def new_rng() -> np.random.Generator:
    return np.random.default_rng(1)


def exploring_of(
    web: GeneratedWeb, pages: int, watched: list[int] | None = None, **more: Any
) -> ExplorationSession:
    explorer = explore(web.seeds("astronomy", 3), WORDS, pages, new_rng())
    on_fetch = [].append if watched is None else watched.append
    return ExplorationSession(explorer, on_fetch=on_fetch, **more)


def driven(exploring: ExplorationSession, web: GeneratedWeb, url: str) -> list[str]:
    """Answer an exploration that has asked for `url` to its end; what it asked for next."""
    asked = []
    exploring.receive(url, web.fetch(url))
    while isinstance(demand := exploring.next(), Fetch):
        asked += demand.urls
        exploring.receive(demand.urls[0], web.fetch(demand.urls[0]))
    return asked


def test_driven_as_a_crawl_it_finds_what_it_finds_offline(web: GeneratedWeb) -> None:
    counted: list[int] = []
    exploring = exploring_of(web, 60, counted)
    while isinstance(demand := exploring.next(4), Fetch):
        (url,) = demand.urls
        assert exploring.next(4) == Wait()
        assert exploring.receive(url, web.fetch(url)) == []
    assert demand == Done(StopReason.BUDGET)
    seeds = web.seeds("astronomy", 3)
    assert exploring.pages == explore_offline(explore(seeds, WORDS, 60, new_rng()), web)
    assert counted[-1] == 60


def test_it_waits_for_its_site(web: GeneratedWeb) -> None:
    exploring = exploring_of(web, 10)
    site = web.seeds("astronomy", 1)[0].split("/")[2].removeprefix("www.")
    assert exploring.next(1, [site]) == Wait()
    assert isinstance(exploring.next(1, ["another.example"]), Fetch)


def test_an_interrupted_exploration_has_found_nothing(web: GeneratedWeb) -> None:
    exploring = exploring_of(web, 10)
    demand = exploring.next()
    assert isinstance(demand, Fetch)
    exploring.interrupt()
    assert exploring.next() == Wait()
    exploring.receive(demand.urls[0], web.fetch(demand.urls[0]))
    assert exploring.next() == Done(StopReason.INTERRUPTED)
    assert exploring.pages is None


def test_only_what_was_asked_for_is_taken(web: GeneratedWeb) -> None:
    exploring = exploring_of(web, 10)
    with pytest.raises(KeyError):
        exploring.receive("http://a.example/", web.fetch("http://a.example/"))


def test_seeds_that_fail_are_told(web: GeneratedWeb) -> None:
    exploring = ExplorationSession(explore(["http://gone.example/"], WORDS, 10, new_rng()))
    exploring.next()
    failed = Failed("http://gone.example/", FailureKind.TIMEOUT)
    exploring.receive("http://gone.example/", failed)
    assert exploring.pages is not None
    assert exploring.pages.failed == (failed,)


def test_what_an_earlier_start_has_fetched_is_not_asked_for_again(web: GeneratedWeb) -> None:
    kept: list[tuple[str, Outcome]] = []
    first = exploring_of(web, 60, log=lambda url, outcome: kept.append((url, outcome)))
    for _ in range(25):
        demand = first.next()
        assert isinstance(demand, Fetch)
        first.receive(demand.urls[0], web.fetch(demand.urls[0]))
    first.skip_site()
    demand = first.next()
    assert isinstance(demand, Fetch)
    closed = Failed(demand.urls[0], FailureKind.DROPPED, retryable=True)
    first.receive(demand.urls[0], closed)
    assert len(kept) == 26
    counted: list[int] = []
    second = exploring_of(web, 60, counted, answers=list(kept))
    assert counted[-1] == sum(isinstance(outcome, Page) for _, outcome in kept)
    assert second.next() == demand
    asked = [*demand.urls, *driven(second, web, demand.urls[0])]
    assert not set(asked) & {url for url, _ in kept}
    assert second.pages is not None
    assert second.pages.count == 60


@pytest.mark.parametrize(
    ("kind", "body", "outcome"),
    [
        ("text/html; charset=latin-1", b"<title>caf\xe9</title><a href=/x>x</a>", "caf\xe9"),
        ("", b"<!doctype html><title>No type</title>", "No type"),
        ("", b"GIF89a", FailureKind.NOT_HTML),
        ("image/png", b"...", FailureKind.NOT_HTML),
        ("text/html", b"\x00\x01\x02\x03" * 50, FailureKind.MALFORMED),
        ("text/html", b" \n ", FailureKind.MALFORMED),
        ("text/html", b"<title>Page not found</title><p>Sorry.", FailureKind.SOFT_NOT_FOUND),
        ("text/html", b"<html lang=fr><p>Bonjour", FailureKind.OTHER_LANGUAGE),
    ],
)
def test_pages_are_read_as_a_crawl_reads_them_and_not_judged(
    kind: str, body: bytes, outcome: str | FailureKind
) -> None:
    live = LiveSection(exclude=["/x"], languages=["en"])
    plan = ReaderPlan.without_model(live, 2026)
    page = Received("http://a.example/", 200, kind, body)
    read = make_reader(plan.factory, plan.arguments).read(page)
    if isinstance(read.outcome, Page):
        assert (read.outcome.title, read.outcome.links) == (outcome, ())
    else:
        assert isinstance(read.outcome, Failed)
        assert read.outcome.kind == outcome
        assert reader(languages=["en"]).read(page).outcome == read.outcome
    message = reading_message(read)
    assert checked_reading(message) == read
