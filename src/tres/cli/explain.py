"""`tres explain`: why a page was fetched, or not yet, or never."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tres.cli.terminal import messages
from tres.report.explain.explain import explain as explanation_of
from tres.report.explain.facts import facts_of
from tres.report.explain.prose import prose


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--json", "as_json", is_flag=True, help="All facts, one JSON object per URL and line."
)
@click.option("--web", metavar="WEB", help="The web, if it is no longer where it was.")
def explain(run: Path, urls: tuple[str, ...], as_json: bool, web: str | None) -> None:
    """Tell why the crawl in the directory RUN fetched a URL, or not yet, or never.

    URL may lack its http://, or be the number of a page of the run. The run may still be going on.

    Example: tres explain runs/demo/tres 137
    """
    for place, url in enumerate(urls):
        with messages().status("reading the run"):
            told = explanation_of(run, url, web)
        if as_json:
            click.echo(json.dumps(facts_of(told)))
        else:
            click.echo("\n" * (place > 0) + prose(told))
