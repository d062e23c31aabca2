"""Crawls with a real Chromium, or a word on why there are none."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.engines.browser.site import PRIVATE, PUBLIC, Site
from tests.support.browser import need_chromium
from tests.support.missing import need_package

PROGRAM = Path(__file__).with_name("crawl.py")


class Crawl:
    """A running crawl: a process, and every process that came of it."""

    def __init__(self, **order: Any) -> None:
        self.mark = f"TRES_TEST_CRAWL={uuid.uuid4()}"
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), json.dumps({"permitted": [PUBLIC], **order})],
            stdout=subprocess.PIPE,
            env={**os.environ, name: value},
            text=True,
            start_new_session=True,
        )

    def __iter__(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout is not None
        return map(json.loads, self.process.stdout)

    def outcomes(self) -> dict[str, dict[str, Any]]:
        """What came of each path, when all has ended; nothing may be left behind."""
        found = {"/" + told["asked"].split("/", 3)[3]: told for told in self}
        assert self.process.wait(60) == 0
        assert self.left_behind() == []
        return found

    def left_behind(self, patience: float = 15) -> list[str]:
        """The processes that are still there after some seconds, the crawl itself included."""
        until = time.monotonic() + patience
        while (found := self._alive()) and time.monotonic() < until:
            time.sleep(0.1)
        return found

    def _alive(self) -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if self.mark.encode() in (path / "environ").read_bytes():
                    found.append((path / "cmdline").read_text().replace("\0", " ")[:200])
        return found

    def end(self) -> None:
        """Leave nothing behind, whatever a test has found."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def crawl(public: Site) -> Iterator[Any]:
    """Starts crawls of paths of the public site: `crawl("/app", javascript=["."])`."""
    need_chromium()
    need_package("scrapy_playwright")
    crawls: list[Crawl] = []

    def start(*paths: str, at_once: int = 1, pages_per_browser: int = 200, **live: Any) -> Crawl:
        urls = [public.url(path) for path in paths]
        order = {"urls": urls, "live": {"timeout": 20, **live}}
        crawls.append(Crawl(at_once=at_once, pages_per_browser=pages_per_browser, **order))
        return crawls[-1]

    yield start
    for each in crawls:
        each.end()


@pytest.fixture
def public() -> Iterator[Site]:
    """A site that may be crawled."""
    with Site(PUBLIC).serving() as site:
        yield site


@pytest.fixture
def private() -> Iterator[Site]:
    """A site at an address that must never be connected to."""
    with Site(PRIVATE).serving() as site:
        yield site
