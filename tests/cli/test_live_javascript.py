"""A whole live crawl of a site whose pages are made by scripts, in a real browser."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.browser import need_chromium
from tests.support.local_web import Answer, LocalWeb

TOPIC = """
name = "bees"
[topic]
keywords = ["bee", "honey"]
seeds = ["http://app.example/0"]
[training]
positives = "bees"
negatives = "markets"
[crawl]
pages = 4
[live]
contact = "me@example.org"
delay = 0.0
timeout = 120.0
near_duplicates = false
javascript_detect = {detect}
"""


def app(i: int) -> Answer:
    """A page that is empty until its script has run."""
    script = (
        f"document.getElementById('root').innerHTML = '<h1>Bees {i}</h1><p>' + "
        f"'honey bee hive nectar queen swarm '.repeat(20) + '</p>"
        f'<a href="/{i + 1}">more bees</a>\';'
    )
    return Answer(f"<title>App {i}</title><body><div id=root></div><script>{script}</script>")


def crawled(tmp_path: Path, detect: str) -> list[dict[str, str]]:
    examples = (("bees", "honey bee hive nectar", 8), ("markets", "stock market price bond", 16))
    for name, words, count in examples:
        (tmp_path / name).mkdir()
        for i in range(count):
            (tmp_path / name / f"{i}.txt").write_text(f"{words} number {i}")
    (tmp_path / "topic.toml").write_text(TOPIC.format(detect=detect))
    web = {f"http://app.example/{i}": app(i) for i in range(6)}
    with LocalWeb(web) as served:
        command = [sys.executable, "-m", "tres", "crawl", str(tmp_path / "topic.toml")]
        options = ["--proxy", served.proxy, "--run", str(tmp_path / "run")]
        done = subprocess.run(
            [*command, *options], capture_output=True, text=True, check=False, timeout=300
        )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "run" / "pages.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_pages_made_by_scripts_are_read_and_followed(tmp_path: Path) -> None:
    need_chromium()
    pages = crawled(tmp_path, "true")
    assert [page["url"].rpartition("/")[2] for page in pages] == ["0", "1", "2", "3"]
    assert all(page["reward"] == "1" for page in pages)


@pytest.mark.slow
def test_without_a_browser_they_are_empty(tmp_path: Path) -> None:
    pages = crawled(tmp_path, "false")
    assert len(pages) == 1
    assert pages[0]["reward"] == "0"
