"""Crawls on the real Scrapy, in this process, over loopback HTTP.

The reactor is started once and never run: its event loop is, for as long as a crawl takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from tests.support.crawls import RecordedCalls, inline_reader, session_of
from tests.support.local_web import LocalWeb

from tres.crawl.events import Event, Stepped, StopReason
from tres.engines.protocols import UNSTEERED, Steering
from tres.engines.scrapy.live_loop import LiveCrawl, LiveLoop
from tres.engines.scrapy.network_settings import base_settings, merge_settings, network_settings
from tres.settings.sections import LiveSection

Wait = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(scope="session")
def event_loop_of_scrapy() -> Iterator[asyncio.AbstractEventLoop]:
    from scrapy.utils.reactor import install_reactor

    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet import reactor

    loop = asyncio.get_event_loop()
    reactor.startRunning(installSignalHandlers=False)
    yield loop
    reactor.stop()
    loop.run_forever()  # until the reactor has shut down


@pytest.fixture
def wait_for(event_loop_of_scrapy: asyncio.AbstractEventLoop) -> Wait:
    """Run a coroutine to its end; a crawl that hangs is a failure, not a hanging test."""

    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        limited = asyncio.wait_for(coroutine, timeout=60)
        return event_loop_of_scrapy.run_until_complete(limited)

    return run


@dataclass
class Story:
    """What became of a crawl."""

    reason: StopReason
    events: list[Event]
    spoken: RecordedCalls


@pytest.fixture
def crawl(wait_for: Wait, event_loop_of_scrapy: asyncio.AbstractEventLoop) -> Callable[..., Story]:
    """Crawl a local web from its seeds and tell the story."""

    def run(
        web: LocalWeb,
        *seeds: str,
        k: int = 1,
        pages: int = 100,
        settings: Mapping[str, Any] | None = None,
        reader: Any = None,
        spoil: Mapping[str, Any] | None = None,
        interrupt_at_step: int | None = None,
        interrupt_after: float | None = None,
        steering: Steering = UNSTEERED,
        **live: Any,
    ) -> Story:
        quick = {"delay": 0.0, "throttle": False, "per_site": 64, "max_wait": 0.0}
        section = LiveSection(**{**quick, "proxy": web.proxy, **live})  # type: ignore[arg-type]
        spoken = RecordedCalls(session_of(seeds, pages))
        for word, action in (spoil or {}).items():
            setattr(spoken.session, word, action)
        loop, events = LiveLoop(), list[Event]()

        def listen(event: Event) -> None:
            events.append(event)
            if isinstance(event, Stepped) and event.step == interrupt_at_step:
                loop.interrupt()

        job = LiveCrawl(
            session=spoken,
            reader=reader or inline_reader(section),
            in_flight=k,
            max_hop_wait=section.timeout,
            listener=listen,
            steering=steering,
        )
        if interrupt_after is not None:
            event_loop_of_scrapy.call_later(interrupt_after, loop.interrupt)
        network = network_settings(section)
        reason = wait_for(loop.crawl(job, merge_settings(base_settings(), network, settings or {})))
        return Story(reason, events, spoken)

    return run
