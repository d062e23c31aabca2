"""A real browser to look at pages with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.missing import need_package, skip_without

from tres.engines.browser.playwright_settings import find_chromium
from tres.errors import ConfigError


def need_chromium() -> Path:
    """The system's Chromium; where there is none, the test that runs now is skipped."""
    try:
        return find_chromium()
    except ConfigError as problem:
        skip_without("Chromium", problem.message)


@contextmanager
def opened_browser() -> Iterator[Any]:
    """The system's Chromium; where there is none, the test that asks is skipped."""
    playwright_api = need_package("playwright.sync_api")
    program = need_chromium()
    with playwright_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
