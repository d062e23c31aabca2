"""`tres doctor` as people and programs read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module

import pytest

from tres.cli.installed import Check, State

from .conftest import Tres

FOUND = [
    Check("python", State.OK, "CPython 3.11"),
    Check(
        "neural", State.OPTIONAL, "torch is not \x1b[2J here", "pip install 'tres-crawler[neural]'"
    ),
]
WORSE = [*FOUND, Check("disk", State.MISSING, "full", "free some space")]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    checks: list[Check] = []

    def examine(*_: object) -> Iterator[Check]:
        yield from checks

    monkeypatch.setattr(import_module("tres.cli.doctor"), "examine", examine)
    return checks


def test_each_check_is_a_line_with_its_remedy(tres: Tres, found: list[Check]) -> None:
    found += FOUND
    ended = tres("doctor")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "ok        python      CPython 3.11",
        "optional  neural      torch is not \\x1b[2J here -> pip install 'tres-crawler[neural]'",
    ]


def test_what_must_be_there_and_is_not_makes_it_fail(tres: Tres, found: list[Check]) -> None:
    found += WORSE
    assert tres("doctor").code == 1


def test_programs_read_json(tres: Tres, found: list[Check]) -> None:
    found += WORSE
    ended = tres("doctor", "--json")
    told = json.loads(ended.out)
    assert (ended.code, told["ok"]) == (1, False)
    assert told["checks"][1] == {
        "name": "neural",
        "state": "optional",
        "found": FOUND[1].found,
        "remedy": "pip install 'tres-crawler[neural]'",
    }


@pytest.mark.slow
def test_this_machine_is_well(tres: Tres) -> None:
    ended = tres("doctor", "--json")
    assert ended.code == 0, ended.out
    names = [check["name"] for check in json.loads(ended.out)["checks"]]
    assert len(names) == len(set(names))
    assert {"python", "packages", "vectors", "chromium", "disk", "cache", "network"} <= set(names)
