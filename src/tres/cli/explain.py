"""`tres explain`: say why a URL was fetched, or why not."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import click

from tres.cli.console import messages
from tres.cli.options import moved_web, run_argument
from tres.errors import printable
from tres.report.explain.facts import facts_of
from tres.report.explain.gather import explain_url
from tres.report.explain.layout import format_explanation
from tres.report.run_reader import open_run


@click.command()
@run_argument
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--json", "as_json", is_flag=True, help="Print all facts, one JSON object per URL and line."
)
@moved_web
def explain(run: Path, urls: tuple[str, ...], as_json: bool, web: str | None) -> None:
    """Say why a URL was fetched, or why it was not.

    RUN is the directory of a run, which may still be crawled. URL may lack its http://, or be the
    number of a page of the run.

    Example: tres explain runs/demo/tres 137
    """
    screen = messages()
    with ExitStack() as stack:
        with screen.status("reading the run"):
            reader, journal = stack.enter_context(open_run(run))
        for place, url in enumerate(urls):
            with screen.status(f"looking for {printable(url)}"):
                explanation = explain_url(reader, journal, url, web)
            if as_json:
                click.echo(json.dumps(facts_of(explanation)))
            else:
                click.echo("\n" * (place > 0) + format_explanation(explanation))
