"""`tres report`: show what a crawl has found, on the terminal and as an HTML page."""

from __future__ import annotations

from pathlib import Path

import click

from tres.cli.console import console, messages
from tres.cli.options import PATH, complete_runs, moved_web
from tres.errors import ConfigError, RunError
from tres.report.compare import comparison_page, name_runs
from tres.report.report_page import report_page
from tres.report.run_reader import RunReader
from tres.report.terminal import print_comparison, print_run
from tres.store.run_directory import REPORT


@click.command()
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN...", type=PATH, shell_complete=complete_runs
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help=f"Write the page here.  [default: {REPORT} in RUN; for several runs, here]",
)
@click.option("--no-html", is_flag=True, help="Print the summary only; write no page.")
@moved_web
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def report(
    runs: tuple[Path, ...], out: Path | None, no_html: bool, web: str | None, show: bool
) -> None:
    """Show what a run has found, or compare several.

    Print a summary and write one HTML file that loads nothing else: the harvest rate and what it
    means, every page with the reason for its choice, the most telling words, sites, curves,
    failures, the decision tree. The run may still be crawled, or have been killed.

    Example: tres report runs/biology --open
    """
    if no_html and (out or show):
        raise ConfigError("--no-html writes no page; leave out --out and --open")
    if web and len(runs) > 1:
        raise ConfigError("--web works with one run only; leave it out, or name one run")
    readers = [RunReader(run) for run in runs]
    compared = name_runs(readers)
    if len(readers) == 1:
        print_run(console(), readers[0])
    else:
        print_comparison(console(), compared)
    if no_html:
        return
    with messages().status("reading the pages again"):
        page = report_page(readers[0], web) if len(readers) == 1 else comparison_page(compared)
    path = out or (runs[0] / REPORT if len(runs) == 1 else Path(REPORT))
    _write(path, page)
    click.echo(f"report: {path}")
    if show:
        click.launch(str(path))


def _write(path: Path, page: str) -> None:
    try:
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise RunError(
            f"{path}: cannot be written ({error.strerror}); name another --out"
        ) from None
