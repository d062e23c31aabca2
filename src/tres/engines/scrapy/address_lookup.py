"""Host names to network addresses that the crawl may connect to.

The addresses of a name are checked here (`tres.engines.network.addresses`), and connections go to
the very addresses that passed. Behind a proxy nothing is checked: the user has named the proxy, and
no other name is looked up.
"""

from __future__ import annotations

import socket
from collections import OrderedDict
from contextlib import suppress
from functools import partial
from threading import Thread
from time import monotonic
from typing import Any

from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred
from twisted.internet.defer import TimeoutError as DeferTimeout

from tres.engines.network.addresses import AddressGuard
from tres.engines.scrapy.failures import NamedFailure
from tres.engines.scrapy.internals import shared
from tres.web.page import FailureKind

MAX_ADDRESSES = 4
"""Addresses of one name that are tried, at most."""
EARLY_SECONDS = 10.0
"""Seconds for which an early look-up counts."""
MAX_EARLY = 1_000


def lookup_of(crawler: Crawler) -> AddressLookup:
    """Return the look-up that all connections of a crawler share, by its settings."""
    from twisted.internet import reactor

    settings = crawler.settings
    guard = None if settings.get("TRES_PROXY") else AddressGuard(settings.getlist("TRES_ALLOW"))
    seconds = settings.getfloat("DNS_TIMEOUT")
    return shared(crawler, "lookup", lambda: AddressLookup(reactor, guard, seconds))


class AddressLookup:
    """Resolves names to permitted addresses, within a time limit."""

    def __init__(self, reactor: Any, guard: AddressGuard | None, seconds: float) -> None:
        self._reactor = reactor
        self._guard = guard
        self._seconds = seconds
        self._early: OrderedDict[str, tuple[float, list[str]]] = OrderedDict()

    async def resolve_early(self, host: str) -> list[str]:
        """Resolve a name for a connection that is about to be opened and will not ask again."""
        found = await self.resolve(host, None)
        self._early[host] = monotonic() + EARLY_SECONDS, found
        if len(self._early) > MAX_EARLY:
            self._early.popitem(last=False)
        return found

    async def resolve(self, host: str, port: int | None) -> list[str]:
        """Return the permitted addresses of a host, IPv4 first; never an empty list."""
        until, known = self._early.pop(host, (0.0, []))
        if monotonic() < until:
            return known
        found = await self._query(host, port)
        permitted = [a for a in found if self._guard is None or self._guard.permits(a)]
        if not permitted:
            note = f"{host} is at {found[0]}, which live.allow does not name"
            raise NamedFailure(FailureKind.BLOCKED_ADDRESS, note)
        return permitted[:MAX_ADDRESSES]

    async def _query(self, host: str, port: int | None) -> list[str]:
        try:
            entries = await self._getaddrinfo(host, port).addTimeout(self._seconds, self._reactor)
        except socket.gaierror as problem:
            gone = problem.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None))
            raise _no_address(host, retryable=not gone) from problem
        except DeferTimeout as problem:
            note = f"looking up {host} took too long"
            raise NamedFailure(FailureKind.NO_ADDRESS, note, retryable=True) from problem
        except (OSError, ValueError) as problem:  # not a name that a name server can be asked for
            raise _no_address(host) from problem
        found = {entry[4][0]: entry[0] for entry in entries}
        if not found:
            raise _no_address(host)
        return sorted(found, key=lambda address: found[address] != socket.AF_INET)

    def _getaddrinfo(self, host: str, port: int | None) -> Deferred[list[Any]]:
        """Ask in a daemon thread, so that a slow name server cannot hold up the end of a crawl."""
        answer: Deferred[list[Any]] = Deferred()

        def ask() -> None:
            try:
                found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
                fire = partial(answer.callback, found)
            except Exception as problem:  # `_query` awaits it, and names it
                fire = partial(answer.errback, problem)
            with suppress(RuntimeError):  # the crawl has ended meanwhile
                self._reactor.callFromThread(fire)

        Thread(target=ask, name=f"lookup of {host}", daemon=True).start()
        return answer


def _no_address(host: str, retryable: bool = False) -> NamedFailure:
    return NamedFailure(FailureKind.NO_ADDRESS, f"no address for {host}", retryable)
