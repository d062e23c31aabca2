"""`tres resume`: go on with a crawl that was stopped, or that has learnt something new."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console

from tres.cli.completing import runs
from tres.cli.crawl import report, stop_on_signal, told_when_stopped
from tres.cli.progress import CrawlProgress
from tres.cli.terminal import messages
from tres.config import TopicConfig
from tres.errors import printable
from tres.experiment.resume import resumable
from tres.experiment.resume import resume as resume_run
from tres.experiment.run import Result
from tres.store.snapshots import SnapshotWarning
from tres.webs import open_web


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option("--pages", type=int, metavar="N", help="Pages to fetch in all, a new budget.")
@click.option("--web", metavar="WEB", help="The web, if it is no longer where it was.")
@click.option("--proxy", metavar="URL", help="Live: another HTTP proxy for the rest of it.")
def resume(run: Path, pages: int | None, web: str | None, proxy: str | None) -> None:
    """Go on with a run, however it has ended.

    Its journal is read up to where it was, and the crawl goes on from there.
    Judgements given with `tres label` count from then on.

    Example: tres resume runs/biology --pages 1200
    """
    config, meta = resumable(run, pages)
    screen = messages()
    spec = web or meta.web
    with told_when_stopped(run):
        if spec:
            result = _over(spec, config, run, pages, screen)
        else:
            result = _live(config, run, pages, proxy, screen)
    report(result, run)


def _over(spec: str, config: TopicConfig, run: Path, pages: int | None, screen: Console) -> Result:
    with screen.status(f"opening {printable(spec)}"):
        opened = open_web(spec)
    with (
        remarks(),
        CrawlProgress(screen, config.crawl.policy, config.crawl.pages) as progress,
        stop_on_signal() as started,
    ):
        return resume_run(run, opened, pages, progress, started)


def _live(
    config: TopicConfig, run: Path, pages: int | None, proxy: str | None, screen: Console
) -> Result:
    from tres.experiment.live import resume_live

    title = config.crawl.policy
    with remarks(), CrawlProgress(screen, title, config.crawl.pages, every=1) as progress:
        return resume_live(run, pages, progress, proxy=proxy)


@contextmanager
def remarks() -> Iterator[None]:
    """A warning is one line, like any other message."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        click.echo(f"tres: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", SnapshotWarning)
        warnings.showwarning = show
        yield
