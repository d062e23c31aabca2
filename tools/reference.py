"""Writes the reference pages that follow from the program: settings, commands, the library.

    python -m tools.reference

What a page says of a setting or an option is what the program itself says of it, so it cannot
be wrong; a test compares the pages with what this makes, so they cannot be old. Everything
that a person has to explain stands in the other pages.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import click

from tools.library import library_page
from tres.bench.experiment_file import PlanSection
from tres.cli.command_group import commands
from tres.settings.sections import PRESETS
from tres.settings.setting import Section, existing_path, toml
from tres.settings.topic_file import SECTIONS

DOCS = Path(__file__).resolve().parents[1] / "docs"
MADE = "<!-- Made by `make docs` from the program itself: edit that, not this. -->"

NOT_RUN = "<!-- test: page not run: the examples of the help name files that are not here -->"


def pages() -> dict[Path, str]:
    """Every page that is made here, with its text."""
    made = {
        "settings.md": settings_page(),
        "commands.md": commands_page(),
        "library.md": library_page(MADE),
    }
    return {DOCS / "reference" / name: "\n".join(lines) + "\n" for name, lines in made.items()}


# Settings


def settings_page() -> Iterator[str]:
    """The topic file, section by section, and what is special about an experiment file."""
    yield from ("# Settings", "", MADE, "")
    yield from _paragraph(
        """
        One [TOML](https://toml.io) file describes a crawl: `tres init` writes one, `tres crawl`
        reads it, and the `config.toml` of every run is one, with every setting in it. Only
        `topic.keyword_matcher` and one source of examples in `[training]` are required. Paths are
        relative to the file. A key that does not exist is refused, with the nearest one that does.
        """
    )
    yield from ("", "`name`, before all sections, names the topic (by default: as the file).")
    for section in SECTIONS.values():
        yield from _section(section, f"[{section.NAME}]")
    yield from _presets()
    yield from ("", "## Experiment files", "")
    yield from _paragraph(
        """
        `tres bench` reads a file with the sections `[topic]`, `[training]`, `[tree]` and `[agent]`
        from above, `web` before all sections (the archive, relative to the file, or
        `generated:...`), and a `[crawl]` of its own:
        """
    )
    yield from _settings(PlanSection)


def _section(section: type[Section], heading: str) -> Iterator[str]:
    yield from ("", f"## {heading}", "", inspect.cleandoc(section.__doc__ or ""))
    yield from _settings(section)


def _settings(section: type[Section]) -> Iterator[str]:
    yield from ("", "| setting | value | default | meaning |", "|---|---|---|---|")
    for key in fields(section):
        value = _value(key)
        meaning = key.metadata["doc"].removesuffix(f": {value.removeprefix('one of ')}")
        cells = (f"`{key.name}`", value, _default(key), meaning)
        yield f"| {' | '.join(map(_cell, cells))} |"


def _value(key: Field[Any]) -> str:
    """What is valid, in the words of the message that a wrong value gets."""
    check = key.metadata["check"]
    if check is existing_path:
        return "a path"
    try:
        check(object())
    except ValueError as problem:
        said = re.match("must be (.+?), not <object", str(problem))
        return said[1] if said else "anything"
    return "anything"


def _default(key: Field[Any]) -> str:
    if key.default is MISSING:
        return "*required*"
    return "" if key.default is None else f"`{toml(key.default)}`"


def _presets() -> Iterator[str]:
    yield from ("", "## Presets", "")
    yield from _paragraph(
        """
        A preset (`crawl.preset`) changes defaults only: what the file says itself still holds.
        `tres` changes nothing; `paper` is the paper's algorithm:
        """
    )
    yield from ("", "| setting | in `paper` |", "|---|---|")
    for key, value in PRESETS["paper"].items():
        yield f"| `{key}` | `{toml(value)}` |"


# Commands


def commands_page() -> Iterator[str]:
    """Every command with its help and its options."""
    yield from ("# Commands", "", MADE, NOT_RUN, "")
    yield from _paragraph(
        """
        `tres --help` lists the commands, and `tres COMMAND --help` says what stands here.
        Results go to standard output, progress and remarks to standard error. The exit codes
        are [here](failures.md#exit-codes).
        """
    )
    yield from _commands("tres", commands)


def _command(path: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    yield from ("", f"## {path}", "", "```text", _usage(path, command, context), "```")
    yield from _help(inspect.cleandoc(command.help or ""))
    options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
    if options:
        yield from ("", "| option | meaning |", "|---|---|")
    for option in options:
        yield f"| {_cell(_spelling(option, context))} | {_cell(_meaning(option, context))} |"
    if isinstance(command, click.Group):
        yield from _commands(path, command)


def _commands(path: str, group: click.Group) -> Iterator[str]:
    context = click.Context(group)
    for name in sorted(group.list_commands(context)):
        if (command := group.get_command(context, name)) is not None:
            yield from _command(f"{path} {name}", command)


def _usage(path: str, command: click.Command, context: click.Context) -> str:
    return " ".join((path, *command.collect_usage_pieces(context)))


def _help(text: str) -> Iterator[str]:
    """Paragraphs as they are, examples as commands to copy."""
    for paragraph in text.split("\n\n"):
        plain = paragraph.replace("\b\n", "").strip("\f\n")
        if re.match("Examples?:", plain):
            lines = re.sub("^Examples?:", "", plain).strip().splitlines()
            yield from ("", "```sh", *(line.strip() for line in lines), "```")
        elif paragraph.startswith("\b"):
            yield from ("", "```text", plain, "```")
        else:
            yield from ("", plain)


def _spelling(option: click.Option, context: click.Context) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if option.is_flag or option.count:
        return names
    return f"{names} `{option.make_metavar(context)}`"


def _meaning(option: click.Option, context: click.Context) -> str:
    said = option.help or ""
    if option.required:
        return f"{said} *Required.*"
    if option.show_default and option.default is not None:
        return f"{said} Default: `{option.get_default(context)}`."
    return said.replace("  [default: ", " [default: ")


# Text


def _paragraph(text: str) -> list[str]:
    return inspect.cleandoc(text).splitlines()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        click.echo(path.relative_to(DOCS.parent))


if __name__ == "__main__":
    main()
