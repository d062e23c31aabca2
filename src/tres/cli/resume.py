"""`tres resume`: continue a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console

from tres.cli.completions import runs
from tres.cli.console import messages
from tres.cli.crawl import (
    LOG_JSON,
    crawl_web,
    open_log,
    progress_of,
    report,
    report_stop,
    show_warnings,
)
from tres.cli.json_log import JsonLog
from tres.engines.stop_signals import interrupt_sessions
from tres.errors import printable
from tres.offline import open_web
from tres.runs.offline_run import resume_offline
from tres.runs.open_run import LIVE, Result
from tres.runs.resume_run import Resumable, resumable
from tres.settings.topic_file import load_topic
from tres.store.run_directory import config_of, is_exploring


class Budget(NamedTuple):
    """New budgets of a crawl; None keeps the old one."""

    pages: int | None
    requests: int | None


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option("--pages", type=int, metavar="N", help="Fetch N pages in all.")
@click.option("--requests", type=int, metavar="N", help="Make at most N requests in all.")
@click.option("--web", metavar="WEB", help="Crawl this web, if it has moved.")
@click.option("--proxy", metavar="URL", help="Live: send every request to this HTTP proxy.")
@click.option("--log-json", is_flag=True, help=LOG_JSON)
def resume(
    run: Path,
    pages: int | None,
    requests: int | None,
    web: str | None,
    proxy: str | None,
    log_json: bool,
) -> None:
    """Continue a run, however it ended.

    The crawl continues where its journal ends, with what it has learnt from `tres label`.

    Example: tres resume runs/biology --pages 1200
    """
    with open_log(log_json) as log:
        if is_exploring(run):
            _resume_exploration(run, Budget(pages, requests), proxy, log)
            return
        found = resumable(run, pages)
        spec = web or found.meta.web
        if log is not None:
            log.started(found.config, run, spec or LIVE, resumed=True)
        screen = messages(quiet=log_json)
        with report_stop(run, log), show_warnings(log):
            if spec:
                result = _resume_archive(spec, found, run, Budget(pages, requests), screen, log)
            else:
                result = _resume_live(found, run, Budget(pages, requests), proxy, screen, log)
        report(result, run, log)


def _resume_exploration(run: Path, budget: Budget, proxy: str | None, log: JsonLog | None) -> None:
    """Continue a run that was stopped while it learnt its topic."""
    config = load_topic(config_of(run)).override(proxy=proxy, **budget._asdict())
    if log is not None:
        log.started(config, run, LIVE, resumed=True)
    with report_stop(run, log), show_warnings(log):
        result = crawl_web(config, run, messages(quiet=log is not None), False, log)
    report(result, run, log)


def _resume_archive(
    spec: str,
    found: Resumable,
    run: Path,
    budget: Budget,
    screen: Console,
    log: JsonLog | None,
) -> Result:
    with screen.status(f"opening {printable(spec)}"):
        opened = open_web(spec)
    with progress_of(screen, found.config, log) as progress, interrupt_sessions() as started:
        progress.replaying(found.steps)
        return resume_offline(
            run, opened, budget.pages, progress, started, requests=budget.requests
        )


def _resume_live(
    found: Resumable,
    run: Path,
    budget: Budget,
    proxy: str | None,
    screen: Console,
    log: JsonLog | None,
) -> Result:
    from tres.runs.live_run import resume_live

    with progress_of(screen, found.config, log, every=1) as progress:
        progress.replaying(found.steps)
        return resume_live(run, budget.pages, progress, requests=budget.requests, proxy=proxy)
