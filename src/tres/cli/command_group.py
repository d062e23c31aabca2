"""`tres` itself: all commands on one screen, grouped by task.

`tres --help` is a table of sections and commands, without any more headings, so that it fits a
terminal of 24 lines and 80 columns. A command says what it does in the first sentence of its help.

A command is imported when it is called, so nobody waits for the libraries of the others.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module

import click
from threadpoolctl import threadpool_limits

from tres import __version__
from tres.errors import TresError

SECTIONS = {
    "Start": ("demo", "init", "doctor", "completion"),
    "Crawl": ("crawl", "steer", "resume"),
    "Look": ("dashboard", "report", "explain", "tree", "export"),
    "Judge": ("label", "judge", "train", "keywords", "vectors"),
    "Compare": ("bench", "serve"),
}


class CommandGroup(click.Group):
    """A group whose commands stand in sections, each in the module of its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of the sections."""
        return [name for section in SECTIONS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name, or None."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = getattr(import_module(f"tres.cli.{cmd_name}"), cmd_name)
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands."""
        formatter.write_paragraph()
        names = max(map(len, self.list_commands(ctx))) + 2
        titles = max(map(len, SECTIONS)) + 2
        room = formatter.width - 2 - titles - names
        for title, section in SECTIONS.items():
            for place, name in enumerate(section):
                command = self.get_command(ctx, name)
                assert command is not None  # it is listed
                heading = "" if place else title
                summary = command.get_short_help_str(room)
                formatter.write(f"  {heading:{titles}}{name:{names}}{summary}\n")


@click.group(
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[--version] [--help]",
)
@click.version_option(__version__, prog_name="tres")
def commands() -> None:
    """\b
    A focused web crawler that learns where to go.
    See it learn: tres demo. Your own topic: tres init. More: tres COMMAND --help
    """


def limit_threads() -> threadpool_limits:
    """Use one thread for linear algebra: on small matrices several only get in each other's way.

    Commands load their libraries later, and those read the environment.
    """
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    return threadpool_limits(1)


def format_warning(message: Warning | str, *_: object, **__: object) -> str:
    """Return a warning as one line, like any other message."""
    return f"tres: {message}\n"


def run_command() -> None:
    """Run the command that was typed; errors that users can fix are one line each."""
    warnings.formatwarning = format_warning
    try:
        with limit_threads():
            commands(prog_name="tres")
    except TresError as error:
        for line in (*error.details, error.message, *getattr(error, "__notes__", ())):
            click.echo(f"tres: {line}", err=True)
        sys.exit(error.exit_code)
