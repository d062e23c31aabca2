"""Journal and WARC files after an accident: both are taken back to the last page they share."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.store.test_recorded_session import WEB, again, begun, session
from tests.support.webs import missing

from tres.crawl.events import Done, Fetch
from tres.engines.protocols import Exchange, Fetched
from tres.errors import RunError
from tres.store import high_water_mark as mark
from tres.store import journal_records
from tres.store import session_rebuild as rewind
from tres.store.high_water_mark import mark_path
from tres.store.journal import Journal
from tres.store.recorded_session import RecordedSession
from tres.store.session_rebuild import RewoundWarning, rebuild_session
from tres.store.snapshot_files import SnapshotWarning
from tres.store.warc_writer import WarcStore, parts_of
from tres.web.percept import Percept

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


OPEN: list[WarcStore] = []


def archive(run: Path) -> WarcStore:
    OPEN.append(WarcStore(run, {}, part_bytes=4_000))
    return OPEN[-1]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def crawled(crawl: RecordedSession, pages: int = 1000) -> RecordedSession:
    """Fetch up to so many pages, one after the other."""
    while crawl.session.steps < pages and not isinstance(demand := crawl.next(), Done):
        assert isinstance(demand, Fetch)
        (url,) = demand.urls
        exchange = Exchange(url, b"GET / HTTP/1.1\r\n\r\n", HEAD, url.encode() * 9)
        crawl.receive(url, WEB.get(url, missing(url)), Fetched(0.0, exchange=exchange))
    return crawl


def lines(crawl: RecordedSession) -> list[object]:
    return [{key: row[key] for key in ("step", "url", "warc_end")} for row in crawl.journal.pages()]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """A crawl that nothing has happened to."""
    run = tmp_path / "whole"
    run.mkdir()
    crawled(begun(run, archive(run))).journal.close()
    return run


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as a kill leaves it after 20 pages; the last sync was after 10."""
    monkeypatch.setattr("tres.store.recorded_session.SYNC_EVERY", float("inf"))
    living, run = tmp_path / "living", tmp_path / "run"
    living.mkdir()
    warc = archive(living)
    crawl = crawled(begun(living, warc), 10)
    for _ in range(2):  # the mark lags by one
        crawl.sync()
    crawled(crawl, 20)
    shutil.copytree(living, run)
    crawl.journal.close()
    return run


def zeroed(count: int) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(file.read_bytes()[:-count] + bytes(count))


def shortened(count: int) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(file.read_bytes()[:-count])


@pytest.mark.parametrize(
    "accident",
    [shortened(1), shortened(3_000), zeroed(4), zeroed(2_500), Path.unlink],
    ids=["a byte", "many bytes", "some zeros", "many zeros", "the last file"],
)
def test_what_the_archive_has_lost_is_fetched_again_and_it_is_the_same_crawl(
    cut: Path, whole: Path, accident: Callable[[Path], object]
) -> None:
    accident(parts_of(cut)[-1])
    with pytest.warns(RewoundWarning, match=r"lost their end; \d+ pages? will be fetched again"):
        crawl = again(cut, archive(cut))
    assert crawl.session.steps == crawl.journal.steps() < 20
    assert len(crawl.session.awaited) == 1
    crawled(crawl)
    crawl.journal.verify()
    with Journal.open(whole / "journal.db") as journal:
        assert lines(crawl) == [
            {key: row[key] for key in ("step", "url", "warc_end")} for row in journal.pages()
        ]
    parts = [part.read_bytes() for part in parts_of(whole)]
    assert [part.read_bytes() for part in parts_of(cut)] == parts


def test_a_kill_costs_nothing(cut: Path) -> None:
    with parts_of(cut)[-1].open("ab") as file:
        file.write(b"\x1f\x8b half of what came next")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        crawl = again(cut, archive(cut))
    assert crawl.session.steps == 20
    assert crawl.journal.warc_end() == sum(part.stat().st_size for part in parts_of(cut))


def test_files_that_were_moved_away_are_asked_for_and_nothing_is_changed(cut: Path) -> None:
    for part in parts_of(cut):
        part.unlink()
    before = {file.name: file.read_bytes() for file in cut.iterdir() if file.suffix == ".db"}
    with pytest.raises(RunError, match="not those of its journal, so nothing was"):
        again(cut, archive(cut))
    with Journal.open(cut / "journal.db") as journal:
        assert journal.steps() == 20
    assert before.keys() == {"journal.db"}
    mark_path(cut / "journal.db").unlink()  # the way that the message names
    with pytest.warns(RewoundWarning, match="20 pages will be fetched again"):
        assert again(cut, archive(cut)).session.steps == 0


def test_more_than_some_pages_that_were_safe_are_not_fetched_again_unasked(
    cut: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal.open(cut / "journal.db", to_write=True) as journal:
        journal.sync()
    monkeypatch.setattr(rewind, "MOST", 2)
    shortened(2_500)(parts_of(cut)[-1])
    with pytest.raises(RunError, match="put them back as they were, or remove"):
        again(cut, archive(cut))


def test_pages_that_the_journal_should_know_are_not_cut_off(cut: Path) -> None:
    """An older copy of the journal was put back, with its mark."""
    crawl = again(cut, archive(cut))
    crawl.journal.rewind(crawl.journal.position - 12)
    crawl.journal.close()
    before = [part.read_bytes() for part in parts_of(cut)]
    with pytest.raises(RunError, match="not those of its journal"):
        again(cut, archive(cut))
    assert [part.read_bytes() for part in parts_of(cut)] == before


def test_after_a_power_cut_the_archive_may_be_ahead(
    cut: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = cut / "journal.db-wal"
    frames = log.read_bytes()
    log.write_bytes(frames[: len(frames) * 9 // 10])
    (tmp_path / "boot").write_text("another")
    monkeypatch.setattr(mark, "BOOT", tmp_path / "boot")
    crawl = again(cut, archive(cut))
    assert 10 <= crawl.session.steps < 20
    assert crawl.journal.warc_end() == sum(part.stat().st_size for part in parts_of(cut))


def test_a_snapshot_of_what_a_power_cut_took_away_is_not_used(cut: Path) -> None:
    """The crawl goes another way from there, and is killed: the snapshot knows the old way."""
    crawl = again(cut, archive(cut))
    crawl._last_snapshot = -1000
    crawl._snapshot_if_due()
    position = crawl.journal.position
    crawl.journal.rewind(position - 5)
    with pytest.warns(SnapshotWarning, match="a record that this journal does not reach"):
        rewound, _ = rebuild_session(crawl.journal, session, "config")
    crawl = RecordedSession(rewound, crawl.journal, "config")
    while crawl.journal.position <= position:
        demand = crawl.next()
        assert isinstance(demand, Fetch)
        crawl.receive(demand.urls[0], missing(demand.urls[0]))
    crawl.journal.close()
    with pytest.warns(SnapshotWarning, match="the crawl has taken another course since"):
        again(cut)


def test_a_page_with_more_links_than_a_record_holds_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_records, "ESCAPED", 10**9)  # every letter is too many
    crawl = begun(tmp_path)
    demand = crawl.next()
    assert isinstance(demand, Fetch)
    (url,) = demand.urls
    outcome = WEB[url]
    assert isinstance(outcome, Percept)
    assert len(outcome.links)
    crawl.receive(url, outcome)
    assert [row["kind"] for row in crawl.journal.failures()] == ["too-large"]
    crawl.journal.close()
    taken_up = again(tmp_path)
    assert (taken_up.session.steps, list(taken_up.session.awaited)) == (0, [])
