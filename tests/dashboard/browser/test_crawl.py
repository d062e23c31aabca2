"""A running crawl, watched and steered in a real browser."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tres.offline.generated.generator import GeneratedWeb
from tres.store.journal import JOURNAL, Journal
from tres.store.judgements import read_judgements

SIZE = 4_000
PATIENCE = 60.0
"""Seconds that a busy machine may need for anything."""
JOB = 4_000 * PATIENCE
"""Milliseconds for what the dashboard has others do: they give way to all else on the machine."""


@pytest.fixture
def crawl(folder: Path) -> Iterator[Path]:
    """A crawl of a generated web in a process of its own; it has far to go."""
    web = GeneratedWeb(SIZE, 1)
    words, seeds = list(web.topics["astronomy"]), list(web.seeds("astronomy", 3))
    (folder / "topic.toml").write_text(
        f'name = "stars"\n[topic]\nkeywords = {words!r}\nseeds = {seeds!r}\n'
        f'[training]\nlabels = ["astronomy"]\n[crawl]\npages = {SIZE - 500}\n'.replace("'", '"')
    )
    run = folder / "runs" / "stars"
    web_name = f"generated:pages={SIZE},seed=1"
    command = ["crawl", "topic.toml", "--web", web_name, "--run", str(run)]
    with subprocess.Popen(
        [sys.executable, "-m", "tres", *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        yield run
        process.kill()


def number(page: Any, name: str) -> int:
    tile = page.locator(".tiles > div", has=page.get_by_text(name, exact=True))
    return int(tile.locator("dd").first.inner_text().replace(",", ""))


def steps(run: Path) -> int:
    with Journal.open(run / JOURNAL) as journal:
        return journal.steps()


def models(run: Path, expected: int, page: Any) -> int:
    """By how many models pages were judged; a crawl hears of a new one only now and then."""
    until = time.monotonic() + PATIENCE
    while True:
        with Journal.open(run / JOURNAL) as journal:
            found = len({segment.model for segment in journal.segments()})
        if found >= expected or time.monotonic() > until:
            return found
        page.wait_for_timeout(100)


@pytest.mark.slow
def test_a_crawl_is_shown_paused_taught_and_stopped(crawl: Path, address: str, page: Any) -> None:
    page.goto(address)
    page.get_by_role("link", name="stars").click()  # appears by itself when it has begun
    badge = page.locator(".title .badge")
    badge.get_by_text("crawling").wait_for()

    # the charts move
    page.wait_for_function("() => document.querySelectorAll('.page').length > 5")
    before = number(page, "pages")
    drawn = page.evaluate("() => document.querySelector('canvas').toDataURL()")
    page.wait_for_function(
        "before => +document.querySelector('.tiles dd').innerText.replace(',', '') > before + 10",
        arg=before,
    )
    page.wait_for_function(
        "drawn => document.querySelector('canvas').toDataURL() !== drawn", arg=drawn
    )

    # pause: nothing more is fetched
    page.get_by_role("button", name="Pause").click()
    badge.get_by_text("paused").wait_for()
    paused_at = steps(crawl)
    page.wait_for_timeout(1_500)
    assert steps(crawl) == paused_at

    # a judgement, and what the model learns from it
    page.get_by_role("button", name="not", exact=True).first.click()
    page.locator(".no[aria-pressed=true]:not([aria-busy])").first.wait_for()  # it is kept
    page.get_by_role("button", name="relevant", exact=True).nth(1).click()
    page.locator(".yes[aria-pressed=true]:not([aria-busy])").first.wait_for()
    assert sorted(read_judgements(crawl).values()) == [False, True]
    page.get_by_role("button", name="Teach the model").click()
    page.get_by_text("the crawl uses it").wait_for(timeout=JOB)
    assert models(crawl, 2, page) == 2

    # what waits, and a site that is not wanted
    page.get_by_text("What waits in the frontier").click()
    page.get_by_text("As of page").wait_for(timeout=JOB)
    block = page.locator("td button").first
    site = str(block.get_attribute("aria-label")).removeprefix("Block ")
    block.click()
    page.get_by_role("dialog").get_by_role("button", name="Block", exact=True).click()
    page.get_by_text(f"fetch nothing more from {site}").wait_for()

    # go on, with a larger budget
    page.get_by_role("button", name="Continue").click()
    badge.get_by_text("crawling").wait_for()
    page.get_by_role("button", name="Budget …").click()
    page.get_by_label("Pages", exact=True).fill("3700")
    page.keyboard.press("Enter")
    page.get_by_text("of 3,700").first.wait_for()
    assert steps(crawl) > paused_at

    # stop, with a way back out of the question
    page.get_by_role("button", name="Stop …").click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop …").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop", exact=True).click()
    badge.get_by_text("stopped").wait_for()
    page.get_by_text("it was interrupted").wait_for()
    stopped_at = steps(crawl)

    # and go on as a process of its own, to its end
    page.get_by_role("button", name="Resume …").click()
    page.get_by_label("Pages", exact=True).fill(str(stopped_at + 5))
    page.keyboard.press("Enter")
    badge.get_by_text("finished").wait_for()
    assert steps(crawl) == stopped_at + 5
