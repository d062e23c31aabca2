"""The overview: all commands on one screen, by what one wants to do.

`tres --help` is a table of sections, commands and what each of them does, without any more
headings, so that it fits a terminal of 24 lines and 80 columns. A command says what it does in
the first sentence of its help.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click


class Overview(click.Group):
    """A group whose commands stand in sections, in the order in which they are given."""

    def __init__(self, *args: Any, sections: Mapping[str, Sequence[click.Command]], **known: Any):
        super().__init__(*args, **known)
        self.sections = sections
        for command in (command for section in sections.values() for command in section):
            self.add_command(command)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands, and one line for the options that every program has."""
        formatter.write_paragraph()
        names = max(map(len, self.commands)) + 2
        titles = max(map(len, self.sections)) + 2
        room = formatter.width - 2 - titles - names
        for title, commands in self.sections.items():
            for place, command in enumerate(commands):
                heading = "" if place else title
                told = command.get_short_help_str(room)
                formatter.write(f"  {heading:{titles}}{command.name:{names}}{told}\n")
