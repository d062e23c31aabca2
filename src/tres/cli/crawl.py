"""`tres crawl`: crawl a web for a topic."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from tres.cli.console import file_name, messages
from tres.cli.json_log import JsonLog
from tres.cli.options import PATH, log_json_option, one_of, topic_argument
from tres.cli.progress import CrawlProgress
from tres.crawl.events import StopReason
from tres.engines.network.open_files import OpenFilesWarning
from tres.engines.replay import PerceivedWeb
from tres.engines.stop_signals import interrupt_sessions
from tres.errors import printable
from tres.numbers import format_count, format_rate
from tres.offline import open_web
from tres.policies.registry import with_loaded_code
from tres.runs.offline_run import crawl_offline
from tres.runs.open_run import LIVE, Result
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.policy_names import POLICIES, POLICY_NAMES
from tres.settings.sections import FEATURES
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.journal import JOURNAL
from tres.store.run_directory import command_to_resume
from tres.store.session_rebuild import RewoundWarning
from tres.store.snapshot_files import SnapshotWarning


class PolicyOption(click.Option):
    """Lists the policies of installed packages too, looked up when help is asked for."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        installed = [name for name in POLICY_NAMES.names() if name not in POLICIES]
        if record is None or not installed:
            return record
        return record[0], f"{record[1]} Installed here: {', '.join(installed)}."


@click.command()
@topic_argument("topic")
@click.option(
    "--web", metavar="WEB", help="Crawl this archive (.jsonl, .warc, .gz) or generated:..."
)
@click.option(
    *("--run", "directory"),
    type=PATH,
    metavar="DIR",
    help="Write the run here.  [default: runs/NAME-POLICY-SEED]",
)
@click.option("--pages", type=int, metavar="N", help="Fetch N pages.")
@click.option("--requests", type=int, metavar="N", help="Make at most N requests.")
@click.option("--seed", type=int, metavar="N", help="Seed for all randomness.")
@click.option(
    "--policy",
    cls=PolicyOption,
    metavar="NAME",
    help=f"Policy: {', '.join(POLICIES)}, or package.module:Name.",
    shell_complete=one_of(POLICY_NAMES.names),
)
@click.option(
    "--features",
    metavar="NAME",
    help=f"Feature set: auto, {', '.join(FEATURES)}.",
    shell_complete=one_of(("auto", *FEATURES)),
)
@click.option(
    "--max-per-site", metavar="CAP", help='Cap on pages per site: "inf", a number, or "5..2".'
)
@click.option("--seed-url", multiple=True, metavar="URL", help="Start here instead; repeatable.")
@click.option("--concurrency", "in_flight", type=int, metavar="K", help="Fetch K pages at once.")
@click.option("--contact", metavar="WHO", help="Live: your web page or mail address.")
@click.option("--delay", type=float, metavar="S", help="Live: seconds between requests to a site.")
@click.option("--proxy", metavar="URL", help="Live: send every request to this HTTP proxy.")
@click.option("--overwrite", is_flag=True, help="Replace a run that is already in DIR.")
@log_json_option
def crawl(
    topic: Path,
    web: str | None,
    directory: Path | None,
    overwrite: bool,
    log_json: bool,
    **options: Any,
) -> None:
    """Crawl for the topic described in the file TOPIC.

    Crawl the live Web, or with --web an archive or a generated web. Options override the topic
    file.

    \b
    Examples: tres crawl biology.toml --contact me@example.org --concurrency 8
              tres crawl biology.toml --web encyclopedia.jsonl.gz --pages 600
    """
    with open_log(log_json) as log:
        config = load_topic(topic).override(seeds=options.pop("seed_url") or None, **options)
        config = with_loaded_code(config)  # an error shows before a web is opened
        directory = directory or default_directory(config)
        if log is not None:
            log.started(config, directory, web or LIVE, resumed=False)
        screen = messages(quiet=log_json)
        with report_stop(directory, log), show_warnings(log):
            if web is None:
                result = crawl_web(config, directory, screen, overwrite, log)
            else:
                result = crawl_archive(config, web, directory, screen, overwrite, log)
        report(result, directory, log)


def open_log(log_json: bool) -> AbstractContextManager[JsonLog | None]:
    """Return the JSON log of a crawl; None if it has a progress line instead."""
    return JsonLog() if log_json else nullcontext()


@contextmanager
def show_warnings(log: JsonLog | None) -> Iterator[None]:
    """Show each warning as one line, like any other message."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        click.echo(f"tres: {message}", err=True)

    with warnings.catch_warnings():
        for kind in (OpenFilesWarning, RewoundWarning, SnapshotWarning):
            warnings.simplefilter("always", kind)
        warnings.showwarning = show if log is None else log.warned
        yield


def progress_of(
    screen: Console, config: TopicConfig, log: JsonLog | None, every: int = CrawlProgress.EVERY
) -> AbstractContextManager[CrawlProgress | JsonLog]:
    """Return the listener of a crawl: its JSON log or a progress line."""
    if log is not None:
        return nullcontext(log)
    return CrawlProgress(screen, config.crawl.policy, config.crawl.pages, every)


def crawl_web(
    config: TopicConfig, directory: Path, screen: Console, overwrite: bool, log: JsonLog | None
) -> Result:
    """Crawl the live Web; the engine itself handles signals."""
    from tres.runs.live_run import crawl_live

    with progress_of(screen, config, log, every=1) as progress:
        return crawl_live(config, directory, progress, overwrite)


def crawl_archive(
    config: TopicConfig,
    address: str,
    directory: Path,
    screen: Console,
    overwrite: bool,
    log: JsonLog | None,
) -> Result:
    """Crawl an offline web; a signal ends the crawl, not the program."""
    with screen.status(f"opening {printable(address)}"):
        web = open_web(address)
    with screen.status(f"learning the topic {printable(config.name)}"):
        perceived = PerceivedWeb(web, perceive_topic(config, web))
    with progress_of(screen, config, log) as progress, interrupt_sessions() as on_start:
        return crawl_offline(config, perceived, directory, progress, overwrite, on_start)


def default_directory(config: TopicConfig) -> Path:
    """Return runs/NAME-POLICY-SEED."""
    name, policy = file_name(config.name), file_name(config.crawl.policy)
    return Path("runs") / f"{name}-{policy}-{config.crawl.seed}"


def _relevant(summary: dict[str, Any]) -> str:
    """Return how many of the fetched pages are relevant, between commas."""
    if not summary["relevant"]:
        return ", none relevant," if summary["pages"] else ""
    sites = format_count(summary["relevant_sites"], "site")
    return (
        f", {summary['relevant']:,} relevant ({format_rate(summary['harvest_rate'])}) on {sites},"
    )


def report(result: Result, directory: Path, log: JsonLog | None) -> None:
    """Print what was found, why the crawl ended, and how to continue."""
    if log is not None:
        log.finished(result, directory)
    summary = result.summary
    pages = format_count(summary["pages"], "page")
    click.echo(f"{pages}{_relevant(summary)} in {result.seconds:.1f} s")
    if summary["failures"]:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary["failures"].items())
        click.echo(f"failed: {kinds}")
    click.echo(f"stopped: {result.stopped}")
    click.echo(f"run: {directory}")
    again = printable(command_to_resume(directory))
    if result.stopped is StopReason.SITES_DOWN:
        links = format_count(summary["frontier"], "link waits for a site", "links wait for sites")
        click.echo(f"{links} that must rest\ncontinue later: {again}")
    elif result.stopped is StopReason.INTERRUPTED:
        click.echo(f"continue: {again}")
    elif result.stopped is StopReason.REQUESTS:
        click.echo(f"continue: {again} --requests {2 * summary['requests']}")
    elif result.stopped is StopReason.BUDGET:
        click.echo(f"continue: {again} --pages {2 * summary['budget']}")


@contextmanager
def report_stop(directory: Path, log: JsonLog | None = None) -> Iterator[None]:
    """Say how to continue a crawl that a second signal stops at once."""
    try:
        yield
    except KeyboardInterrupt:
        if log is not None:
            log.stopped_at_once(directory)
        elif (directory / JOURNAL).exists():
            again = printable(command_to_resume(directory))
            click.echo(f"stopped at once; the pages fetched are kept\ncontinue: {again}", err=True)
        else:
            click.echo("stopped at once, before the crawl began", err=True)
        raise click.exceptions.Exit(1) from None
