"""`tres resume`: go on with a crawl that was stopped, or that has learnt something new."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console

from tres.cli.crawl import report, stop_on_signal
from tres.cli.progress import CrawlProgress
from tres.cli.terminal import messages
from tres.config import TopicConfig
from tres.errors import printable
from tres.experiment.resume import resumable
from tres.experiment.resume import resume as resume_run
from tres.experiment.run import Result
from tres.webs import open_web


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--pages", type=int, metavar="N", help="Pages to fetch in all, a new budget.")
@click.option("--web", metavar="WEB", help="The web, if it is no longer where it was.")
def resume(run: Path, pages: int | None, web: str | None) -> None:
    """Go on with the crawl in the directory RUN.

    Its journal is read up to where it was, however it ended, and the crawl goes on from there.
    Judgements given with `tres label` count from then on.

    Example: tres resume runs/biology --pages 1200
    """
    config, meta = resumable(run, pages)
    screen = messages()
    spec = web or meta.web
    result = _over(spec, config, run, pages, screen) if spec else _live(config, run, pages, screen)
    report(result, run)


def _over(spec: str, config: TopicConfig, run: Path, pages: int | None, screen: Console) -> Result:
    with screen.status(f"opening {printable(spec)}"):
        opened = open_web(spec)
    with (
        CrawlProgress(screen, config.crawl.policy, config.crawl.pages) as progress,
        stop_on_signal() as started,
    ):
        return resume_run(run, opened, pages, progress, started)


def _live(config: TopicConfig, run: Path, pages: int | None, screen: Console) -> Result:
    from tres.experiment.live import resume_live

    with CrawlProgress(screen, config.crawl.policy, config.crawl.pages, every=1) as progress:
        return resume_live(run, pages, progress)
