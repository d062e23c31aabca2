"""URLs that fail because their site does: they wait, and are neither lost nor asked for ever."""

from __future__ import annotations

from collections import Counter

from tests.support.webs import missing, page, start, web_of

from tres.crawl.events import Done, Fetch, FetchFailed, Postponed, Stepped, StopReason, Wait
from tres.crawl.postponed import MOST
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import capture, restore
from tres.policies.setup import PolicySettings
from tres.web.page import Failed, FailureKind

BREADTH_FIRST = PolicySettings("breadth-first", "paper")
WEB = web_of(
    page("a/0", 0.9, "b/1", "b/2", "b/3", "c/1"),
    *(page(f"b/{i}", 0.5) for i in (1, 2, 3)),
    page("c/1", 0.5),
)


def down(url: str) -> Failed:
    return Failed(url, FailureKind.THROTTLED, retryable=True)


def begun() -> CrawlSession:
    """After the seed; b/1, b/2, b/3 and c/1 wait, in this order."""
    session = start(WEB, ["a/0"], BREADTH_FIRST)
    fetch(session, "a/0")
    return session


def fetch(session: CrawlSession, expected: str, waiting: tuple[str, ...] = ()) -> None:
    assert session.next(1, waiting) == Fetch((expected,))
    assert any(isinstance(event, Stepped) for event in session.receive(expected, WEB[expected]))


def fail(session: CrawlSession, expected: str, waiting: tuple[str, ...] = ()) -> list[object]:
    assert session.next(1, waiting) == Fetch((expected,))
    return list(session.receive(expected, down(expected)))


def test_what_failed_with_its_site_waits_and_is_asked_for_when_the_site_answers() -> None:
    session = begun()
    assert fail(session, "b/1") == [Postponed("b/1", FailureKind.THROTTLED, is_seed=False)]
    fetch(session, "c/1", waiting=("b",))
    assert session.next(1, ["b"]) == Wait()  # the site rests, and so do its links
    assert session.postponed == 1
    fetch(session, "b/2")
    fetch(session, "b/1")  # the site is back
    fetch(session, "b/3")
    assert session.next() == Done(StopReason.FRONTIER_EXHAUSTED)
    assert session.failures == {}


def test_other_links_tell_first_whether_a_site_is_back() -> None:
    session = begun()
    for url in ("b/1", "b/2", "b/3"):
        fail(session, url)
    fetch(session, "c/1")
    fetch(session, "b/1")  # when there is nothing else, those that failed are tried
    fetch(session, "b/2")
    fetch(session, "b/3")


def test_a_page_that_fails_though_its_site_answers_is_given_up() -> None:
    session = begun()
    fail(session, "b/1")
    fetch(session, "b/2")
    assert fail(session, "b/1") == [FetchFailed("b/1", FailureKind.THROTTLED, is_seed=False)]
    fetch(session, "b/3")
    assert session.postponed == 0
    assert session.failures == {FailureKind.THROTTLED: 1}


def test_a_dead_link_is_an_answer_and_a_refusal_of_our_own_is_none() -> None:
    for kind, expected in ((FailureKind.NOT_FOUND, "b/1"), (FailureKind.ROBOTS, "b/3")):
        session = begun()
        fail(session, "b/1")
        assert session.next() == Fetch(("b/2",))
        session.receive("b/2", Failed("b/2", kind))
        assert session.next() == Fetch((expected,))


def test_a_server_error_is_a_fault_of_the_page() -> None:
    session = begun()
    assert session.next() == Fetch(("b/1",))
    (event,) = session.receive("b/1", Failed("b/1", FailureKind.HTTP_ERROR, retryable=True))
    assert isinstance(event, FetchFailed)


def test_nothing_is_asked_for_for_ever() -> None:
    session, asked = begun(), Counter[str]()
    while isinstance(demand := session.next(), Fetch):
        (url,) = demand.urls
        asked[url] += 1
        session.receive(url, down(url))
    assert asked == dict.fromkeys(("b/1", "b/2", "b/3", "c/1"), MOST)
    assert demand == Done(StopReason.FRONTIER_EXHAUSTED)
    assert session.failures == {FailureKind.THROTTLED: 4}


def test_if_no_seed_answers_the_crawl_is_over_and_can_go_on_later() -> None:
    session = start(WEB, ["a/0", "c/1"], BREADTH_FIRST)
    fail(session, "a/0")
    fail(session, "c/1", waiting=("a",))
    assert session.next(1, ["a", "c"]) == Done(StopReason.NO_SEED)
    fetch(session, "a/0")


def test_of_a_blocked_site_nothing_is_asked_again() -> None:
    session = begun()
    fail(session, "b/1")
    session.block("b")
    fetch(session, "c/1")
    assert session.next() == Done(StopReason.FRONTIER_EXHAUSTED)


def test_a_snapshot_knows_what_was_postponed() -> None:
    session = begun()
    fail(session, "b/1")
    fetch(session, "b/2")
    other = start(WEB, ["a/0"], BREADTH_FIRST)
    restore(other, capture(session))
    assert fail(other, "b/1") == [FetchFailed("b/1", FailureKind.THROTTLED, is_seed=False)]


def test_the_answer_of_one_site_says_nothing_of_another() -> None:
    session = begun()
    fail(session, "b/1")
    assert session.next(1, ["b"]) == Fetch(("c/1",))
    session.receive("c/1", missing("c/1"))
    assert session.next() == Fetch(("b/2",))  # c answers, b has not
