"""`tres doctor` as people and programs read it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path

import pytest

import tres as tres_package
from tres.cli.install_checks import Check, State
from tres.distribution import DISTRIBUTION

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

    def check_machine(*_: object) -> Iterator[Check]:
        yield from checks

    monkeypatch.setattr(import_module("tres.cli.doctor"), "check_machine", check_machine)
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


@pytest.fixture
def broken_installation(tmp_path: Path) -> dict[str, str]:
    """An environment in which tres is installed, and of its packages only the terminal's."""
    kept = "click rich threadpoolctl packaging markdown_it markdown_it_py mdurl pygments".split()
    for entry in Path(str(metadata.distribution("click").locate_file(""))).iterdir():
        name = entry.name.lower().removesuffix(".py").partition("-")[0]
        if name in (*kept, DISTRIBUTION.replace("-", "_")):
            (tmp_path / entry.name).symlink_to(entry)
    source = Path(tres_package.__file__).parents[1]
    return {"PYTHONPATH": f"{tmp_path}:{source}", "PATH": os.environ["PATH"]}


def run_tres(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", "-m", "tres", *arguments],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_missing_core_package_is_named_with_its_remedy(
    broken_installation: dict[str, str], tmp_path: Path
) -> None:
    ended = run_tres(broken_installation, "doctor")
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    line = next(line for line in ended.stdout.splitlines() if line.startswith("missing"))
    assert "numpy is not installed" in line
    assert "scrapy is not installed" in line
    assert line.endswith("-> pip install tres-crawler")


def test_a_command_without_its_packages_names_the_first_that_is_missing(
    broken_installation: dict[str, str],
) -> None:
    ended = run_tres(broken_installation, "crawl", "topic.toml")
    assert (ended.returncode, "Traceback" in ended.stderr) == (1, False)
    assert "is not installed; install it with: pip install tres-crawler" in ended.stderr


def test_without_the_packages_of_the_terminal_there_is_a_line_as_well(
    broken_installation: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "click").unlink()
    ended = run_tres(broken_installation, "doctor")
    assert ended.returncode == 1
    assert ended.stderr.startswith("tres: the package click is not installed")
