"""`tres export`: the pages of a run as files for other tools."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import click
from rich.progress import Progress, TextColumn

from tres.cli.completions import runs
from tres.cli.console import messages
from tres.errors import ConfigError, printable
from tres.store.export_pages import BINARY, FORMATS, Exported, Selection, new_file
from tres.store.export_pages import export as export_pages


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option("--to", "form", type=click.Choice(FORMATS), required=True, help="The format.")
@click.option("--out", default="-", metavar="FILE", help="Where to; '-' is standard output.")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it is there.")
@click.option("--relevant", is_flag=True, help="Only relevant pages.")
@click.option(
    "--min-relevance",
    type=click.FloatRange(0, 1),
    default=0.0,
    metavar="P",
    help="Only pages that are relevant with this probability or more.",
)
@click.option("--site", "sites", multiple=True, help="Only pages of this site; repeatable.")
@click.option("--language", "languages", multiple=True, help="Only this language; repeatable.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The first N of them.")
@click.option("--web", metavar="WEB", help="The web, if it is no longer where it was.")
def export(run: Path, form: str, out: str, overwrite: bool, web: str | None, **chosen: Any) -> None:
    """Write the pages of a run as a file for other tools.

    jsonl: title, text and links of every page, an archive that `tres crawl --web` takes;
    parquet: the same as a table; csv: the rows of pages.csv; urls: one per line;
    warc: what the servers had sent.

    Example: tres export runs/biology --to jsonl --relevant --out biology.jsonl
    """
    if out == "-" and form in BINARY and sys.stdout.isatty():
        raise ConfigError(f"{form} is nothing to read on a terminal; name a file with --out")
    screen = messages()
    progress = Progress(
        TextColumn("{task.description}"),
        TextColumn("{task.completed:,.0f} pages"),
        console=screen,
        disable=not screen.is_terminal,
        transient=True,
    )
    task = progress.add_task(f"exporting {printable(str(run))}", total=None)
    with progress, _opened(out, overwrite) as file:
        result = export_pages(
            run, form, file, Selection(**chosen), web, lambda: progress.advance(task)
        )
    _tell(result, form, out)


def _opened(out: str, overwrite: bool) -> AbstractContextManager[BinaryIO]:
    if out == "-":
        return nullcontext(sys.stdout.buffer)
    return new_file(Path(out), overwrite)


def _tell(result: Exported, form: str, out: str) -> None:
    """On standard error: standard output may be the file."""
    where = "" if out == "-" else f" to {printable(out)}"
    if result.missing:
        lacking = "are left out" if form == "warc" else "have no title, text and links"
        click.echo(
            f"warning: {result.missing:,} pages could not be read again and {lacking}", err=True
        )
    click.echo(f"{result.pages:,} pages exported{where}", err=True)
