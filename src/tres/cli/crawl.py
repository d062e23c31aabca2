"""`tres crawl`: crawl a web for a topic."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from tres.cli.completions import one_of, topic_files
from tres.cli.console import messages
from tres.cli.json_log import JsonLog
from tres.cli.progress import CrawlProgress
from tres.crawl.events import StopReason
from tres.engines.network.open_files import OpenFilesWarning
from tres.engines.replay import PerceivedWeb
from tres.engines.stop_signals import interrupt_sessions
from tres.errors import printable
from tres.offline import open_web
from tres.policies.registry import with_loaded_policy
from tres.runs.offline_run import crawl_offline
from tres.runs.open_run import LIVE, Result
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.policy_names import POLICIES, policy_names
from tres.settings.topic_file import FEATURES, TopicConfig, load_topic
from tres.store.journal import JOURNAL
from tres.store.recovery import RewoundWarning
from tres.store.resume_hints import command_to_resume
from tres.store.run_directory import is_exploring
from tres.store.snapshot_files import SnapshotWarning


class PolicyOption(click.Option):
    """Lists the policies of installed packages too, looked up when help is asked for."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        installed = [name for name in policy_names() if name not in POLICIES]
        if record is None or not installed:
            return record
        return record[0], f"{record[1]} Installed here: {', '.join(installed)}."


LOG_JSON = "Tell the crawl as JSON, a line per event, on standard error."


@click.command()
@click.argument("topic", type=click.Path(path_type=Path), shell_complete=topic_files)
@click.option(
    "--web", metavar="WEB", help="An archive (.jsonl, .warc, either .gz) or generated:..."
)
@click.option(
    "--run",
    "directory",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to write the run.  [default: runs/NAME-POLICY-SEED]",
)
@click.option("--pages", type=int, metavar="N", help="Pages to fetch.")
@click.option("--requests", type=int, metavar="N", help="URLs to ask for, dead links and all.")
@click.option("--seed", type=int, metavar="N", help="Seed of all randomness.")
@click.option(
    "--policy",
    cls=PolicyOption,
    metavar="NAME",
    help=f"One of {', '.join(POLICIES)}, or package.module:Name.",
    shell_complete=one_of(policy_names),
)
@click.option(
    "--features",
    metavar="NAME",
    help=f"One of auto, {', '.join(FEATURES)}.",
    shell_complete=one_of(("auto", *FEATURES)),
)
@click.option("--max-per-site", metavar="CAP", help='"inf", a number, or falling as in "5..2".')
@click.option("--seed-url", multiple=True, metavar="URL", help="Start here instead; repeatable.")
@click.option(
    "--concurrency", "in_flight", type=int, metavar="K", help="Pages fetched at the same time."
)
@click.option("--contact", metavar="WHO", help="Live: your web page or mail address.")
@click.option("--delay", type=float, metavar="S", help="Live: seconds between requests to a site.")
@click.option("--proxy", metavar="URL", help="Live: send every request to this HTTP proxy.")
@click.option("--overwrite", is_flag=True, help="Replace a run that is already in DIR.")
@click.option("--log-json", is_flag=True, help=LOG_JSON)
def crawl(
    topic: Path,
    web: str | None,
    directory: Path | None,
    overwrite: bool,
    log_json: bool,
    **options: Any,
) -> None:
    """Crawl for the topic described in the file TOPIC.

    It crawls the live Web, or with --web an archive or a generated web. Options replace what the
    topic file says.

    \b
    Examples: tres crawl biology.toml --contact me@example.org --concurrency 8
              tres crawl biology.toml --web encyclopedia.jsonl.gz --pages 600
    """
    with told_as(log_json) as log:
        config = load_topic(topic).override(seeds=options.pop("seed_url") or None, **options)
        config = with_loaded_policy(config)  # an error shows before a model is trained
        directory = directory or default_directory(config)
        if log is not None:
            log.started(config, directory, web or LIVE, resumed=False)
        screen = messages(quiet=log_json)
        with told_when_stopped(directory, log), remarks(log):
            if web is None:
                result = crawl_web(config, directory, screen, overwrite, log)
            else:
                seen = see(config, web, screen)
                result = crawl_with_progress(config, seen, directory, screen, overwrite, log)
        report(result, directory, log)


def told_as(log_json: bool) -> AbstractContextManager[JsonLog | None]:
    """The log to tell a crawl to, if it is to be told as lines and not as a progress line."""
    return JsonLog() if log_json else nullcontext()


@contextmanager
def remarks(log: JsonLog | None) -> Iterator[None]:
    """A warning is one line, like any other message."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        click.echo(f"tres: {message}", err=True)

    with warnings.catch_warnings():
        for kind in (OpenFilesWarning, RewoundWarning, SnapshotWarning):
            warnings.simplefilter("always", kind)
        warnings.showwarning = show if log is None else log.warned
        yield


def watching(
    screen: Console, config: TopicConfig, log: JsonLog | None, every: int = CrawlProgress.EVERY
) -> AbstractContextManager[CrawlProgress | JsonLog]:
    """Whoever is told of the events of a crawl."""
    if log is not None:
        return nullcontext(log)
    return CrawlProgress(screen, config.crawl.policy, config.crawl.pages, every)


def crawl_web(
    config: TopicConfig, directory: Path, screen: Console, overwrite: bool, log: JsonLog | None
) -> Result:
    """Crawl the live Web under a progress line; the engine itself takes care of signals."""
    from tres.runs.live_run import crawl_live

    with watching(screen, config, log, every=1) as watch:
        return crawl_live(config, directory, watch, overwrite, watch.explored)


def see(config: TopicConfig, web: str, screen: Console) -> PerceivedWeb:
    """Open a web and learn the topic."""
    with screen.status(f"opening {printable(web)}"):
        opened = open_web(web)
    with screen.status(f"learning the topic {printable(config.name)}"):
        return PerceivedWeb(opened, perceive_topic(config, opened))


def crawl_with_progress(
    config: TopicConfig,
    seen: PerceivedWeb,
    directory: Path,
    screen: Console,
    overwrite: bool,
    log: JsonLog | None,
) -> Result:
    """Crawl under a progress line; a signal ends the crawl, not the program."""
    with watching(screen, config, log) as watch, interrupt_sessions() as started:
        return crawl_offline(config, seen, directory, watch, overwrite, started)


def default_directory(config: TopicConfig) -> Path:
    """runs/NAME-POLICY-SEED, with names that are harmless in a file name."""
    parts = config.name, config.crawl.policy
    name, policy = ("".join(c if c.isalnum() else "-" for c in part) for part in parts)
    return Path("runs") / f"{name}-{policy}-{config.crawl.seed}"


def report(result: Result, directory: Path, log: JsonLog | None) -> None:
    """What was found, why it ended, and where to look."""
    if log is not None:
        log.finished(result, directory)
    summary = result.summary
    click.echo(
        f"{summary['pages']:,} pages, {summary['relevant']:,} relevant "
        f"({summary['harvest_rate']:.1%}) on {summary['relevant_sites']:,} sites, "
        f"in {result.seconds:.1f} s"
    )
    if summary["failures"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary["failures"].items())
        click.echo(f"failed: {kinds}")
    click.echo(f"stopped: {result.stopped}")
    click.echo(f"run: {directory}")
    again = printable(command_to_resume(directory))
    if result.stopped is StopReason.SITES_DOWN:
        click.echo(f"the sites of all {summary['frontier']:,} links left must rest")
        click.echo(f"go on later: {again}")
    elif result.stopped is StopReason.INTERRUPTED:
        click.echo(f"go on: {again}")
    elif result.stopped is StopReason.REQUESTS:
        click.echo(f"go on: {again} --requests {2 * summary['requests']}")
    elif result.stopped is StopReason.BUDGET:
        click.echo(f"go on: {again} --pages {2 * summary['budget']}")


@contextmanager
def told_when_stopped(directory: Path, log: JsonLog | None = None) -> Iterator[None]:
    """A crawl that a second signal stops at once has no result to tell, but it can go on."""
    try:
        yield
    except KeyboardInterrupt:
        if log is not None:
            log.stopped_at_once(directory)
        elif (directory / JOURNAL).exists() or is_exploring(directory):
            again = printable(command_to_resume(directory))
            click.echo(f"stopped at once; what was fetched is kept\ngo on: {again}", err=True)
        else:
            click.echo("stopped at once, before the crawl began", err=True)
        raise click.exceptions.Exit(1) from None
