"""Help: an overview that fits a screen, and an example for every command there is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest

from tres.cli import commands

from .conftest import Tres


def every_command(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in group.commands.items():
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
    assert set(commands.commands) <= named


def test_no_line_of_the_overview_is_cut_short(tres: Tres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert "..." not in tres("--help").out.partition("\n")[2]


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_the_help_of_every_command_has_an_example_that_it_would_take(path: tuple[str, ...]) -> None:
    text = ALL[path].help or ""
    _, found, after = text.partition("Example")
    assert found, f"tres {' '.join(path)} --help shows no example"
    said = " ".join(after.partition(":")[2].split("\n\n")[0].splitlines()[0].split())
    words = shlex.split(
        said.partition("|")[0].partition(">")[0].removeprefix('eval "$(').rstrip(')"')
    )
    assert words[: len(path) + 1] == ["tres", *path]
    assert accepted(words[1:]), f"no such command line: {said}"


def accepted(words: list[str]) -> bool:
    """Would the options and arguments of a command line be understood?"""
    command: click.Command = commands
    context = click.Context(command, info_name="tres")
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=name)
    command.make_context(command.name, list(words), parent=context.parent)
    return True


def test_a_section_of_the_overview_holds_no_command_twice() -> None:
    listed = [name for section in commands.sections.values() for name in section]
    assert len(listed) == len(set(listed)) == len(commands.commands)
