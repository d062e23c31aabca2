"""A real browser to look at pages with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tres.engines.scrapy.browser import find_chromium
from tres.errors import ConfigError


@contextmanager
def opened_browser() -> Iterator[Any]:
    """The system's Chromium; where there is none, the test that asks is skipped."""
    playwright_api = pytest.importorskip("playwright.sync_api")
    try:
        program = find_chromium()
    except ConfigError:
        pytest.skip("there is no Chromium")
    with playwright_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()
