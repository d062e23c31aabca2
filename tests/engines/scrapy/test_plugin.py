"""The example project: somebody's own spider, items and pipeline, led by tres."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.settings import Settings
from tests.support.local_web import Answer, GuardedWeb, LocalWeb, html, moved

from tres.errors import ConfigError
from tres.relevance.positive_unlabelled import next_refit
from tres.scrapy_plugin import TresScheduler
from tres.store.journal import JOURNAL, Journal

FIRST = next_refit(0) or 0
EXAMPLE = Path(__file__).parents[3] / "examples" / "scrapy-project"


def url(i: int) -> str:
    return f"http://site{i % 4}.example/page/{i}"


def bees_and_others(pages: int = 40) -> dict[str, Any]:
    web: dict[str, Any] = {f"http://site{i}.example/": html("Home", "welcome") for i in range(4)}
    for i in range(pages):
        about = f"The bee and its hive give honey number {i}, nectar and pollen, from a swarm"
        other = f"The price of share number {i} and the interest of a bond rise at the station"
        links = [url((3 * i + j) % (pages + 3)) for j in (1, 2, 3)]
        web[url(i)] = html(f"Page {i}", (about if i % 2 == 0 else other) * 3, links)
    web[url(7)] = moved(url(8))
    web[url(5)] = Answer("no", status=500)
    return web


@pytest.fixture
def project(tmp_path: Path) -> Path:
    copy = tmp_path / "project"
    shutil.copytree(EXAMPLE, copy)
    return copy


def scrapy(project: Path, web: LocalWeb, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "pages", *arguments],
        cwd=project,
        env={**os.environ, "http_proxy": web.proxy},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.slow
def test_the_example_project_crawls_with_the_plug_in(project: Path) -> None:
    topic = project / "topic.toml"
    topic.write_text(topic.read_text().replace("delay = 1.0", "delay = 0.0\nthrottle = false"))
    arguments = ["-a", f"seed={url(0)}", "-O", "items.jsonl", "-s", "TRES_PAGES=20"]
    with LocalWeb(bees_and_others()) as web:
        ended = scrapy(project, web, *arguments, "-s", "RETRY_TIMES=0")
    assert ended.returncode == 0, ended.stderr
    summary = json.loads((project / "run" / "summary.json").read_text())
    assert (summary["pages"], summary["stopped"]) == (20, "budget"), ended.stderr
    assert summary["relevant"] > 5
    items = [json.loads(line) for line in (project / "items.jsonl").read_text().splitlines()]
    assert len(items) == summary["relevant"]  # the project's pipeline has dropped the others
    assert {item["url"] for item in items} <= set(web.urls)
    assert all(item["relevance"] >= 0.5 for item in items)
    homes = [asked for asked in web.urls if asked.endswith(".example/")]
    assert 0 < len(homes) == len(set(homes))  # the spider's own requests, each once
    assert "'tres/pages': 20" in ended.stderr
    assert f"'home_pages': {len(homes)}" in ended.stderr
    assert "closed (budget)" in ended.stderr


@pytest.mark.slow
def test_a_topic_without_examples_is_learnt_while_the_spider_goes_on(project: Path) -> None:
    topic, run = project / "topic.toml", project / "run"
    text = topic.read_text().replace("delay = 1.0", "delay = 0.0\nthrottle = false")
    topic.write_text(text.replace("positives", "#").replace("negatives", "#"))
    arguments = ["-a", f"seed={url(0)}", "-O", "items.jsonl", "-s", "RETRY_TIMES=0"]

    def guard(number: int) -> None:
        """Nothing more comes after the first lesson until it is learnt."""
        if number > FIRST and steps(run) >= FIRST:
            wait_for(lambda: len(models(run)) > 1)

    with GuardedWeb(bees_and_others(100), guard) as web:
        ended = scrapy(project, web, *arguments, "-s", f"TRES_PAGES={FIRST + 12}")
        first = len(models(run))
        again = scrapy(project, web, *arguments, "-s", f"TRES_PAGES={FIRST + 20}")
    assert (ended.returncode, again.returncode) == (0, 0), ended.stderr + again.stderr
    assert first > 1, ended.stderr
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["pages"], summary["stopped"]) == (FIRST + 20, "budget"), again.stderr
    with Journal.open(run / JOURNAL) as journal:
        fetched = [row["url"] for row in journal.pages()]
        assert list(journal.page_texts()) == fetched
    assert len(fetched) == len(set(fetched))
    items = [json.loads(line) for line in (project / "items.jsonl").read_text().splitlines()]
    assert items
    assert all(int(item["url"].rpartition("/")[2]) % 2 == 0 for item in items)


def steps(run: Path) -> int:
    with Journal.open(run / JOURNAL) as journal:
        return journal.steps()


def models(run: Path) -> set[str]:
    """The models that have judged pages so far."""
    with Journal.open(run / JOURNAL) as journal:
        return {begin.model for begin in journal.segments()}


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60.0
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keywords": "keyword"}, "did you mean topic.keywords?"),
        ({"keywords": "#"}, "name some words that pages about the topic use, or say in"),
        ({"positives": 'model = "auto"\n#', "negatives": "#"}, "a crawl needs a seed"),
        ({"positives": 'labels = ["Bees"]\n#', "negatives": "#"}, "the live Web has no labels"),
    ],
)
def test_errors_in_the_topic_file_are_reported(
    project: Path, changes: dict[str, str], message: str
) -> None:
    topic = project / "topic.toml"
    for old, new in changes.items():
        topic.write_text(topic.read_text().replace(old, new))
    settings = Settings({"TRES_TOPIC": str(topic), "TRES_RUN": str(project / "run")})
    crawler: Any = SimpleNamespace(settings=settings, spider=SimpleNamespace(), crawling=True)
    with pytest.raises(ConfigError, match=message):
        TresScheduler.from_crawler(crawler)
    assert not (project / "run").exists()


def test_topic_and_run_must_be_set() -> None:
    crawler: Any = SimpleNamespace(settings=Settings(), spider=SimpleNamespace(), crawling=True)
    with pytest.raises(ConfigError, match="TRES_TOPIC or TRES_RUN is missing"):
        TresScheduler.from_crawler(crawler)
