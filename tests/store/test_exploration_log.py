"""What was fetched for a teacher survives whatever ends it."""

from __future__ import annotations

from pathlib import Path

from tres.store.exploration_log import EXPLORATION, Answer, ExplorationLog
from tres.web.page import Failed, FailureKind, Link, Page

ANSWERS: list[Answer] = [
    (f"http://a.example/{n}", Page(f"http://a.example/{n}", "Títle\n", f"text {n}\r", LINKS))
    if n % 2
    else (f"http://a.example/{n}", Failed("http://a.example/x", FailureKind.TIMEOUT, True))
    for n, LINKS in enumerate([(Link("http://b.example/", "a link"),)] * 6)
]


def written(run: Path) -> Path:
    with ExplorationLog(run) as log:
        for answer in ANSWERS:
            log.add(*answer)
    return run / EXPLORATION


def read(run: Path) -> list[Answer]:
    with ExplorationLog(run) as log:
        return log.answers


def test_answers_are_read_back_and_added_to(tmp_path: Path) -> None:
    written(tmp_path)
    with ExplorationLog(tmp_path) as log:
        assert log.answers == ANSWERS
        log.add(*ANSWERS[0])
    assert read(tmp_path) == [*ANSWERS, ANSWERS[0]]


def test_wherever_it_is_cut_what_stands_before_is_kept_and_it_goes_on(tmp_path: Path) -> None:
    whole = written(tmp_path).read_bytes()
    ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
    for size in range(0, len(whole), 7):
        for tail in (b"", b"\0" * 40):
            (tmp_path / EXPLORATION).write_bytes(whole[:size] + tail)
            left = sum(end <= size for end in ends)
            assert read(tmp_path) == ANSWERS[:left]
            with ExplorationLog(tmp_path) as log:
                log.add(*ANSWERS[-1])
            assert read(tmp_path) == [*ANSWERS[:left], ANSWERS[-1]]


def test_nothing_is_read_behind_a_bit_that_has_changed(tmp_path: Path) -> None:
    whole = written(tmp_path).read_bytes()
    for place in range(0, len(whole), 11):
        changed = bytearray(whole)
        changed[place] ^= 1
        (tmp_path / EXPLORATION).write_bytes(changed)
        found = read(tmp_path)
        assert found == ANSWERS[: len(found)]
        assert len(found) < len(ANSWERS)
