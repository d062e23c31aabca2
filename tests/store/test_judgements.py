"""Judgements: who said what about a page, and whose word counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tres.errors import RunError
from tres.store.judgements import (
    JUDGEMENTS,
    TEACHER,
    Judgement,
    append_judgement,
    read_judgements,
    read_judges,
)


def judge(run: Path, url: str, relevant: bool, by: str = "person", reason: str = "") -> None:
    append_judgement(run, Judgement(url, relevant, 1, 0.5, by, reason))


def test_a_run_that_nobody_has_judged_has_no_judgements(tmp_path: Path) -> None:
    assert (read_judgements(tmp_path), read_judges(tmp_path)) == ({}, {})


def test_a_person_outranks_a_teacher_whoever_spoke_last(tmp_path: Path) -> None:
    judge(tmp_path, "a", True)
    judge(tmp_path, "a", False, TEACHER)
    judge(tmp_path, "b", False, TEACHER)
    judge(tmp_path, "b", True)
    assert read_judgements(tmp_path) == {"a": True, "b": True}
    assert read_judges(tmp_path) == {"a": "person", "b": "person"}


def test_of_two_equals_the_last_counts(tmp_path: Path) -> None:
    for by in ("person", TEACHER):
        judge(tmp_path, by, True, by)
        judge(tmp_path, by, False, by)
    assert read_judgements(tmp_path) == {"person": False, "teacher": False}
    assert read_judges(tmp_path) == {"person": "person", "teacher": "teacher"}


def test_a_persons_line_is_as_it_was_and_a_teachers_says_so(tmp_path: Path) -> None:
    judge(tmp_path, "a", True)
    judge(tmp_path, "b", True, TEACHER, "about bees")
    person, teacher = map(json.loads, (tmp_path / JUDGEMENTS).read_text().splitlines())
    assert person.keys() == {"url", "relevant", "step", "probability", "checksum"}
    assert (teacher["by"], teacher["reason"]) == ("teacher", "about bees")


@pytest.mark.parametrize("by", ['"somebody"', "7", "null", "[]"])
def test_a_judge_that_is_neither_is_a_damaged_line(tmp_path: Path, by: str) -> None:
    (tmp_path / JUDGEMENTS).write_text(f'{{"url": "a", "relevant": true, "by": {by}}}\n')
    with pytest.raises(RunError, match="line 1 is damaged"):
        read_judgements(tmp_path)
