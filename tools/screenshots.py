"""Take the pictures of report and dashboard for the documentation, from a demo.

    python -m tools.screenshots [DIR]

DIR holds the runs of an earlier `tres demo --run DIR`, to save the crawl.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from click.testing import CliRunner
from playwright.sync_api import Browser, Page, sync_playwright

from tools.pictures import PICTURES
from tres.cli.demo import demo
from tres.engines.browser.playwright_settings import find_chromium
from tres.report.compare import comparison_page, name_runs
from tres.report.report_page import report_page
from tres.report.run_reader import RunReader

WIDE, NARROW, PAPER = (1000, 860), (360, 760), (720, 1018)
LEARNT = "what-the-model-has-learnt"


def main() -> None:
    """Crawl, unless a demo is given, and take all pictures."""
    with TemporaryDirectory() as scratch:
        runs = Path(sys.argv[1]) if sys.argv[1:] else crawled(Path(scratch) / "demo")
        readers = [RunReader(runs / name) for name in ("tres", "random")]
        report = written(Path(scratch) / "report.html", report_page(readers[0]))
        comparison = written(Path(scratch) / "comparison.html", comparison_page(name_runs(readers)))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=find_chromium(), args=["--no-sandbox"]
            )
            taken(browser, "report-light", report, WIDE)
            taken(browser, "report-dark", report, WIDE, section=LEARNT, color_scheme="dark")
            taken(browser, "report-narrow", report, NARROW)
            taken(browser, "report-print", report, PAPER, media="print", bypass_csp=True)
            taken(browser, "report-comparison", comparison, WIDE)
            with dashboard(Path(scratch), runs) as address:
                dashboard_taken(browser, address)
            browser.close()


def crawled(directory: Path) -> Path:
    """Run a demo and return the directory of its runs."""
    CliRunner().invoke(demo, ["--run", str(directory)], catch_exceptions=False)
    return directory


def written(file: Path, page: str) -> Path:
    """Write a page to a file."""
    file.write_text(page, encoding="utf-8")
    return file


@contextmanager
def dashboard(folder: Path, runs: Path) -> Iterator[str]:
    """Serve the dashboard for these runs; yield its address."""
    (folder / "runs").symlink_to(runs.absolute())
    command = [sys.executable, "-m", "tres", "dashboard", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("dashboard: ").strip()
        finally:
            process.terminate()


def dashboard_taken(browser: Browser, address: str) -> None:
    """Take the list, one run in dark colours, why a page was fetched, and a run on a phone."""
    run = f"{address}#/run/tres"
    with opened(browser, address, (1000, 420)) as tab:
        tab.locator(".run .time b").nth(1).wait_for()
        kept(tab, "dashboard-runs")
    with opened(browser, run, (1240, 1240), color_scheme="dark") as tab:
        tab.locator(".text mark").first.wait_for()
        tab.wait_for_timeout(2_500)  # charts are drawn every other second
        kept(tab, "dashboard-run")
    with opened(browser, run, (1000, 760)) as tab:
        tab.locator("#filter").select_option("relevant")
        tab.get_by_role("button", name="Why was page").nth(2).click()
        tab.locator(".why .lead").wait_for()
        kept(tab, "dashboard-why")
    with opened(browser, run, NARROW) as tab:
        tab.locator("#filter").select_option("relevant")
        tab.locator(".text mark").first.wait_for()
        tab.evaluate("document.querySelector('.page').scrollIntoView()")
        kept(tab, "dashboard-narrow")


@contextmanager
def opened(browser: Browser, url: str, size: tuple[int, int], **options: Any) -> Iterator[Page]:
    """Open a page of the dashboard in a window."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    tab = context.new_page()
    tab.goto(url)
    yield tab
    context.close()


def kept(tab: Page, name: str) -> None:
    """Take a picture of what a window shows."""
    path = PICTURES / f"{name}.png"
    tab.screenshot(path=path)
    print(path)


def taken(
    browser: Browser,
    name: str,
    file: Path,
    size: tuple[int, int],
    section: str = "",
    media: Any = None,
    **options: Any,
) -> None:
    """Take a picture of a page, from its top or from a section on."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    tab = context.new_page()
    tab.emulate_media(media=media)
    tab.goto(file.as_uri())
    if media == "print":  # what the printer adds: more rows, and margins
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        tab.add_style_tag(content="body{margin:2.2rem 3rem}")
    if section:
        tab.evaluate("id => document.getElementById(id).scrollIntoView()", section)
    path = PICTURES / f"{name}.png"
    tab.screenshot(path=path)
    context.close()
    print(path)


if __name__ == "__main__":
    main()
