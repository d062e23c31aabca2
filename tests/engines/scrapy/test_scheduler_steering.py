"""The real Scrapy, steered: it neither fetches nor ends in a pause, and leaves sites alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.local_web import LocalWeb, moved
from tests.support.steering import Scripted

from tres.crawl.events import StopReason
from tres.web.page import FailureKind

from .test_scheduler import answered_once, kinds, some_web, url

Crawl = Callable[..., Any]


def test_a_paused_crawl_with_nothing_in_flight_continues_later(crawl: Crawl) -> None:
    asked: list[int] = []
    with LocalWeb(some_web()) as web:

        def pause(controller: Scripted) -> bool:
            """From the fifth URL on, until nothing has been asked for during twenty looks."""
            rested = len(asked) > 20 and asked[-20] == asked[-1]
            if len(web.urls) >= 5 and not rested:
                asked.append(len(web.urls))
            controller.paused = bool(asked) and not rested
            return True

        story = crawl(web, url(0), url(1), k=2, pages=30, steering=Scripted(pause))
    assert len(asked) > 20
    assert asked[-1] <= asked[0] + 4  # two were in flight, and perhaps led elsewhere
    assert asked[-1] < len(web.urls)
    assert story.reason is StopReason.BUDGET
    assert story.spoken.session.steps == 30
    assert answered_once(story.spoken)


def test_a_redirect_to_a_blocked_site_is_not_followed(crawl: Crawl) -> None:
    pages = some_web()
    pages["http://elsewhere.example/"] = "never asked for"
    pages[url(3)] = moved("http://elsewhere.example/")
    controller = Scripted()
    controller.barred = {"elsewhere.example"}
    with LocalWeb(pages) as web:
        story = crawl(web, url(0), pages=30, steering=controller)
    assert url(3) in web.urls
    assert "http://elsewhere.example/" not in web.urls
    assert kinds(story.spoken)[url(3)] is FailureKind.SITE_BLOCKED
    assert answered_once(story.spoken)
