"""Flights: the URLs in flight between a session that asks for them and an engine that fetches them.

A *flight* is the fetch of one URL. It consists of *hops*, one HTTP request each: redirects and
retries are further hops, perhaps to other sites. The politeness clock
(`tres.engines.politeness.clock`) is told when each hop starts and how it ends, so that every hop is
as polite as the first.

Two invariants hold, whichever engine fetches:

- at most `k` flights are open, and a URL is asked for only when its first hop may start. With
  k = 1 the session is asked and answered in turns, exactly as in a replay;
- every flight finishes exactly once. Whatever is reported about it later is ignored.

A session that answers `Wait` is asked again when a hop ends, a flight finishes, a site becomes
ready or an order arrives (`Steering`), not before; a paused one is not asked at all.
If nothing is in flight and all remaining sites back off for more than `max_wait` seconds, the crawl
ends; its links are kept for a later start. What the session itself raises (a full disk, say) is a
*fault*: nothing more is asked or reported, and the program that runs the crawl raises it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from tres.crawl.events import Demand, Done, Event, Fetch, StopReason
from tres.engines.politeness.clock import NO_RESPONSE, PolitenessClock, ServerResponse
from tres.engines.protocols import UNSTEERED, Fetched, LiveSession, Steering
from tres.web.page import Failed, FailureKind
from tres.web.url import SiteBy, canonical, site_of

LONG = 30.0
"""Seconds of waiting that are worth a warning."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Flight:
    """The fetch of one URL, and the state of its present hop."""

    url: str
    site: str
    """Of the present hop."""
    began: float
    """On the monotonic clock."""
    at: float
    """The same in seconds since the epoch."""
    in_hop: bool = False
    """Has a hop started that has not ended?"""
    reached_downloader: bool = False
    response: ServerResponse | None = None


class Flights:
    """Asks one session for URLs, keeps the crawl polite, and finishes every flight."""

    def __init__(
        self,
        session: LiveSession,
        politeness: PolitenessClock,
        k: int = 1,
        site_by: SiteBy = "host",
        listener: Callable[[Event], None] = lambda event: None,
        clock: Callable[[], float] = time.monotonic,
        steering: Steering = UNSTEERED,
        max_wait: float = inf,
    ) -> None:
        self.reason: StopReason | None = None
        self.fault: Exception | None = None
        self.wake: Callable[[], None] = lambda: None
        """Set by the engine: makes it ask for the next flight."""
        self._session = session
        self._politeness = politeness
        self._k = k
        self._site_by = site_by
        self._listener = listener
        self._clock = clock
        self._steering = steering
        self._max_wait = max_wait
        self._open: dict[str, Flight] = {}
        self._ask_again_at = -inf

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Flight]:
        return iter(list(self._open.values()))

    @property
    def over(self) -> bool:
        """Will nothing more be asked for, and has every flight finished?"""
        return not self._open and not self._asks

    @property
    def _asks(self) -> bool:
        return self.reason is None and self.fault is None

    @property
    def _has_room(self) -> bool:
        return self._asks and not self._steering.paused and len(self._open) < self._k

    def get(self, url: object) -> Flight | None:
        """Return the open flight for a URL that the session asked for."""
        return self._open.get(url) if isinstance(url, str) else None

    def choose(self) -> Flight | None:
        """Open the next flight, if one may start now; its first hop has started."""
        self._carry_out_orders()
        now = self._clock()
        if not self._has_room or now < self._ask_again_at:
            return None
        match self._next(now):
            case Fetch(urls=(url,)):
                flight = Flight(url, self.site_of(url), now, time.time())
                self._open[url] = flight
                self.start_hop(flight, flight.site)
                return flight
            case Done(reason):
                self.reason = reason
            case _:
                change = self._politeness.next_change(now)
                self._ask_again_at = inf if change is None else change
                if self._asks and not self._open and self._politeness.only_backing_off(now):
                    self._wait_or_end(self._ask_again_at - now)
        return None

    def _wait_or_end(self, wait: float) -> None:
        """All remaining links are on sites that back off: wait for the first, or end."""
        if wait > self._max_wait:
            self.reason = StopReason.SITES_DOWN
        elif wait > LONG:
            _log.warning("all remaining sites are backing off; waiting for %.0f seconds", wait)

    def _carry_out_orders(self) -> None:
        try:
            if self._asks and self._steering.carry_out_orders():
                self._ask_again_at = -inf
        except Exception as fault:  # raised by the program that runs the crawl
            self.fault = fault

    def is_blocked(self, site: str) -> bool:
        """Has the user blocked this site?"""
        return self._steering.is_blocked(site)

    def _next(self, now: float) -> Demand | None:
        try:
            return self._session.next(1, self._politeness.waiting(now))
        except Exception as fault:  # raised by the program that runs the crawl
            self.fault = fault
            return None

    def site_of(self, url: str) -> str:
        """Return the site of any URL that came from a fetch."""
        return site_of(canonical(url) or url, self._site_by)

    def ready_in(self, site: str) -> float:
        """Return the seconds until a site is ready; infinite if a request must finish first."""
        now = self._clock()
        return max(0.0, self._politeness.ready_at(site, now) - now)

    def wakes_in(self) -> float:
        """Return the seconds until `choose` may open a flight though none has finished."""
        ready = max(0.0, self._ask_again_at - self._clock()) if self._has_room else inf
        return min(ready, self._steering.next_orders_in()) if self._asks else inf

    def start_hop(self, flight: Flight, site: str) -> None:
        """Start a hop of the flight to a site."""
        flight.site, flight.in_hop = site, True
        flight.reached_downloader, flight.response = False, None
        self._politeness.request_started(site, self._clock())

    def end_hop(self, flight: Flight, failed: FailureKind | None = None) -> None:
        """End the present hop, with a response or without."""
        if not flight.in_hop:
            return
        flight.in_hop = False
        response, now = flight.response or NO_RESPONSE, self._clock()
        self._politeness.request_finished(flight.site, now, response, failed)
        self._ask_again_at = -inf  # the site may be ready

    @contextmanager
    def reading(self, flight: Flight) -> Iterator[None]:
        """End the present hop, and count the page as unread until the block ends."""
        self.end_hop(flight)
        site = flight.site
        self._politeness.add_unread(site, 1, self._clock())
        self.wake()
        try:
            yield
        finally:
            self._politeness.add_unread(site, -1, self._clock())

    def charge(self, url: str, seconds: float) -> None:
        """Charge the site of a URL with the processor time of reading its page."""
        site = self.site_of(url)
        if pause := self._politeness.charge_reading(site, seconds, self._clock()):
            message = "%s took %.1f s of processor time to read; pausing %s for %.0f s"
            _log.warning(message, url, seconds, site, pause)

    def finish(self, flight: Flight, outcome: Any, fetched: Fetched) -> list[Event]:
        """Hand the outcome of a flight to the session, once; return the events of the crawl."""
        if self._open.get(flight.url) is not flight:
            return []
        if isinstance(outcome, Failed):
            self.end_hop(flight, outcome.kind)
            fetched = replace(fetched, backs_off_until=self._waits_until(flight.site))
        else:
            self.end_hop(flight)
        del self._open[flight.url]
        self._ask_again_at = -inf
        return self._receive(flight.url, outcome, fetched) if self.fault is None else []

    def _waits_until(self, site: str) -> tuple[str, float] | None:
        wait = self.ready_in(site)
        return (site, time.time() + wait) if 0 < wait < inf else None

    def _receive(self, url: str, outcome: Any, fetched: Fetched) -> list[Event]:
        try:
            events = self._session.receive(url, outcome, fetched)
            for event in events:
                self._listener(event)
        except Exception as fault:  # raised by the program that runs the crawl
            self.fault = fault
            return []
        return events

    def fail(self, flight: Flight, kind: FailureKind, note: str, retryable: bool = False) -> None:
        """Finish a flight without a page."""
        self.finish(flight, Failed(flight.url, kind, retryable), self.fetched(flight, note=note))

    def fetched(self, flight: Flight, **known: Any) -> Fetched:
        """Return how the flight went, with what else is known of it."""
        return Fetched(flight.at, self._clock() - flight.began, **known)

    def interrupt(self) -> None:
        """Open no more flights; those in flight may finish."""
        self._session.interrupt()
        self._ask_again_at = -inf
        self.wake()
