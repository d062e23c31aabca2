"""The start requests of a spider that are for seeds.

The crawl fetches every seed once, and the spider's `start()` asks for it as well. Both are one
fetch: the flight carries what the spider's request says (headers, cookies, meta), and its callback
or errback is called in the end. `start()` may take a while, so a seed waits for its request until
`start()` has ended, for at most `MAX_START_WAIT` seconds. A request that comes after the page
counts as one of the spider's own.
"""

from __future__ import annotations

from collections.abc import Iterable

from scrapy import Request

from tres.engines.flights import Flight
from tres.web.url import canonical

MAX_START_WAIT = 5.0
"""Seconds that a seed waits for its start request."""


class StartRequests:
    """The seeds of one crawl, and the spider's start requests for them.

    Seeds that come from the topic file (`own` is false) do not wait, and may lie outside
    `allowed_domains`, as start URLs do.
    """

    def __init__(self, seeds: Iterable[str], own: bool) -> None:
        self._seeds = frozenset(seeds)
        self._own = own
        self._requests: dict[str, Request] = {}
        self._sent: set[str] = set()
        self._held: list[Flight] = []

    def __contains__(self, url: object) -> bool:
        return url in self._seeds

    def seed(self, request: Request) -> str | None:
        """Return the seed that a start request is the first to ask for, if any."""
        url = canonical(request.url)
        plain = request.method == "GET" and not request.body
        first = request.meta.get("is_start_request") and url in self._seeds
        return url if plain and first and url not in self._requests else None

    def take(self, url: str, request: Request) -> bool:
        """Keep the spider's request for a seed; return False if it must be fetched by itself.

        That is so when the seed was sent already and the request has a callback of its own.
        """
        self._requests[url] = request
        return url not in self._sent or not (request.callback or request.cb_kwargs)

    def request(self, url: str) -> Request:
        """Return the request for a seed that is sent now."""
        self._sent.add(url)
        return self._requests.get(url) or Request(url, dont_filter=not self._own)

    def wait(self, flight: Flight, starting: bool) -> bool:
        """Hold a flight if its seed must wait for its start request; return whether it does."""
        waits = starting and self._own and flight.url in self and flight.url not in self._requests
        if waits:
            self._held.append(flight)
        return waits

    def ready(self, starting: bool, now: float) -> Flight | None:
        """Return a held flight that need not wait any longer."""
        for flight in self._held:
            asked = flight.url in self._requests
            if asked or not starting or now - flight.began > MAX_START_WAIT:
                self._held.remove(flight)
                return flight
        return None
