"""`tres demo`: see a crawl learn, on a web that is made on the spot."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from rich import box
from rich.table import Table

from tres.cli.crawl import crawl_with_progress
from tres.cli.terminal import console, messages
from tres.config import TopicConfig
from tres.engines.replay import PerceivedWeb
from tres.experiment.topic import perceive_topic
from tres.sections import CrawlSection, PolicyName, TopicSection, TrainingSection
from tres.webs.generated import GeneratedWeb

COMPARED: tuple[PolicyName, ...] = ("tres", "random")


@click.command()
@click.option("--pages", default=1500, show_default=True, metavar="N", help="Pages to fetch.")
@click.option("--size", default=20_000, show_default=True, metavar="N", help="Pages of the web.")
@click.option("--seed", default=1, show_default=True, metavar="N", help="Seed of all randomness.")
@click.option(
    "--run",
    "directory",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep the runs here.  [default: they are thrown away]",
)
def demo(pages: int, size: int, seed: int, directory: Path | None) -> None:
    """Crawl a generated web with tres and at random, and compare.

    The web is made up, to show how tres works; it is no proof of how well it does.

    Example: tres demo --run runs/demo
    """
    screen = messages()
    web = GeneratedWeb(size, seed)
    topic, config = _topic(web, pages, seed)
    click.echo(_introduction(web, topic, config))
    with screen.status("learning the topic"):
        seen = PerceivedWeb(web, perceive_topic(config, web))
    with TemporaryDirectory() as scratch:
        where = directory or Path(scratch)
        results = {
            policy: crawl_with_progress(
                config.override(policy=policy), seen, where / policy, screen, overwrite=True
            ).summary
            for policy in COMPARED
        }
    console().print(_table(results))
    click.echo(_conclusion(results))
    if directory is not None:
        click.echo(f"\nLook at what it learnt: tres tree {directory / COMPARED[0]}")


def _topic(web: GeneratedWeb, pages: int, seed: int) -> tuple[str, TopicConfig]:
    topic, keywords = next(iter(web.topics.items()))
    return topic, TopicConfig(
        name=f"demo-{topic}",
        topic=TopicSection(keywords=keywords, seeds=tuple(web.seeds(topic, 3))),
        training=TrainingSection(labels=(topic,)),
        crawl=CrawlSection(pages=pages, seed=seed),
    )


def _introduction(web: GeneratedWeb, topic: str, config: TopicConfig) -> str:
    return (
        f"A made-up web of {len(web):,} pages. The topic is {topic}: "
        f"{', '.join(config.topic.keywords[:5])}, ...\n"
        f"Both crawlers start from the same {len(config.topic.seeds)} pages and may fetch "
        f"{config.crawl.pages:,}.\n"
    )


def _table(results: dict[PolicyName, dict[str, Any]]) -> Table:
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


def _conclusion(results: dict[PolicyName, dict[str, Any]]) -> str:
    learnt, blind = (results[name] for name in COMPARED)
    ratio = learnt["relevant"] / max(1, blind["relevant"])
    return (
        f"With the same {learnt['pages']:,} fetches tres found {ratio:.1f} times as many "
        f"relevant pages as random choice."
    )
