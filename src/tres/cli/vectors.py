"""`tres vectors`: list the word vectors on this machine, and how to get more."""

from __future__ import annotations

import click
from rich import box
from rich.table import Table

from tres.cli.console import console
from tres.errors import printable
from tres.topic.vectors.cache import Stored, cached_vectors, vectors_directory
from tres.topic.vectors.packages import GLOVE_50D, PIP_INSTALL, pip_package_installed


@click.command()
def vectors() -> None:
    """List the word vectors on this machine.

    Keyword expansion and the neural models use word vectors; topic.vectors says which:
    glove-6b-50d, or a file (GloVe text, word2vec text or binary, fastText .vec).

    Example: tres vectors
    """
    table = Table("name", "words", "dim", "MB", "from", box=box.SIMPLE_HEAD)
    for column in table.columns[1:4]:
        column.justify = "right"
    here = cached_vectors()
    for stored in here:
        table.add_row(*_row(stored))
    if GLOVE_50D.name not in {stored.name for stored in here}:
        table.add_row(*_unconverted_row())
    console().print(table)
    click.echo(f"converted vectors are kept in {vectors_directory()}")


def _row(stored: Stored) -> tuple[str, ...]:
    figures = f"{stored.words:,}", str(stored.dim), f"{stored.size / 1e6:.0f}"
    return printable(stored.name), *figures, printable(stored.origin)


def _unconverted_row() -> tuple[str, ...]:
    """Return the row of vectors that are known by name but not converted yet."""
    state = "converted at first use" if pip_package_installed() else f"install: {PIP_INSTALL}"
    return GLOVE_50D.name, "", "50", "", f"{GLOVE_50D.origin}; {state}"
