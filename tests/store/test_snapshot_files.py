"""Snapshot files: written whole, read whole, and only as often as it pays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tres.files import durable as disk
from tres.store.snapshot_files import (
    SNAPSHOT,
    Snapshot,
    SnapshotWarning,
    is_due,
    read_snapshot,
    write_snapshot,
)

STATE = {
    "empty": np.zeros((0, 3), np.float32),
    "matrix": np.arange(6, dtype=np.int64).reshape(2, 3),
    "flags": np.array([True, False]),
    "odd": np.array([np.nan, -0.0, np.inf], np.float64),
    "strided": np.arange(10, dtype=np.int32)[::3],
    "values": ["list", [1, 2.5, None, "text\ud800", 2**100, float("inf")]],
}


def link(position: int) -> int:
    """The links of a journal that goes on as it was."""
    return 10 * position


def test_a_state_comes_back_as_it_was(tmp_path: Path) -> None:
    write_snapshot(tmp_path, Snapshot(7, 70, 3, "config", STATE))
    read = read_snapshot(tmp_path, "config", 7, link)
    assert read is not None
    assert (read.position, read.steps) == (7, 3)
    assert read.state.keys() == STATE.keys()
    assert read.state["values"] == STATE["values"]
    for name in STATE.keys() - {"values"}:
        assert read.state[name].dtype == STATE[name].dtype
        assert read.state[name].shape == STATE[name].shape
        assert read.state[name].tobytes() == STATE[name].tobytes()


def test_a_run_without_a_snapshot_has_none(tmp_path: Path) -> None:
    assert read_snapshot(tmp_path, "config", 7, link) is None


@pytest.mark.parametrize(
    ("last", "shift", "reason"),
    [(6, 0, "a record that this journal does not reach"), (9, 1, "taken another course since")],
)
def test_a_snapshot_of_another_course_of_the_crawl_is_set_aside(
    tmp_path: Path, last: int, shift: int, reason: str
) -> None:
    write_snapshot(tmp_path, Snapshot(7, 70, 3, "config", STATE))
    with pytest.warns(SnapshotWarning, match=reason):
        assert read_snapshot(tmp_path, "config", last, lambda at: link(at) + shift) is None


def test_a_disk_that_fills_up_leaves_the_earlier_snapshot_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_snapshot(tmp_path, Snapshot(7, 70, 3, "config", STATE))

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_snapshot(tmp_path, Snapshot(9, 90, 4, "config", STATE))
    assert [file.name for file in tmp_path.iterdir()] == [SNAPSHOT]
    assert read_snapshot(tmp_path, "config", 9, link).position == 7  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("steps", "last", "due"),
    [(999, 0, False), (1000, 0, True), (1999, 1000, False), (21_999, 20_000, False),
     (22_223, 20_000, True)],
)  # fmt: skip
def test_one_is_due_every_thousand_steps_and_later_every_tenth(
    steps: int, last: int, due: bool
) -> None:
    assert is_due(steps, last) is due
