"""A recorded session: written down before it counts, and taken up again as it was."""

from __future__ import annotations

import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from math import inf
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from tests.support.webs import To, links, missing, page, random_web, site_of, start, web_of

from tres.crawl.events import (
    Done,
    Event,
    Fetch,
    FetchFailed,
    Postponed,
    Stepped,
    StopReason,
    Wait,
)
from tres.engines.protocols import Exchange, Fetched
from tres.errors import RunError
from tres.policies.setup import PolicySettings
from tres.settings.sections import KeepKind
from tres.store import recorded_session as recorded
from tres.store import snapshot_files as snapshots
from tres.store.journal import Journal
from tres.store.journal_file import Meta
from tres.store.journal_records import Begin, Demanded, Entry, Received, Seeds, encode
from tres.store.recorded_session import PageArchive, RecordedSession
from tres.store.session_rebuild import resume_session
from tres.store.snapshot_files import SNAPSHOT, SnapshotWarning
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept

WEB = random_web(seed=11)
SEEDS = list(WEB)[:3]
PAGES = 30


def session(seeds: list[str] = SEEDS, seed: int = 1):  # type: ignore[no-untyped-def]
    return start(WEB, seeds, PolicySettings("tree-random"), pages=PAGES, seed=seed)


def begun(run: Path, warc: PageArchive | None = None, keep: KeepKind = "pages") -> RecordedSession:
    fresh = session()
    meta = Meta("", "live", fresh.policy.schema.features)
    journal = Journal.create(
        run / "journal.db", meta, Seeds(links(*SEEDS)), Begin(PAGES, "the model")
    )
    return RecordedSession(fresh, journal, "config", warc, keep)


def again(run: Path, warc: PageArchive | None = None, seed: int = 1) -> RecordedSession:
    journal = Journal.open(run / "journal.db", to_write=True)
    return resume_session(journal, lambda: session(seed=seed), "config", warc)


def steps(crawl: RecordedSession, count: int = 1000, k: int = 1) -> Iterator[list[Event]]:
    """Fetch `count` URLs, oldest first; then leave what is in flight where it is."""
    flying: list[str] = []
    for _ in range(count):
        demand = crawl.next(k - len(flying))
        if isinstance(demand, Done):
            return
        if isinstance(demand, Fetch):
            flying += demand.urls
        url = flying.pop(0)
        yield crawl.receive(url, WEB.get(url, missing(url)))


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("every", [3, 1000])
def test_taken_up_again_and_again_it_is_the_crawl_that_never_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, k: int, every: int
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", every)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir(), parts.mkdir()
    expected = [repr(events) for events in steps(begun(whole), k=k)]
    told = [repr(events) for events in steps(begun(parts), 5, k)]
    while len(told) < len(expected):
        told += [repr(events) for events in steps(again(parts), 7, k)]
    assert told == expected
    assert (parts / SNAPSHOT).exists() == (every == 3)


def test_what_never_came_back_is_asked_for_first_and_only_that(tmp_path: Path) -> None:
    first = begun(tmp_path)
    (_,) = steps(first, 1, k=3)
    flying = list(first.session.awaited)
    assert len(flying) == 2
    second = again(tmp_path)
    assert second.in_flight == 0
    assert second.next(1) == Fetch((flying[0],))
    assert second.in_flight == 1
    assert second.next(1) == Fetch((flying[1],))
    assert second.journal.position == first.journal.position  # nothing new was chosen
    demand = second.next(1)
    assert not isinstance(demand, Fetch) or demand.urls[0] not in flying


def test_a_site_that_must_wait_is_not_asked_again_yet(tmp_path: Path) -> None:
    first = begun(tmp_path)
    (_,) = steps(first, 1, k=3)
    (one, site), (other, _) = first.session.awaited.items()
    assert site_of(other) != site
    second = again(tmp_path)
    demand = second.next(1, [site])
    assert demand == Fetch((other,))
    assert second.next(1, [f"s{i}" for i in range(7)]) == Wait()
    assert second.next(1) == Fetch((one,))


def test_an_interrupted_crawl_asks_for_nothing_that_is_owed(tmp_path: Path) -> None:
    (_,) = steps(begun(tmp_path), 1, k=3)
    second = again(tmp_path)
    (url,) = second.next(1).urls  # type: ignore[union-attr]
    second.interrupt()
    assert second.next(1) == Wait()
    second.receive(url, missing(url))
    assert second.next(1) == Done(StopReason.INTERRUPTED)


def test_another_machine_is_noticed(tmp_path: Path) -> None:
    list(steps(begun(tmp_path), 12))
    with pytest.raises(RunError, match=r"journal\.db: record \d+ is not what the crawl does now"):
        again(tmp_path, seed=2)


def test_a_choice_that_the_session_does_not_make_is_noticed(tmp_path: Path) -> None:
    crawl = begun(tmp_path)
    list(steps(crawl, 3))
    crawl.journal.append(Demanded(1, (), ("s0/nowhere",)))
    with pytest.raises(RunError, match="record 9 is not what the crawl does now"):
        again(tmp_path)


def test_sites_that_had_to_wait_are_told_again_when_the_journal_is_read(tmp_path: Path) -> None:
    crawl = begun(tmp_path)
    list(steps(crawl, 5))
    free = {crawl.session.site_name(i) for i in range(3)}
    busy = [f"s{i}" for i in range(7) if f"s{i}" not in free]
    demand = crawl.next(1, ["unheard-of", *busy])
    assert isinstance(demand, Fetch)
    assert site_of(demand.urls[0]) in free
    *_, (_, entry) = crawl.journal.entries()
    assert entry == Demanded(1, tuple(crawl.session.site_ids(busy)), demand.urls)
    assert list(again(tmp_path).session.awaited) == list(demand.urls)


def test_a_site_that_the_session_does_not_know_is_noticed(tmp_path: Path) -> None:
    crawl = begun(tmp_path)
    list(steps(crawl, 3))
    crawl.journal.append(Demanded(1, (3, 10_000), ("s0/nowhere",)))
    with pytest.raises(RunError, match="record 9 is not what the crawl does now"):
        again(tmp_path)


def test_its_seconds_are_those_of_all_stretches_however_they_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = count(100.0)
    monkeypatch.setattr(recorded, "SYNC_EVERY", inf)  # to sync is to look at the clock
    crawl = begun(tmp_path)
    crawl = RecordedSession(crawl.session, crawl.journal, "config", clock=lambda: next(ticks))
    (_,) = steps(crawl, 1)  # at its start, then once for each of two records
    assert crawl.journal.seconds() == 2.0
    later = again(tmp_path)
    later = RecordedSession(later.session, later.journal, "config", clock=lambda: next(ticks))
    (_,) = steps(later, 1)
    assert later.journal.seconds() == 4.0
    assert later.seconds == 6.0  # a look at the clock to see whether a sync is due, and this one


def test_an_outcome_that_nobody_asked_for_is_noticed(tmp_path: Path) -> None:
    crawl = begun(tmp_path)
    list(steps(crawl, 3))
    crawl.journal.append(Received("s0/nowhere", page("s0/nowhere", 0.5)))
    with pytest.raises(RunError, match="record 9 is not what the crawl does now"):
        again(tmp_path)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("DELETE FROM records WHERE seq = 5", "record 5 is missing"),
        ("DELETE FROM records WHERE seq = 8", "ends with record 7, but 8 were written"),
        ("DELETE FROM pages WHERE step = 2", "record 6 or one of its rows"),
        ("UPDATE records SET seconds = 9.5 WHERE seq = 4", "record 4 is not what was written"),
        ("UPDATE meta SET value = '\"other\"' WHERE key = 'web_name'", "record 1 or one of"),
    ],
)
def test_what_is_missing_is_noticed_although_a_snapshot_stands_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, reason: str
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", 3)
    crawl = begun(tmp_path)
    list(steps(crawl, 3))
    crawl.journal.close()
    with closing(sqlite3.connect(tmp_path / "journal.db")) as database, database:
        database.execute(statement)
    with pytest.raises(RunError, match=reason):
        again(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "changed", "foreign", "other-journal", "other-config"])
def test_a_snapshot_that_cannot_be_used_is_named_and_the_journal_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", 3)
    crawl = begun(tmp_path)
    list(steps(crawl, 12))
    file = tmp_path / SNAPSHOT
    content = file.read_bytes()
    match damage:
        case "cut":
            file.write_bytes(content[:-100])
        case "changed":
            file.write_bytes(content[:2000] + b"?" + content[2001:])
        case "foreign":
            file.write_bytes(b"PK" + content)
        case "other-journal":
            crawl.journal.close()
            (tmp_path / "journal.db").unlink()
            list(steps(begun(tmp_path), 1))
            file.write_bytes(content)
        case _:
            monkeypatch.setattr(crawl, "_config", "another")
            list(steps(crawl, 9))
    with pytest.warns(SnapshotWarning, match=rf"{SNAPSHOT}: not used \("):
        resumed_crawl = again(tmp_path)
    assert resumed_crawl.session.steps == resumed_crawl.journal.steps()


def test_a_snapshot_saves_reading_the_journal_from_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", 3)
    crawl = begun(tmp_path)
    list(steps(crawl, 12))
    crawl.journal.close()
    begins: list[int] = []
    entries = Journal.entries

    def noted(journal: Journal, after: int = 0) -> Iterator[tuple[int, Entry]]:
        begins.append(after)
        return entries(journal, after)

    monkeypatch.setattr(Journal, "entries", noted)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert again(tmp_path).session.steps == crawl.session.steps
    (begin,) = begins
    assert begin > 6


class Tape:
    """A WARC in memory: every exchange is ten long."""

    def __init__(self, end: int = 0) -> None:
        self.kept: list[str] = []
        self.end = end

    def append(self, exchange: Exchange, asked: str = "", page: str = "") -> int:
        self.kept.append(exchange.url)
        self.end += 10
        return self.end

    def truncate(self, end: int) -> None:
        self.end = end

    def sync(self) -> None:
        pass

    def is_whole(self, start: int, end: int) -> bool:
        return end <= self.end

    def surplus(self, end: int) -> int:
        return 0


@pytest.mark.parametrize(
    ("keep", "kept"), [("pages", ["a/1", "a/2"]), ("relevant", ["a/2"]), ("nothing", [])]
)
def test_raw_pages_are_kept_before_they_count_and_as_asked_for(
    tmp_path: Path, keep: KeepKind, kept: list[str]
) -> None:
    web = web_of(page("a/1", 0.1, To("a/2"), To("a/3")), page("a/2", 0.9))
    fresh = start(web, ["a/1"], PolicySettings("breadth-first"))
    meta = Meta("", "live", fresh.policy.schema.features)
    journal = Journal.create(tmp_path / "journal.db", meta, Seeds(links("a/1")), Begin(9, ""))
    tape = Tape()
    crawl = RecordedSession(fresh, journal, "", tape, keep)
    while isinstance(demand := crawl.next(), Fetch):
        (url,) = demand.urls
        fetched = Fetched(0.0, exchange=Exchange(url, b"", b"", b""))
        crawl.receive(url, web.get(url, missing(url)), fetched)
    assert tape.kept == kept
    assert journal.warc_end() == tape.end == 10 * len(kept)


def test_raw_pages_that_the_journal_never_heard_of_are_cut_off(tmp_path: Path) -> None:
    tape = Tape(end=77)
    list(steps(begun(tmp_path, tape), 3))
    again(tmp_path, tape)
    assert tape.end == 0  # no exchange was given, so none is known


def test_a_disk_that_fills_up_leaves_a_crawl_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, full = tmp_path / "whole", tmp_path / "it is full"
    whole.mkdir(), full.mkdir()
    expected = [repr(events) for events in steps(begun(whole))]
    crawl = begun(full)
    told = [repr(events) for events in steps(crawl, 8)]

    def no_room(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Journal, "_insert", no_room)
    with pytest.raises(RunError) as caught:
        list(steps(crawl))
    assert caught.value.message == (
        f"{full}: cannot be written (database or disk is full); free some space, then: "
        f"tres resume '{full}'"
    )
    monkeypatch.undo()
    assert told + [repr(events) for events in steps(again(full))] == expected


def unstorable(percept: Percept) -> Percept:
    """The session takes it, the journal does not."""
    doubles = percept.links.anchor_relevance.astype(np.float64)
    return replace(percept, links=replace(percept.links, anchor_relevance=doubles))


def incomplete(percept: Percept) -> Percept:
    """The session itself fails over it, half way."""
    return replace(percept, links=replace(percept.links, url_keyword=np.empty(0, np.bool_)))


@pytest.mark.parametrize("spoilt", [unstorable, incomplete])
@pytest.mark.parametrize("before", [0, 8])
def test_a_page_that_raises_an_error_ends_one_crawl_and_not_all_that_go_on(
    tmp_path: Path, before: int, spoilt: Callable[[Percept], Percept]
) -> None:
    crawl = begun(tmp_path)
    list(steps(crawl, before))
    demand = crawl.next()
    assert isinstance(demand, Fetch)
    (url,) = demand.urls
    with pytest.raises((TypeError, IndexError)):
        crawl.receive(url, spoilt(page(url, 0.9, "a/new", "b/new")))
    assert crawl.next() == Done(StopReason.INTERRUPTED)
    crawl.journal.close()
    rest = [event for events in steps(again(tmp_path)) for event in events]
    assert sum(isinstance(event, Stepped) for event in rest) > 10
    with Journal.open(tmp_path / "journal.db") as journal:
        told = [(row["kind"], row["is_seed"]) for row in journal.failures() if row["url"] == url]
        assert told == [("unreadable", before == 0)]
    assert list(steps(again(tmp_path))) == []  # all of it folds to the same end


@pytest.mark.parametrize("every", [3, 1000])
def test_what_was_postponed_is_postponed_after_a_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    monkeypatch.setattr(snapshots, "EVERY", every)
    crawl = begun(tmp_path)
    list(steps(crawl, 6))
    demand = crawl.next()
    assert isinstance(demand, Fetch)
    (url,) = demand.urls
    told = Fetched(1.0, status=503, note="HTTP 503", backs_off_until=(site_of(url), 99.5))
    (event,) = crawl.receive(url, Failed(url, FailureKind.THROTTLED, retryable=True), told)
    assert event == Postponed(url, FailureKind.THROTTLED, is_seed=False)
    resumed_crawl = again(tmp_path)
    assert resumed_crawl.session.postponed == 1
    assert resumed_crawl.journal.resting() == {site_of(url): 99.5}
    (row,) = resumed_crawl.journal.postponed()
    assert (row["url"], row["kind"], row["status"]) == (url, "throttled", 503)
    rest = [event for events in steps(resumed_crawl) for event in events]
    asked = [event.url for event in rest if isinstance(event, Stepped | FetchFailed)]
    assert asked.count(url) <= 1
    whole = [event for events in steps(again(tmp_path)) for event in events]
    assert whole == []  # all of it folds to the same end


def test_journals_with_and_without_an_interruption_are_the_same(tmp_path: Path) -> None:
    def outcome(url: str, times: int) -> Percept | Failed:
        if url in list(WEB)[::4] and times == 0:
            return Failed(url, FailureKind.TIMEOUT, retryable=True)
        return WEB.get(url, missing(url))

    def crawled(crawl: RecordedSession, seen: Counter[str], count: int) -> None:
        for _ in range(count):
            demand = crawl.next()
            if not isinstance(demand, Fetch):
                return
            (url,) = demand.urls
            crawl.receive(url, outcome(url, seen[url]), Fetched(0.0))
            seen[url] += 1

    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir(), parts.mkdir()
    crawled(begun(whole), Counter(), 1000)
    seen: Counter[str] = Counter()
    crawled(begun(parts), seen, 9)
    for _ in range(10):
        crawled(again(parts), seen, 9)
    with Journal.open(whole / "journal.db") as one, Journal.open(parts / "journal.db") as other:
        assert list(one.postponed())
        assert list(one.postponed()) == list(other.postponed())
        assert [encode(e) for _, e in one.entries()] == [encode(e) for _, e in other.entries()]


@pytest.mark.parametrize("k", [1, 4])
def test_a_budget_of_requests_ends_a_crawl_and_can_be_raised(tmp_path: Path, k: int) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    whole.mkdir(), parts.mkdir()
    expected = [repr(events) for events in steps(begun(whole), k=k)]
    first = begun(parts)
    crawl = RecordedSession(first.session, first.journal, "config", requests=10)
    told = [repr(events) for events in steps(crawl, k=k)]
    assert (len(told), crawl.session.asked) == (10, 10)
    assert crawl.next(k) == Done(StopReason.REQUESTS)
    for requests in (11, 17, 0):  # 0: no limit
        journal = Journal.open(parts / "journal.db", to_write=True)
        crawl = resume_session(journal, session, "config", requests=requests)
        told += [repr(events) for events in steps(crawl, k=k)]
        assert crawl.session.asked == (requests or len(expected))
    if k == 1:  # with more in flight, each end of a budget lets all of it come back
        assert told == expected


def test_the_budget_of_pages_comes_first(tmp_path: Path) -> None:
    first = begun(tmp_path)
    crawl = RecordedSession(first.session, first.journal, "config", requests=1000)
    assert len(list(steps(crawl))) <= 1000
    assert crawl.next() == Done(StopReason.BUDGET)
