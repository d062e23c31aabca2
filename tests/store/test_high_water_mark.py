"""The mark of a journal: what must be there after a kill, and after a power cut."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.webs import links, missing

from tres.errors import RunError
from tres.store import high_water_mark as mark
from tres.store.high_water_mark import SLOT, Extent, HighWaterMark, Required, mark_path, read_mark
from tres.store.journal import Journal
from tres.store.journal_file import Meta
from tres.store.journal_records import Begin, DamagedError, Demanded, Received, Seeds

RECORDS = 9


def killed(run: Path, synced_at: int = 5) -> Path:
    """A run as a kill leaves it: its journal was synced at a record, and went on."""
    living = run / "living"
    living.mkdir()
    path = living / "journal.db"
    meta = Meta("", "live", ())
    with Journal.create(path, meta, Seeds(links("a/1")), Begin(9, "")) as journal:
        for number in range(3, RECORDS + 1):
            asked = f"a/{number}"
            journal.append(Demanded(1, (), (asked,)) if number % 2 else received(asked))
            if number in (synced_at - 1, synced_at):
                journal.sync()
        shutil.copytree(living, run / "killed")
    return run / "killed" / "journal.db"


def received(asked: str) -> Received:
    return Received(asked, missing(asked))


def test_a_killed_journal_is_read_to_its_last_record(tmp_path: Path) -> None:
    with Journal.open(killed(tmp_path)) as journal:
        assert journal.position == RECORDS
        journal.verify()
        assert journal.required is not None
        assert journal.required.least.position == RECORDS
        assert journal.required.synced.position == 4  # the sync before the last one


def test_a_write_ahead_log_that_is_gone_is_noticed_and_removing_the_mark_accepts_it(
    tmp_path: Path,
) -> None:
    path = killed(tmp_path)
    path.with_name("journal.db-wal").unlink()
    with pytest.raises(RunError) as caught:
        Journal.open(path)
    assert caught.value.message == (
        f"{path}: ends with record 2, but 9 were written; put back journal.db-wal or a copy of the "
        f"run, or remove {mark_path(path)} to go on from what is there"
    )
    mark_path(path).unlink()
    with Journal.open(path, to_write=True) as journal:
        assert journal.position == 2
    assert mark_path(path).exists()


def test_every_bit_of_a_write_ahead_log_counts_after_a_kill(tmp_path: Path) -> None:
    path = killed(tmp_path)
    log = path.with_name("journal.db-wal")
    whole = log.read_bytes()
    for at in range(40, len(whole), 97):
        changed = bytearray(whole)
        changed[at] ^= 4
        log.write_bytes(changed)
        with pytest.raises(RunError, match="put back"), Journal.open(path) as journal:
            journal.verify()


def test_after_a_power_cut_only_what_was_synced_must_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = killed(tmp_path)
    boot = tmp_path / "boot_id"
    boot.write_text("another")
    monkeypatch.setattr(mark, "BOOT", boot)
    log = path.with_name("journal.db-wal")
    frames = log.read_bytes()
    log.write_bytes(frames[: len(frames) * 3 // 4])
    with Journal.open(path) as journal:
        assert 4 <= journal.position < RECORDS
        assert journal.required is not None
        assert not journal.required.is_exact
    log.write_bytes(frames[: len(frames) // 8])
    with pytest.raises(RunError, match="but 4 were written"):
        Journal.open(path)


def test_where_no_boot_is_told_only_what_was_synced_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mark, "BOOT", tmp_path / "nowhere")
    with Journal.open(killed(tmp_path)) as journal:
        assert journal.required is not None
        assert journal.required.least.position == 4


def test_the_disk_never_holds_a_promise_about_what_is_not_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "journal.mark"
    first, second = Extent(2, 22), Extent(5, 55, 100)
    on_disk: list[Required | None] = []
    monkeypatch.setattr(mark.os, "fsync", lambda _: on_disk.append(read_mark(file)))
    written = HighWaterMark.create(file, first)
    written.commit(Extent(4, 44))
    written.sync(second)
    assert on_disk[-1] == Required(first, first, False)
    assert read_mark(file) == Required(second, first, True)
    written.settle(second)
    assert on_disk[-1] == read_mark(file) == Required(second, second, True)
    written.close()


def test_a_damaged_mark_is_named(tmp_path: Path) -> None:
    path = killed(tmp_path)
    whole = mark_path(path).read_bytes()
    for at in range(SLOT, 2 * SLOT - 1):
        content = bytearray(whole)
        content[at] ^= 1
        mark_path(path).write_bytes(content)
        with pytest.raises(DamagedError):
            read_mark(mark_path(path))
    for size in (0, 10, SLOT, 2 * SLOT - 1):
        mark_path(path).write_bytes(whole[:size])
        with pytest.raises(DamagedError):
            read_mark(mark_path(path))
    with pytest.raises(RunError, match=r"journal\.mark: damaged .* remove it to go on"):
        Journal.open(path)


def test_a_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir(), other.mkdir()
    path, others = killed(one), killed(other)
    with Journal.open(others, to_write=True) as journal:
        journal.rewind(8)
        journal.append(received("b/8"))
        journal.append(received("b/9"))
    path.with_name("journal.db-wal").unlink()
    path.write_bytes(others.read_bytes())
    with pytest.raises(RunError, match="up to record 9 it is not what was written"):
        Journal.open(path)
