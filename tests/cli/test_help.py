"""Help: an overview that fits a screen, and an example for every command there is."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from tres.cli.command_group import SECTIONS, commands

from .conftest import Tres


def every_command(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from every_command(command, (*path, name))


ALL = dict(every_command(commands))


def test_the_overview_fits_a_screen_and_names_every_command(
    tres: Tres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = tres("--help").out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    named = {line[11:].split()[0] for line in lines if line.startswith("  ") and line[11:].strip()}
    assert {path[0] for path in ALL} <= named


def test_no_line_of_the_overview_is_cut_short(tres: Tres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "..." not in tres("--help").out.partition("\n")[2]


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Commands do nothing but say that they were called: what they are given is still checked."""
    called: list[tuple[str, ...]] = []
    for path, command in ALL.items():
        monkeypatch.setattr(command, "callback", lambda path=path, **_: called.append(path))
    return called


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_the_help_of_every_command_has_an_example_that_it_takes(
    path: tuple[str, ...], reached: list[tuple[str, ...]]
) -> None:
    _, found, after = (ALL[path].help or "").partition("Example")
    assert found, f"tres {' '.join(path)} --help shows no example"
    said = after.partition(":")[2].strip().splitlines()[0]
    called = re.search(r"tres [^|>)]*", said)
    assert called, said
    if words := shlex.split(called[0])[1:]:
        commands.main(words, standalone_mode=False)
    assert path in reached


def test_a_section_of_the_overview_holds_no_command_twice() -> None:
    listed = [name for section in SECTIONS.values() for name in section]
    assert len(listed) == len(set(listed))


def test_a_command_does_not_wait_for_what_others_load() -> None:
    code = "import sys; import tres.cli.command_group; print('tres.cli.crawl' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "False"
