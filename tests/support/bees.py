"""A small web about bees, and about other things, in a file; and crawls of it.

Three sites are about bees (an apiary, a lexicon, a garden with some pages), one about trains.
The seed is a list of links, as people keep them.
"""

from __future__ import annotations

import json
from pathlib import Path

from tres.engines.replay import PerceivedWeb
from tres.offline import open_web
from tres.runs.offline_run import crawl_offline
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.sections import CrawlSection, LiveSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig

HOME = "http://apiary.example/"
BEES = "honey bees live in a hive where the queen lays eggs and workers carry nectar and pollen"
TRAINS = "the express train leaves the railway station while the locomotive waits at a signal"
FLOWERS = "roses and tulips need water and sun in a garden with good soil"


def lexicon(number: int) -> str:
    return f"http://lexicon.example/hive/{number}"


def garden(number: int) -> str:
    return f"http://garden.example/page/{number}"


def trains(number: int) -> str:
    return f"http://trains.example/line/{number}"


def write_bees(path: Path) -> Path:
    """The web as an archive."""
    pages = [_page(HOME, "Links of a beekeeper", BEES, True, _home_links())]
    for n in range(12):
        own = [(lexicon((n + 1) % 12), "next hive"), (lexicon((n + 5) % 12), "hive and honey")]
        other = [(trains(n), "by train"), (HOME, "the beekeeper")]
        pages.append(_page(lexicon(n), f"Hive lexicon {n}", f"{BEES} entry {n}", True, own + other))
        links = [(garden((n + 1) % 12), "next bed"), (lexicon(n), "the hive in the garden")]
        pages.append(_page(garden(n), f"Garden {n}", f"{FLOWERS} bed {n}", False, links))
        rails = [(trains((n + 1) % 12), "next stop"), (f"http://gone.example/{n}", "timetable")]
        pages.append(_page(trains(n), f"Line {n}", f"{TRAINS} stop {n}", False, rails))
    path.write_text("\n".join(json.dumps(page) for page in pages), encoding="utf-8")
    return path


def _home_links() -> list[tuple[str, str]]:
    return [
        (lexicon(0), "a lexicon of the hive"),
        (garden(0), "my garden"),
        (garden(1), "flowers"),
        (trains(0), "how to get here"),
    ]


def _page(
    url: str, title: str, text: str, bees: bool, links: list[tuple[str, str]]
) -> dict[str, object]:
    labels = ["Bees"] if bees else []
    return {"url": url, "title": title, "text": text, "links": links, "labels": labels}


def bees_config(**crawling: object) -> TopicConfig:
    """A topic for it; the settings are those of the crawl."""
    return TopicConfig(
        name="bees",
        topic=TopicSection(keywords=("hive", "honey"), seeds=(HOME,)),
        training=TrainingSection(labels=("Bees",), relevant=10, irrelevant=20),
        crawl=CrawlSection(**{"pages": 20, **crawling}),  # type: ignore[arg-type]
        live=LiveSection(),
    )


def crawl_bees(run: Path, archive: Path, config: TopicConfig) -> Path:
    """A whole crawl of the web; gives the directory of the run."""
    web = open_web(str(archive))
    crawl_offline(config, PerceivedWeb(web, perceive_topic(config, web)), run)
    return run
