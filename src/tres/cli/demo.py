"""`tres demo`: a live crawl that learns, on a generated web served on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from tres.cli.console import console, messages
from tres.cli.options import PATH
from tres.cli.progress import CrawlProgress
from tres.numbers import format_count
from tres.offline.generated.generator import GeneratedWeb
from tres.offline.serving import serving_process
from tres.settings.sections import CrawlSection, LiveSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig

COMPARED: tuple[str, ...] = ("tres", "random")
SEEDS = 5


@click.command()
@click.option("--pages", default=1000, show_default=True, metavar="N", help="Fetch N pages.")
@click.option("--size", default=20_000, show_default=True, metavar="N", help="Generate N pages.")
@click.option("--seed", default=1, show_default=True, metavar="N", help="Seed for all randomness.")
@click.option(
    *("--run", "directory"),
    type=PATH,
    metavar="DIR",
    help="Keep the runs here.  [default: delete them]",
)
def demo(pages: int, size: int, seed: int, directory: Path | None) -> None:
    """Watch tres learn on a generated web.

    Serve the web over HTTP on this machine, as many hosts, and crawl it twice: with tres, which
    learns the topic from keywords and a few seeds, and at random. A generated web shows how tres
    works, not how well it does on the real one.

    Example: tres demo --run runs/demo
    """
    web = GeneratedWeb(size, seed)
    with (
        _directory(directory) as where,
        serving_process(f"generated:pages={size},seed={seed}") as proxy,
    ):
        topic, config = _topic(web, pages, seed, proxy)
        click.echo(_introduction(web, topic, config))
        results = _crawls(config, where, messages())
    console().print(_table(results))
    click.echo(_conclusion(results))
    if directory is not None:
        click.echo(_next_commands(directory / COMPARED[0]))


@contextmanager
def _directory(directory: Path | None) -> Iterator[Path]:
    with TemporaryDirectory() as scratch:
        yield directory or Path(scratch)


def _crawls(config: TopicConfig, where: Path, screen: Console) -> dict[str, dict[str, Any]]:
    """Run one live crawl per policy; the second judges by the model that the first has learnt."""
    from tres.engines.scrapy.live_loop import LiveLoop
    from tres.runs.live_components import in_live_loop
    from tres.runs.live_run import live_run
    from tres.store.model_versions import MODEL

    async def main(loop: LiveLoop) -> dict[str, dict[str, Any]]:
        results: dict[str, dict[str, Any]] = {}
        for policy in COMPARED:
            learnt = where / COMPARED[0] / MODEL if results else None
            plan = config.override(policy=policy, load=learnt)
            with CrawlProgress(screen, policy, config.crawl.pages) as line:
                run = await live_run(loop, plan, where / policy, line, True)
            results[policy] = run.summary
        return results

    return in_live_loop(main)


def _topic(web: GeneratedWeb, pages: int, seed: int, proxy: str) -> tuple[str, TopicConfig]:
    topic, keywords = next(iter(web.topics.items()))
    return topic, TopicConfig(
        name=f"demo-{topic}",
        topic=TopicSection(keywords=keywords, seeds=tuple(web.seeds(topic, SEEDS))),
        training=TrainingSection(),
        crawl=CrawlSection(pages=pages, seed=seed, in_flight=8),
        live=LiveSection(proxy=proxy, contact="demo@localhost", delay=0.0),
    )


def _introduction(web: GeneratedWeb, topic: str, config: TopicConfig) -> str:
    return (
        f"A generated web of {len(web):,} pages on {web.sites:,} hosts, served by "
        f"{config.live.proxy}.\n"
        f"The topic is {topic}: {', '.join(config.topic.keywords[:5])}, ...\n"
        f"Nothing is labelled: tres starts from these words and {SEEDS} seeds, and learns from "
        f"what it finds.\nTwo crawls fetch {format_count(config.crawl.pages, 'page')} each.\n"
    )


def _table(results: dict[str, dict[str, Any]]) -> Table:
    table = Table("", *results, box=box.SIMPLE_HEAD)
    for column in table.columns[1:]:
        column.justify = "right"
    for label, key, form in (
        ("pages fetched", "pages", "{:,}"),
        ("relevant pages", "relevant", "{:,}"),
        ("harvest rate (relevant / fetched)", "harvest_rate", "{:.1%}"),
        ("web sites with relevant pages", "relevant_sites", "{:,}"),
        ("links waiting at the end", "frontier", "{:,}"),
        ("leaves of the decision tree", "leaves", "{:,}"),
        ("seconds", "seconds", "{:.1f}"),
    ):
        table.add_row(label, *(form.format(summary[key]) for summary in results.values()))
    return table


def _conclusion(results: dict[str, dict[str, Any]]) -> str:
    learnt, blind = (results[name] for name in COMPARED)
    ratio = learnt["relevant"] / max(1, blind["relevant"])
    return (
        f"With the same {learnt['pages']:,} fetches tres found {ratio:.1f} times as many "
        f"relevant pages as random choice."
    )


def _next_commands(run: Path) -> str:
    return (
        f"\nHow it went:           tres report {run} --open\n"
        f"The rules it learnt:   tres tree {run}\n"
        f"Its pages:             tres export {run} --to jsonl --relevant --out pages.jsonl"
    )
