"""`tres judge`: what a model says of any pages, or of the pages of a run once more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import Progress, TextColumn

from tres.cli.console import messages
from tres.cli.options import PATH, complete_runs, moved_web
from tres.errors import ConfigError, RunError
from tres.numbers import format_count, format_part
from tres.relevance.model import RelevanceModel
from tres.relevance.model_files import MANIFEST
from tres.relevance.model_kinds import load_model
from tres.runs.judge_rows import JudgedRow, judge_file
from tres.runs.rejudge import Rejudged, rejudge_run
from tres.store.model_versions import newest_model
from tres.store.page_source import web_of
from tres.store.run_directory import config_of, is_run, lock_run


@click.command()
@click.argument("model_or_run", metavar="MODEL-OR-RUN", type=PATH, shell_complete=complete_runs)
@click.argument("pages", required=False, metavar="[PAGES]")
@moved_web
def judge(model_or_run: Path, pages: str | None, web: str | None) -> None:
    """Judge pages with a model, or those of a run again.

    MODEL-OR-RUN is a model that `tres train` has written, or a run, whose newest model is meant.
    PAGES is a file of JSON lines with url, title, and text or html, also gzipped; - is standard
    input. Print a line of JSON for each: url, probability, relevant.

    Without PAGES, judge the run's own pages with its newest model. Summary, report, dashboard and
    export then show what it says. What a person has said of a page stays as it is.

    Example: tres judge runs/biology pages.jsonl.gz > judged.jsonl
    """
    if pages is None:
        _judge_run(model_or_run, web)
    elif web is not None:
        raise ConfigError("--web says where a run's own pages are; leave it out, or the file")
    else:
        _judge_file(_model(model_or_run), pages)


def _model(place: Path) -> RelevanceModel:
    return newest_model(place) if is_run(place) else load_model(place)


def _judge_file(model: RelevanceModel, name: str) -> None:
    """Print what a model says of each page; everything else goes to standard error."""
    count = relevant = unread = 0
    with _progress("judging") as advance:
        for row in judge_file(model, name):
            click.echo(_line(row))
            count += 1
            relevant += row.relevant
            unread += row.probability is None
            advance(1)
    if unread:
        pages = format_count(unread, "page has", "pages have")
        click.echo(f"warning: {pages} unreadable html: without a probability", err=True)
    click.echo(
        f"{format_part(relevant, count, 'page')} relevant" if count else "no pages", err=True
    )


def _line(row: JudgedRow) -> str:
    chance = None if row.probability is None else round(row.probability, 6)
    return json.dumps({"url": row.url, "probability": chance, "relevant": row.relevant})


def _judge_run(run: Path, address: str | None) -> None:
    if (run / MANIFEST).is_file():
        raise ConfigError(f"{run}: is a model; name the pages to judge as well, or - to pipe them")
    config_of(run)
    web = None if address is None else web_of(run, address)
    with _progress("judging") as advance, lock_run(run):
        result = rejudge_run(run, web, advance=advance)
    if result.missing == result.pages:
        raise RunError(
            f"{run}: none of its pages can be read; give their web with --web, or crawl with "
            'live.keep = "pages"'
        )
    click.echo("\n".join(describe_changes(result)))


def describe_changes(result: Rejudged) -> Iterator[str]:
    """Yield what has changed."""
    if result.missing:
        pages = format_count(result.missing, "page")
        yield f"{pages} could not be read again: the verdict of when it was fetched still counts"
    if result.now_relevant or result.no_longer:
        found = format_count(result.now_relevant, "page is", "pages are")
        lost = format_count(result.no_longer, "page")
        yield f"by the newest model {found} relevant now, and {lost} no longer"
    else:
        yield "the newest model changes no verdict"
    yield f"{format_part(result.relevant, result.pages, 'page')} relevant"


@contextmanager
def _progress(doing: str) -> Iterator[Callable[[int], None]]:
    """Count pages on a terminal."""
    screen = messages()
    with Progress(
        TextColumn("{task.description}"),
        TextColumn("pages: {task.completed:,.0f}"),
        console=screen,
        disable=not screen.is_terminal,
        transient=True,
    ) as progress:
        task = progress.add_task(doing, total=None)
        yield lambda pages: progress.advance(task, pages)
