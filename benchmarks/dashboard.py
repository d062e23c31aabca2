"""What a crawl loses when somebody watches it: alone, and with the dashboard open in a browser.

A crawl of a generated web runs at full speed in its own process, alternately alone and next to
`tres dashboard`, with Chromium on the page of the run and all charts in sight. Prints wall time and
processor time of the crawl, as medians, and what watching cost the machine. On a busy machine only
processor times mean anything.

    python benchmarks/dashboard.py --pages 3000 --rounds 5
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright

from tres.engines.browser.playwright_settings import find_chromium
from tres.offline.generated.generator import GeneratedWeb

TOPIC = "astronomy"


class Spent(NamedTuple):
    """Seconds of a crawl."""

    clock: float
    processor: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=3_000, help="pages to fetch")
    parser.add_argument("--size", type=int, default=20_000, help="pages of the web")
    parser.add_argument("--rounds", type=int, default=5, help="crawls of each kind")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_topic(folder, options.size, options.pages)
        pairs = list(rounds(folder, options.size, options.rounds))
    for kind in Spent._fields:
        alone, beside = (
            [getattr(spent, kind) for spent in crawls] for crawls in zip(*pairs, strict=True)
        )
        ratios = sorted(b / a for a, b in zip(alone, beside, strict=True))
        print(
            f"{kind:10} alone {median(alone):6.1f} s, watched {median(beside):6.1f} s, "
            f"ratio {median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})"
        )


def rounds(folder: Path, size: int, count: int) -> Iterator[tuple[Spent, Spent]]:
    """Run crawls alone and next to a dashboard, alternating which comes first."""
    for number in range(count):
        order = [crawl_alone, crawl_watched]
        spent = {}
        for crawl in order if number % 2 == 0 else reversed(order):
            spent[crawl] = crawl(folder, f"{crawl.__name__}-{number}", size)
        yield spent[crawl_alone], spent[crawl_watched]


def crawl_alone(folder: Path, name: str, size: int) -> Spent:
    return crawl(folder, name, size, lambda: None)


def crawl_watched(folder: Path, name: str, size: int) -> Spent:
    with dashboard(folder) as address, watching() as page:
        page.goto(address)
        spent = crawl(folder, name, size, lambda: page.goto(f"{address}#/run/{name}"))
        shown = page.locator(".tiles dd").first.inner_text()
        page.wait_for_function("() => document.querySelector('.badge').innerText === 'finished'")
        frames = page.evaluate("performance.getEntriesByType('resource').length")
        size_told = page.evaluate(
            "performance.getEntriesByType('resource').filter(one => one.name.includes('/api/'))"
            ".reduce((sum, one) => sum + one.transferSize, 0)"
        )
    print(f"{name}: {shown} pages seen, {frames} requests, {size_told / 1e3:.0f} kB told")
    return spent


def crawl(folder: Path, name: str, size: int, begun: Callable[[], object]) -> Spent:
    """Run a crawl from its first page to its last."""
    run, web = folder / "runs" / name, f"generated:pages={size},seed=1"
    command = ["crawl", "topic.toml", "--web", web, "--run", str(run)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tres", *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (run / "journal.db").exists():
        time.sleep(0.05)
    start = time.perf_counter()
    begun()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return Spent(time.perf_counter() - start, usage.ru_utime + usage.ru_stime)


@contextmanager
def dashboard(folder: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "tres", "dashboard", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("dashboard: ").strip()
        process.terminate()


@contextmanager
def watching() -> Iterator[Page]:
    with sync_playwright() as playwright:
        options = {"executable_path": str(find_chromium()), "args": ["--no-sandbox"]}
        browser = playwright.chromium.launch(**options)
        yield browser.new_page(viewport={"width": 1280, "height": 1400})
        browser.close()


def write_topic(folder: Path, size: int, pages: int) -> None:
    web = GeneratedWeb(size, 1)
    words, seeds = list(web.topics[TOPIC]), list(web.seeds(TOPIC, 3))
    (folder / "topic.toml").write_text(
        f"[topic]\nkeywords = {words!r}\nseeds = {seeds!r}\n"
        f"[training]\nlabels = [{TOPIC!r}]\n[crawl]\npages = {pages}\n".replace("'", '"')
    )


if __name__ == "__main__":
    main()
