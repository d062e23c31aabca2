"""The answers of a teacher survive whatever happens to the file or the process."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tres.errors import RunError
from tres.store.teacher_cache import TEACHER, Completion, TeacherCache

ANSWER = Completion('{"relevant": true, "reason": "\u2028 ü"}', 100, 10)

WRITER = """
import sys
from pathlib import Path
from tres.store.teacher_cache import Completion, TeacherCache

cache = TeacherCache(Path(sys.argv[1]))
for number in range(1_000_000):
    cache.add(str(number), Completion("text", number))
    print(number, flush=True)
"""


def test_answers_are_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    with TeacherCache(tmp_path) as cache:
        cache.add("a", ANSWER)
        cache.add("b", Completion("no usage"))
        assert cache.get("a") == ANSWER
    with TeacherCache(tmp_path) as cache:
        assert (cache.get("a"), cache.get("b")) == (ANSWER, Completion("no usage"))
        assert cache.get("c") is None
        assert len(cache) == 2


def test_a_line_that_was_cut_off_loses_only_itself(tmp_path: Path) -> None:
    with TeacherCache(tmp_path) as cache:
        cache.add("a", ANSWER)
        cache.add("b", ANSWER)
    whole = (tmp_path / TEACHER).read_bytes()
    first, second = whole.index(b"\n"), len(whole) - 1
    for end in range(len(whole)):
        (tmp_path / TEACHER).write_bytes(whole[:end])
        with TeacherCache(tmp_path) as cache:
            assert len(cache) == (end >= first) + (end >= second)
            cache.add("c", ANSWER)
        with TeacherCache(tmp_path) as cache:
            assert cache.get("c") == ANSWER


@pytest.mark.parametrize(
    "line", [b"{}", b"[]", b"\xff", b'{"key": 1, "checksum": "0"}', b"[" * 9999]
)
def test_a_damaged_line_is_skipped(tmp_path: Path, line: bytes) -> None:
    with TeacherCache(tmp_path) as cache:
        cache.add("a", ANSWER)
    with (tmp_path / TEACHER).open("ab") as file:
        file.write(line + b"\n")
    with TeacherCache(tmp_path) as cache:
        cache.add("b", ANSWER)
    with TeacherCache(tmp_path) as cache:
        assert len(cache) == 2


def test_an_answer_that_somebody_changed_does_not_count(tmp_path: Path) -> None:
    with TeacherCache(tmp_path) as cache:
        cache.add("a", ANSWER)
    file = tmp_path / TEACHER
    file.write_bytes(file.read_bytes().replace(b"true", b"fals"))
    with TeacherCache(tmp_path) as cache:
        assert len(cache) == 0


def test_a_directory_that_is_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / TEACHER).mkdir()
    with pytest.raises(RunError, match=r"teacher.jsonl: cannot be used \(Is a directory\)"):
        TeacherCache(tmp_path)


def test_a_full_disk_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with TeacherCache(tmp_path) as cache:
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(RunError, match="No space left on device"):
            cache.add("a", ANSWER)
        assert cache.get("a") is None


def test_after_a_kill_every_answer_that_was_added_is_there(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        added = [int(process.stdout.readline()) for _ in range(20)]
        os.kill(process.pid, signal.SIGKILL)
        added += map(int, process.stdout.read().split())
    with TeacherCache(tmp_path) as cache:
        assert all(cache.get(str(number)) == Completion("text", number) for number in added)
