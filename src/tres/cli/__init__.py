"""The command line: one small file per command, no logic of its own."""

from __future__ import annotations

import os
import sys
import warnings

import click
from threadpoolctl import threadpool_limits

from tres import __version__
from tres.cli.overview import Overview
from tres.errors import TresError

SECTIONS = {
    "Start": ("demo", "init", "doctor", "completion"),
    "Crawl": ("crawl", "steer", "resume"),
    "Look": ("dashboard", "report", "explain", "tree", "export"),
    "Judge": ("label", "train", "keywords", "vectors"),
    "Compare": ("bench", "serve"),
}


@click.group(
    cls=Overview,
    package=__name__,
    sections=SECTIONS,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="[--version] [--help]",
)
@click.version_option(__version__, prog_name="tres")
def commands() -> None:
    """\b
    A focused web crawler that learns where to go.
    To see it: tres demo. For your own topic: tres init. More: tres COMMAND --help
    """


def one_thread() -> threadpool_limits:
    """The learner's matrices are small: threads inside the algebra only disturb each other.

    Commands load their libraries when they run, after this: those read the environment.
    """
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    return threadpool_limits(1)


def one_line(message: Warning | str, *_: object, **__: object) -> str:
    """A warning as people are told of it."""
    return f"tres: {message}\n"


def main() -> None:
    """Run a command; what the user can put right is told in one line."""
    warnings.formatwarning = one_line
    try:
        with one_thread():
            commands(prog_name="tres")
    except TresError as error:
        for line in (*error.details, error.message, *getattr(error, "__notes__", ())):
            click.echo(f"tres: {line}", err=True)
        sys.exit(error.exit_code)
