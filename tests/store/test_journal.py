"""The journal: what is appended is there, readable by people, and damage has a name."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.webs import To, links, page

from tres.crawl.events import FetchFailed, SiteCapped, Stepped
from tres.engines.protocols import Fetched
from tres.errors import RunError
from tres.store import journal as store_journal
from tres.store.journal import Journal
from tres.store.journal_file import Meta
from tres.store.journal_records import Begin, Demanded, Received, Seeds
from tres.web.page import Failed, FailureKind

META = Meta("/webs/some.jsonl", "some.jsonl", ("anchor relevance", 'a "quoted" name'), 7)
FACTS = Fetched(12.5, 0.25, 200, 4321, "A title", 2**64 - 1, "a note")


def step(number: int, url: str, **changes: object) -> Stepped:
    known: dict[str, object] = {
        "step": number, "url": url, "asked": url, "parent": None, "site": "a",
        "relevance": 0.1 + 0.2, "relevant": False, "q": float("nan"), "leaf": None,
        "explored": True, "language": "en", "frontier": 0, "leaves": 0, "candidates": 0,
        "features": {"anchor relevance": -0.0, 'a "quoted" name': 1.0},
    }  # fmt: skip
    return Stepped(**(known | changes))  # type: ignore[arg-type]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal of a page, a failure and a demand that has not come back."""
    path = tmp_path / "journal.db"
    first = page("a/1", 0.3, To("a/2", 0.7, anchor_keyword=True))
    with Journal.create(path, META, Seeds(links("a/1")), Begin(9, "digest")) as journal:
        journal.append(Demanded(1, (), ("a/1",)))
        journal.append(Received("a/1", first), [step(1, "a/1"), SiteCapped("a")], FACTS, 99)
        journal.append(Demanded(2, (0, 7), ("a/2", "a/3")))
        failed = FetchFailed("a/2", FailureKind.TIMEOUT, False)
        journal.append(Received("a/2", Failed("a/2", FailureKind.TIMEOUT)), [failed], FACTS)
    return path


def test_entries_come_back_in_order_and_from_any_position(path: Path) -> None:
    with Journal.open(path) as journal:
        assert journal.meta == META
        assert journal.position == 6
        kinds = [type(entry) for _, entry in journal.entries()]
        assert kinds == [Seeds, Begin, Demanded, Received, Demanded, Received]
        assert next(journal.entries(4)) == (5, Demanded(2, (0, 7), ("a/2", "a/3")))
        assert journal.seeds().links.urls == ("a/1",)
        assert journal.segments() == [Begin(9, "digest")]
        assert (journal.steps(), journal.warc_end()) == (1, 99)
        assert list(journal.links_and_fingerprints()) == [(("a/2",), 2**64 - 1)]


def test_what_concerns_one_url_is_found_without_reading_the_rest(path: Path) -> None:
    with Journal.open(path) as journal:
        assert [seq for seq, _ in journal.naming(["a/2"])] == [4, 5, 6]
        assert [seq for seq, _ in journal.naming(["a/2"], before=6)] == [4, 5]
        assert list(journal.naming(["a/"])) == []
        assert journal.entry(5) == Demanded(2, (0, 7), ("a/2", "a/3"))
        assert journal.judge_of(4) == "digest"
        assert journal.exchange_of(4) == (0, 99)
        assert journal.exchange_of(6) is None
        with pytest.raises(RunError, match="record 7 is missing"):
            journal.entry(7)


def test_a_page_knows_its_judge_and_where_it_is_kept(path: Path) -> None:
    with Journal.open(path, to_write=True) as journal:
        journal.append(Begin(9, "other"))
        journal.append(Received("a/3", page("a/3", 0.5)), [step(2, "a/3")], FACTS, 250)
        assert (journal.judge_of(4), journal.judge_of(8)) == ("digest", "other")
        assert journal.exchange_of(8) == (99, 250)


def test_opening_it_to_read_takes_no_longer_when_it_has_grown(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work: list[None] = []

    def watched(path: Path, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True)
        connection.set_progress_handler(lambda: work.append(None), 10)
        return connection

    def work_to_open() -> int:
        work.clear()
        with monkeypatch.context() as patched:
            patched.setattr(store_journal, "connect", watched)
            Journal.open(path).close()
        return len(work)

    before = work_to_open()
    with Journal.open(path, to_write=True) as journal:
        for number in range(300):
            journal.append(Received("a/3", page("a/3", 0.5)), [step(number, "a/3")], FACTS, number)
    assert work_to_open() <= before + 2


def test_people_read_it_with_sqlite_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        (found,) = database.execute("SELECT * FROM pages").fetchall()
        assert dict(found) | {"checksum": 0} == {
            "seq": 4, "step": 1, "url": "a/1", "parent": None, "relevance": 0.1 + 0.2, "reward": 0,
            "q": None, "leaf": None, "explored": 1, "site": "a", "language": "en", "asked": "a/1",
            "frontier": 0, "leaves": 0, "candidates": 0, "rivals": "[]",
            "at": 12.5, "seconds": 0.25, "status": 200, "size": 4321, "title": "A title",
            "note": "a note", "fingerprint": f"{(1 << 64) - 1:064x}", "warc_end": 99,
            "anchor relevance": 0.0, 'a "quoted" name': 1.0, "checksum": 0,
        }  # fmt: skip
        (failed,) = database.execute("SELECT url, kind, note, status FROM failures").fetchall()
        assert tuple(failed) == ("a/2", "timeout", "a note", 200)


def test_a_crawl_can_be_read_while_it_is_written(path: Path) -> None:
    with Journal.open(path, to_write=True) as writer, Journal.open(path) as reader:
        rows = reader.pages()
        next(rows)  # in the middle of reading
        writer.append(Received("a/3", page("a/3", 0.5)), [step(2, "a/3")])
        assert list(rows) == []
        assert [row["url"] for row in reader.pages()] == ["a/1", "a/3"]


def test_a_run_at_rest_is_one_file_that_reading_does_not_change(path: Path) -> None:
    before = path.read_bytes()
    with Journal.open(path) as journal:
        assert len(list(journal.pages())) == 1
    assert sorted(file.name for file in path.parent.iterdir()) == ["journal.db", "journal.mark"]
    assert path.read_bytes() == before


def test_a_change_that_a_power_cut_has_stopped_is_undone_by_whoever_reads(path: Path) -> None:
    """The end of a crawl changes the file itself; SQLite keeps beside it what was there."""
    whole = path.read_bytes()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN IMMEDIATE")
        database.execute("UPDATE records SET body = zeroblob(20000)")
        cut = path.parent / "after the cut"
        cut.mkdir()
        for file in path.parent.glob("journal.*"):
            (cut / file.name).write_bytes(file.read_bytes())
        database.execute("ROLLBACK")
    assert (cut / "journal.db").read_bytes() != whole
    read_all(cut / "journal.db")
    assert (cut / "journal.db").read_bytes() == whole


def test_what_does_not_get_in_as_a_whole_is_not_there(path: Path) -> None:
    with Journal.open(path, to_write=True) as journal:
        with pytest.raises(sqlite3.IntegrityError):  # a step without a number
            journal.append(Received("a/3", page("a/3", 0.5)), [step(None, "a/3")])  # type: ignore[arg-type]
        assert journal.position == 6
        journal.append(Received("a/3", page("a/3", 0.5)), [step(2, "a/3")])
        assert len(list(journal.entries())) == 7


def test_text_that_no_database_can_hold_is_kept_exactly_in_the_record(path: Path) -> None:
    odd = "http://x.example/\ud800"
    with Journal.open(path, to_write=True) as journal:
        journal.append(Received(odd, page(odd, 0.5)), [step(2, odd)])
        ((_, entry),) = journal.entries(6)
        assert entry.asked == odd  # type: ignore[union-attr]
        assert list(journal.pages())[1]["url"] == "http://x.example/?"


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**4000])
def test_a_number_that_no_database_can_hold_is_bounded(path: Path, number: int) -> None:
    facts = Fetched(12.5, 0.25, number, number, "A title")
    failed = FetchFailed("a/3", FailureKind.HTTP_ERROR, False)
    with Journal.open(path, to_write=True) as journal:
        journal.append(Received("a/3", Failed("a/3", FailureKind.HTTP_ERROR)), [failed], facts)
        assert abs(list(journal.failures())[-1]["status"]) >= 2**63 - 1


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE records SET body = zeroblob(9) WHERE seq = 4", "record 4 is not what was written"),
        ("UPDATE records SET kind = 'demand' WHERE seq = 4", "record 4 is not what was written"),
        ("UPDATE records SET body = 7 WHERE seq = 4", "record 4 has other types than a record"),
        ("DELETE FROM records WHERE seq = 4", "record 4 is missing"),
        ("DROP TABLE records", "no such table: records"),
        ("UPDATE pages SET relevance = 0.9", "row 4 of pages is not what was written"),
        ("UPDATE failures SET kind = 'other'", "row 6 of failures is not what was written"),
        ("DELETE FROM records WHERE seq = 1", "record 1 is missing"),
        ("DELETE FROM records WHERE seq = 2", "it names no budget"),
        ("DELETE FROM pages", "record 4 or one of its rows is not what was written"),
        ("DELETE FROM failures", "record 6 or one of its rows is not what was written"),
        ("UPDATE records SET seconds = 3.5 WHERE seq = 5", "record 5 is not what was written"),
        ("DELETE FROM records", "it has no records"),
        ("UPDATE meta SET value = '\"b\"' WHERE key = 'web'", "record 1 or one of its rows is"),
        ("DELETE FROM meta", "Object missing required field `web`"),
        ("UPDATE meta SET value = '3' WHERE key = 'features'", "Expected `array`, got `int`"),
        ("UPDATE meta SET value = '{' WHERE key = 'web'", "Expecting property name"),
        ("UPDATE meta SET value = '1' WHERE key = 'web'", "Expected `str`, got `int` - at `$.web`"),
    ],
)  # fmt: skip
def test_damage_is_named_with_the_file_and_the_remedy(
    path: Path, statement: str, reason: str
) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(statement)
    with pytest.raises(RunError) as caught:
        read_all(path)
    assert caught.value.message.startswith(f"{path}: damaged ({reason}")
    assert caught.value.message.endswith("); put back a copy of it, or run the crawl again")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("PRAGMA application_id = 1", "is not a journal of tres; name a run"),
        ("PRAGMA user_version = 1", "has the format 1, and this version of tres reads 3; use the"),
    ],
)
def test_a_foreign_database_is_refused(path: Path, statement: str, message: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
    with pytest.raises(RunError, match=message):
        Journal.open(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 30_000), st.binary(min_size=1, max_size=64), st.booleans())
def test_a_file_with_other_bytes_in_it_is_read_whole_or_refused(
    path: Path, at: int, other: bytes, cut: bool
) -> None:
    whole = path.read_bytes()
    changed = whole[:at] + other + (b"" if cut else whole[at + len(other) :])
    damaged = path.with_name("damaged.db")
    damaged.write_bytes(changed)
    with suppress(RunError):
        read_all(damaged)


def read_all(path: Path) -> None:
    with Journal.open(path) as journal:
        journal.seeds()
        journal.segments()
        list(journal.entries())
        list(journal.pages())
        list(journal.failures())
        list(journal.links_and_fingerprints())
        journal.seconds()
        journal.steps()
        journal.warc_end()
