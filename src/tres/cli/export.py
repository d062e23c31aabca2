"""`tres export`: write the pages of a run to a file for other tools."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import click
from rich.progress import Progress, TextColumn

from tres.cli.console import messages
from tres.cli.options import COUNT, SHARE, moved_web, run_argument
from tres.errors import ConfigError, printable
from tres.numbers import format_count
from tres.store.export_pages import BINARY, FORMATS, Exported, Selection, new_file
from tres.store.export_pages import export as export_pages


@click.command()
@run_argument
@click.option("--to", "form", type=click.Choice(FORMATS), required=True, help="Write this format.")
@click.option("--out", default="-", metavar="FILE", help="Write to FILE; '-' is standard output.")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@click.option("--relevant", is_flag=True, help="Export only relevant pages.")
@click.option(
    "--min-relevance",
    type=SHARE,
    default=0.0,
    metavar="P",
    help="Export only pages with at least this probability of being relevant.",
)
@click.option("--site", "sites", multiple=True, help="Export only this site; repeatable.")
@click.option(
    "--language", "languages", multiple=True, help="Export only this language; repeatable."
)
@click.option("--limit", type=COUNT, metavar="N", help="Export at most N pages.")
@moved_web
def export(run: Path, form: str, out: str, overwrite: bool, web: str | None, **chosen: Any) -> None:
    """Write the pages of a run to a file for other tools.

    jsonl: title, text and links of every page, an archive for `tres crawl --web`;
    parquet: the same as a table; csv: the rows of pages.csv; urls: one URL per line;
    warc: the servers' responses.

    Example: tres export runs/biology --to jsonl --relevant --out biology.jsonl
    """
    if out == "-" and form in BINARY and sys.stdout.isatty():
        raise ConfigError(f"{form} cannot be shown on a terminal; name a file with --out")
    screen = messages()
    progress = Progress(
        TextColumn("{task.description}"),
        TextColumn("pages: {task.completed:,.0f}"),
        console=screen,
        disable=not screen.is_terminal,
        transient=True,
    )
    task = progress.add_task(f"exporting {printable(str(run))}", total=None)
    with progress, _output(out, overwrite) as file:
        result = export_pages(
            run, form, file, Selection(**chosen), web, lambda: progress.advance(task)
        )
    _report(result, form, out)


def _output(out: str, overwrite: bool) -> AbstractContextManager[BinaryIO]:
    if out == "-":
        return nullcontext(sys.stdout.buffer)
    return new_file(Path(out), overwrite)


def _report(result: Exported, form: str, out: str) -> None:
    """Report on standard error, because standard output may be the file."""
    where = "" if out == "-" else f" to {printable(out)}"
    if result.missing:
        lacking = "left out" if form == "warc" else "exported without title, text and links"
        missing = format_count(result.missing, "page")
        click.echo(f"warning: {missing} could not be read again: {lacking}", err=True)
    click.echo(f"{format_count(result.pages, 'page')} exported{where}", err=True)
