"""`tres resume`: go on with a crawl that was stopped, or that has learnt something new."""

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
    remarks,
    report,
    told_as,
    told_when_stopped,
    watching,
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
    """What the crawl may cost in all; nothing is changed where nothing is given."""

    pages: int | None
    requests: int | None


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option("--pages", type=int, metavar="N", help="Pages to fetch in all, a new budget.")
@click.option("--requests", type=int, metavar="N", help="URLs to ask for in all, a new budget.")
@click.option("--web", metavar="WEB", help="The web, if it is no longer where it was.")
@click.option("--proxy", metavar="URL", help="Live: another HTTP proxy for the rest of it.")
@click.option("--log-json", is_flag=True, help=LOG_JSON)
def resume(
    run: Path,
    pages: int | None,
    requests: int | None,
    web: str | None,
    proxy: str | None,
    log_json: bool,
) -> None:
    """Go on with a run, however it has ended.

    Its journal is read up to where it was, and the crawl goes on from there.
    Judgements given with `tres label` count from then on.

    Example: tres resume runs/biology --pages 1200
    """
    with told_as(log_json) as log:
        if is_exploring(run):
            _explore_on(run, Budget(pages, requests), proxy, log)
            return
        found = resumable(run, pages)
        spec = web or found.meta.web
        if log is not None:
            log.started(found.config, run, spec or LIVE, resumed=True)
        screen = messages(quiet=log_json)
        with told_when_stopped(run, log), remarks(log):
            if spec:
                result = _over(spec, found, run, Budget(pages, requests), screen, log)
            else:
                result = _live(found, run, Budget(pages, requests), proxy, screen, log)
        report(result, run, log)


def _explore_on(run: Path, budget: Budget, proxy: str | None, log: JsonLog | None) -> None:
    """A run that was stopped while it learnt its topic begins where it was stopped."""
    config = load_topic(config_of(run)).override(proxy=proxy, **budget._asdict())
    if log is not None:
        log.started(config, run, LIVE, resumed=True)
    with told_when_stopped(run, log), remarks(log):
        result = crawl_web(config, run, messages(quiet=log is not None), False, log)
    report(result, run, log)


def _over(
    spec: str,
    found: Resumable,
    run: Path,
    budget: Budget,
    screen: Console,
    log: JsonLog | None,
) -> Result:
    with screen.status(f"opening {printable(spec)}"):
        opened = open_web(spec)
    with watching(screen, found.config, log) as watch, interrupt_sessions() as started:
        watch.replaying(found.steps)
        return resume_offline(run, opened, budget.pages, watch, started, requests=budget.requests)


def _live(
    found: Resumable,
    run: Path,
    budget: Budget,
    proxy: str | None,
    screen: Console,
    log: JsonLog | None,
) -> Result:
    from tres.runs.live_run import resume_live

    with watching(screen, found.config, log, every=1) as watch:
        watch.replaying(found.steps)
        return resume_live(run, budget.pages, watch, requests=budget.requests, proxy=proxy)
