"""Which downloader middlewares run in a live crawl, and that docs/live.md says so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

import pytest
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings.default_settings import DOWNLOADER_MIDDLEWARES_BASE
from tests.support.local_web import LocalWeb, html

PAGE = "http://a.example/"
DOCS = Path(__file__).parents[3] / "docs" / "live.md"


class Running:
    """An extension that notes the downloader middlewares of its crawl."""

    names: ClassVar[list[str]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Running:
        def note() -> None:
            assert crawler.engine is not None
            middlewares = crawler.engine.downloader.middleware.middlewares
            cls.names = [type(each).__name__ for each in middlewares]

        crawler.signals.connect(note, signals.spider_opened, weak=False)
        return cls()


@pytest.fixture
def running(crawl: Any) -> list[str]:
    with LocalWeb({PAGE: html("Page", "biology")}) as web:
        crawl(web, PAGE, settings={"EXTENSIONS": {Running: 0}})
    return Running.names


def test_scrapys_own_middlewares_run_where_they_do_what_is_needed(running: list[str]) -> None:
    assert running == [
        "PolitenessMiddleware",
        "RobotsMiddleware",
        "DownloadTimeoutMiddleware",
        "DefaultHeadersMiddleware",
        "UserAgentMiddleware",
        "FailureRetryMiddleware",
        "AcceptEncodingMiddleware",
        "CaptureMiddleware",
        "CheckedRedirectMiddleware",
    ]


def test_the_docs_name_all_of_scrapys_and_say_which_are_on(running: list[str]) -> None:
    table = dict(re.findall(r"^\| `(\w+)` \| (on|off|replaced)", DOCS.read_text(), re.MULTILINE))
    assert table.keys() == {path.rpartition(".")[2] for path in DOWNLOADER_MIDDLEWARES_BASE}
    assert {name for name, state in table.items() if state == "on"} == table.keys() & set(running)
