"""The start requests of somebody's spider that lead to seeds.

A seed is asked for by the crawl, once, and by the spider's `start()` as well. Both are one fetch:
the flight carries what the spider's request says (headers, cookies, meta), and its callback or
errback is called in the end. `start()` may take its time, so a seed waits for its request until
`start()` has ended, or for `PATIENCE`. A request that comes when the page is there already is one
of the spider's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from scrapy import Request

from tres.engines.flights import Flight
from tres.web.url import canonical

PATIENCE = 5.0
"""Seconds that a seed waits for its start request."""


class StartRequests:
    """The seeds of one crawl, and what the spider wants of them.

    Seeds that the spider does not name itself (`own` is false) wait for nothing, and may lie
    outside of its `allowed_domains`, as start URLs do.
    """

    def __init__(self, seeds: Iterable[str], own: bool) -> None:
        self._seeds = frozenset(seeds)
        self._own = own
        self._asked: dict[str, Request] = {}
        self._sent: set[str] = set()
        self._waiting: list[Flight] = []

    def __contains__(self, url: object) -> bool:
        return url in self._seeds

    def seed(self, request: Request) -> str | None:
        """The seed that a start request asks for, if it asks for one that nobody has asked for."""
        url = canonical(request.url)
        plain = request.method == "GET" and not request.body
        first = request.meta.get("is_start_request") and url in self._seeds
        return url if plain and first and url not in self._asked else None

    def take(self, url: str, request: Request) -> bool:
        """The spider asks for a seed; false if the page has come, and it wants more than that."""
        self._asked[url] = request
        return url not in self._sent or not (request.callback or request.cb_kwargs)

    def request(self, url: str) -> Request:
        """How a seed is asked for, now."""
        self._sent.add(url)
        return self._asked.get(url) or Request(url, dont_filter=not self._own)

    def wait(self, flight: Flight, starting: bool) -> bool:
        """Must a flight to a seed wait for its start request? Then it is kept here."""
        waits = starting and self._own and flight.url in self and flight.url not in self._asked
        if waits:
            self._waiting.append(flight)
        return waits

    def ready(self, starting: bool, now: float) -> Flight | None:
        """A flight that need not wait any longer."""
        for flight in self._waiting:
            asked = flight.url in self._asked
            if asked or not starting or now - flight.began > PATIENCE:
                self._waiting.remove(flight)
                return flight
        return None
