"""The overview: all commands on one screen, by what one wants to do.

`tres --help` is a table of sections, commands and what each of them does, without any more
headings, so that it fits a terminal of 24 lines and 80 columns. A command says what it does in
the first sentence of its help.

A command is imported when it is called for: whoever runs one need not wait for what all the
others would have to load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click


class Overview(click.Group):
    """A group whose commands stand in sections, each in the module of its name in a package."""

    def __init__(
        self, *args: Any, package: str, sections: Mapping[str, Sequence[str]], **known: Any
    ) -> None:
        super().__init__(*args, **known)
        self._package = package
        self.sections = sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the sections."""
        return [name for section in self.sections.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by its name; None if there is none."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = getattr(import_module(f"{self._package}.{cmd_name}"), cmd_name)
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, and one line for the options that every program has."""
        formatter.write_paragraph()
        names = max(map(len, self.list_commands(ctx))) + 2
        titles = max(map(len, self.sections)) + 2
        room = formatter.width - 2 - titles - names
        for title, section in self.sections.items():
            for place, name in enumerate(section):
                command = self.get_command(ctx, name)
                assert command is not None  # it is listed
                heading = "" if place else title
                told = command.get_short_help_str(room)
                formatter.write(f"  {heading:{titles}}{name:{names}}{told}\n")
