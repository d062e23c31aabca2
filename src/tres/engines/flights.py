"""What is in flight: between a crawl that asks for URLs and an engine that fetches them.

A *flight* is one URL on its way. It is made of *hops*, one HTTP request each: redirects and
retries are further hops, perhaps to other sites. The politeness clock
(`tres.engines.politeness.clock`) is told when a hop departs for a site and how it came back,
so that every hop is as polite as the first.

Two invariants are kept here, whoever fetches:

- at most `k` flights are under way, and a URL is asked for only when one may depart. With
  k = 1 the crawl is asked, answered, asked, answered: exactly as in a replay;
- every flight that took off lands exactly once. Whatever is said of it later is ignored.

A crawl that says `Wait` is asked again when a hop is back, a flight has landed, a site becomes
ready or an order was given (`tres.engines.steering`), not before; one that is paused is not asked.
If nothing is in flight and all sites left rest for more than `max_wait` seconds, the crawl ends:
its links are kept, and whoever goes on with it later asks for them. What the crawl itself raises
(a full disk, say) is a *fault*: nothing more is asked or told, and whoever runs it raises that.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Protocol

from tres.crawl.events import Demand, Done, Event, Fetch, StopReason
from tres.engines.protocols import Fetched, LiveSession
from tres.engines.steering import UNSTEERED, Steering
from tres.web.page import Failed, FailureKind
from tres.web.url import SiteBy, canonical, site_of

LONG = 30.0
"""Seconds without anything to ask for that are worth a word."""

_log = logging.getLogger(__name__)


class Politeness(Protocol):
    """When a site may be asked; all times are seconds of one monotonic clock."""

    def waiting(self, now: float) -> list[str]: ...

    def ready_at(self, site: str, now: float) -> float: ...

    def next_change(self, now: float) -> float | None: ...

    def all_rest(self, now: float) -> bool: ...

    def depart(self, site: str, now: float) -> None: ...

    def arrive(
        self,
        site: str,
        now: float,
        latency: float | None,
        status: int | None,
        retry_after: float | None,
        failed: FailureKind | None,
    ) -> None: ...

    def unread(self, site: str, more: int, now: float) -> None: ...

    def read(self, site: str, seconds: float, now: float) -> float: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said to one hop, as far as politeness cares."""

    status: int | None = None
    latency: float | None = None
    retry_after: float | None = None


@dataclass(slots=True, eq=False)
class Flight:
    """One URL on its way, and where it is."""

    url: str
    site: str
    began: float
    at: float
    away: bool = False
    """Has a hop departed that is not back?"""
    reached: bool = False
    """Has it come as far as to the downloader?"""
    answer: Answer | None = None


class Flights:
    """Asks one crawl, keeps it polite, and brings every flight home."""

    def __init__(
        self,
        crawl: LiveSession,
        politeness: Politeness,
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
        """Set by the engine: makes it look again for something to fetch."""
        self._crawl = crawl
        self._politeness = politeness
        self._k = k
        self._site_by = site_by
        self._listener = listener
        self._clock = clock
        self._steering = steering
        self._max_wait = max_wait
        self._flying: dict[str, Flight] = {}
        self._resting_until = -inf

    def __len__(self) -> int:
        return len(self._flying)

    def __iter__(self) -> Iterator[Flight]:
        return iter(list(self._flying.values()))

    @property
    def over(self) -> bool:
        """Will nothing more be asked for, and is everything back?"""
        return not self._flying and not self._asks

    @property
    def _asks(self) -> bool:
        return self.reason is None and self.fault is None

    @property
    def _has_room(self) -> bool:
        return self._asks and not self._steering.paused and len(self._flying) < self._k

    def get(self, url: object) -> Flight | None:
        """The flight to a URL that was asked for, unless it has landed."""
        return self._flying.get(url) if isinstance(url, str) else None

    def choose(self) -> Flight | None:
        """The next flight, if one may take off now; its first hop has departed."""
        self._look_up()
        now = self._clock()
        if not self._has_room or now < self._resting_until:
            return None
        match self._next(now):
            case Fetch(urls=(url,)):
                flight = Flight(url, self.site(url), now, time.time())
                self._flying[url] = flight
                self.depart(flight, flight.site)
                return flight
            case Done(reason):
                self.reason = reason
            case _:
                change = self._politeness.next_change(now)
                self._resting_until = inf if change is None else change
                if self._asks and not self._flying and self._politeness.all_rest(now):
                    self._wait_or_end(self._resting_until - now)
        return None

    def _wait_or_end(self, wait: float) -> None:
        """All that is left is with sites that rest: is the first of them back soon?"""
        if wait > self._max_wait:
            self.reason = StopReason.SITES_DOWN
        elif wait > LONG:
            _log.warning("all that is left waits for sites that rest, for %.0f seconds", wait)

    def _look_up(self) -> None:
        try:
            if self._asks and self._steering.carry_out_orders():
                self._resting_until = -inf
        except Exception as fault:  # raised again by whoever runs the crawl
            self.fault = fault

    def is_blocked(self, site: str) -> bool:
        """Has the user blocked this site?"""
        return self._steering.is_blocked(site)

    def _next(self, now: float) -> Demand | None:
        try:
            return self._crawl.next(1, self._politeness.waiting(now))
        except Exception as fault:  # raised again by whoever runs the crawl
            self.fault = fault
            return None

    def site(self, url: str) -> str:
        """The site of any URL that came from a fetch."""
        return site_of(canonical(url) or url, self._site_by)

    def ready_in(self, site: str) -> float:
        """Seconds until a site may be asked; infinite while that depends on an answer."""
        now = self._clock()
        return max(0.0, self._politeness.ready_at(site, now) - now)

    def wakes_in(self) -> float:
        """Seconds until the crawl may have something to ask for though nothing has landed."""
        ready = max(0.0, self._resting_until - self._clock()) if self._has_room else inf
        return min(ready, self._steering.next_orders_in()) if self._asks else inf

    def depart(self, flight: Flight, site: str) -> None:
        """A hop leaves for a site."""
        flight.site, flight.away, flight.reached, flight.answer = site, True, False, None
        self._politeness.depart(site, self._clock())

    def back(self, flight: Flight, failed: FailureKind | None = None) -> None:
        """The hop is over, with an answer or without."""
        if not flight.away:
            return
        flight.away = False
        said, now = flight.answer or Answer(), self._clock()
        arrive = self._politeness.arrive
        arrive(flight.site, now, said.latency, said.status, said.retry_after, failed)
        self._resting_until = -inf  # the site may be ready

    @contextmanager
    def reading(self, flight: Flight) -> Iterator[None]:
        """The site is done with the flight; what it sent is being read meanwhile."""
        self.back(flight)
        site = flight.site
        self._politeness.unread(site, 1, self._clock())
        self.wake()
        try:
            yield
        finally:
            self._politeness.unread(site, -1, self._clock())

    def charge(self, url: str, seconds: float) -> None:
        """Reading what came from a URL took so much processor time."""
        site = self.site(url)
        if rest := self._politeness.read(site, seconds, self._clock()):
            told = "%s took %.1f s of processor time to read; %s rests for %.0f s"
            _log.warning(told, url, seconds, site, rest)

    def land(self, flight: Flight, outcome: Any, told: Fetched) -> list[Event]:
        """What came of a flight, once; the events of the crawl, if there are any."""
        if self._flying.get(flight.url) is not flight:
            return []
        if isinstance(outcome, Failed):
            self.back(flight, outcome.kind)
            told = replace(told, rests=self._rest_of(flight.site))
        else:
            self.back(flight)
        del self._flying[flight.url]
        self._resting_until = -inf
        return self._tell(flight.url, outcome, told) if self.fault is None else []

    def _rest_of(self, site: str) -> tuple[str, float] | None:
        wait = self.ready_in(site)
        return (site, time.time() + wait) if 0 < wait < inf else None

    def _tell(self, url: str, outcome: Any, told: Fetched) -> list[Event]:
        try:
            events = self._crawl.receive(url, outcome, told)
            for event in events:
                self._listener(event)
        except Exception as fault:  # raised again by whoever runs the crawl
            self.fault = fault
            return []
        return events

    def fail(self, flight: Flight, kind: FailureKind, note: str, retryable: bool = False) -> None:
        """Land without a page."""
        self.land(flight, Failed(flight.url, kind, retryable), self.told(flight, note=note))

    def told(self, flight: Flight, **more: Any) -> Fetched:
        """How the flight went, with what else is known of it."""
        return Fetched(flight.at, self._clock() - flight.began, **more)

    def interrupt(self) -> None:
        """Take no more off; what is in flight may land."""
        self._crawl.interrupt()
        self._resting_until = -inf
        self.wake()
