"""`tres resume`: continue a crawl."""

from __future__ import annotations

from pathlib import Path

import click

from tres.cli.console import messages
from tres.cli.crawl import open_log, progress_of, report, report_stop, show_warnings
from tres.cli.json_log import JsonLog
from tres.cli.options import log_json_option, run_argument
from tres.cli.progress import CrawlProgress
from tres.engines.stop_signals import interrupt_sessions
from tres.offline import open_web
from tres.runs.offline_run import resume_offline
from tres.runs.open_run import LIVE, Result
from tres.runs.resume_run import resumable


@click.command()
@run_argument
@click.option("--pages", type=int, metavar="N", help="Fetch N pages in all.")
@click.option("--requests", type=int, metavar="N", help="Make at most N requests in all.")
@click.option("--web", metavar="WEB", help="Crawl this web, if it has moved.")
@click.option("--proxy", metavar="URL", help="Live: send every request to this HTTP proxy.")
@log_json_option
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
    screen = messages(quiet=log_json)
    with open_log(log_json) as log:
        config, meta, steps = resumable(run, pages)
        address = web or meta.web
        if log is not None:
            log.started(config, run, address or LIVE, resumed=True)
        every = CrawlProgress.EVERY if address else 1
        progressing = progress_of(screen, config, log, every)
        with report_stop(run, log), show_warnings(log), progressing as progress:
            progress.replaying(steps)
            result = _resume(run, address, pages, requests, proxy, progress)
        report(result, run, log)


def _resume(
    run: Path,
    address: str,
    pages: int | None,
    requests: int | None,
    proxy: str | None,
    progress: CrawlProgress | JsonLog,
) -> Result:
    """Resume over an offline web, or on the live Web, whose engine handles signals itself."""
    if address:
        web = open_web(address)
        with interrupt_sessions() as started:
            return resume_offline(run, web, pages, progress, started, requests=requests)
    from tres.runs.live_run import resume_live

    return resume_live(run, pages, progress, requests=requests, proxy=proxy)
