"""The guarded download handler: every connection of a crawl is opened here, or not at all.

A name is resolved, its addresses are checked (`tres.engines.network.addresses`), and the
connection goes to the very address that was checked: between check and use there is no second
look-up that could answer otherwise. This holds for every page, redirect, retry and robots.txt, as
none of them has another way to a socket; a pooled connection is one that was checked when it was
opened.

With a proxy, every request goes to it in absolute form, https URLs included, and no name but
the proxy's is resolved here. The user has named the proxy, so its address is not questioned.
"""

from __future__ import annotations

import socket
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from time import monotonic
from typing import Any, cast

from OpenSSL import SSL
from scrapy import Request
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _ScrapyAgent,
)
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.defer import TimeoutError as DeferTimeout
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import (
    IOpenSSLClientConnectionCreator,
    IProtocol,
    IProtocolFactory,
    IStreamClientEndpoint,
)
from twisted.web.client import URI, Agent, ProxyAgent
from twisted.web.iweb import IAgentEndpointFactory
from zope.interface import implementer  # type: ignore[import-untyped]

from tres.engines.network.addresses import AddressGuard
from tres.engines.scrapy.connections import ConnectionPool
from tres.engines.scrapy.failures import BlockedAddress, NoAddress, NoLookup, ProxyUnreachable
from tres.engines.scrapy.network_settings import PROXY_SECONDS
from tres.engines.scrapy.politeness_middleware import politeness_of, site_of_url
from tres.web.url import SiteBy

MAX_ADDRESSES = 4
"""Addresses of one name that are tried, at most."""
AHEAD = 10.0
"""Seconds for which a look-up ahead of a connection holds."""
MAX_AHEAD = 1_000


def lookup_of(crawler: Crawler) -> AddressLookup:
    """The look-up that all connections of a crawler share."""
    from twisted.internet import reactor

    known = crawler.__dict__.get("tres_lookup")
    if not isinstance(known, AddressLookup):
        settings = crawler.settings
        guard = None if settings.get("TRES_PROXY") else AddressGuard(settings.getlist("TRES_ALLOW"))
        known = AddressLookup(reactor, guard, settings.getfloat("DNS_TIMEOUT"))
        crawler.__dict__["tres_lookup"] = known
    return known


class AddressLookup:
    """Names to permitted addresses, within a time limit."""

    def __init__(self, reactor: Any, guard: AddressGuard | None, seconds: float) -> None:
        self._reactor = reactor
        self._guard = guard
        self._seconds = seconds
        self._ahead: OrderedDict[str, tuple[float, list[str]]] = OrderedDict()

    async def ahead(self, host: str) -> list[str]:
        """The same for a connection that is about to be opened, which then asks nobody."""
        found = await self.addresses(host, None)
        self._ahead[host] = monotonic() + AHEAD, found
        if len(self._ahead) > MAX_AHEAD:
            self._ahead.popitem(last=False)
        return found

    async def addresses(self, host: str, port: int | None) -> list[str]:
        """The permitted addresses of a host, IPv4 first; never empty."""
        until, known = self._ahead.pop(host, (0.0, []))
        if monotonic() < until:
            return known
        found = await self._ask(host, port)
        permitted = [a for a in found if self._guard is None or self._guard.permits(a)]
        if not permitted:
            raise BlockedAddress(f"{host} is at {found[0]}, which live.allow does not name")
        return permitted[:MAX_ADDRESSES]

    async def _ask(self, host: str, port: int | None) -> list[str]:
        try:
            entries = await self._asked(host, port).addTimeout(self._seconds, self._reactor)
        except socket.gaierror as problem:
            gone = problem.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None))
            raise (NoAddress if gone else NoLookup)(f"no address for {host}") from problem
        except DeferTimeout as problem:
            raise NoLookup(f"looking up {host} took too long") from problem
        except (OSError, ValueError) as problem:  # a name that no name server can be asked for
            raise NoAddress(f"no address for {host}") from problem
        found = {entry[4][0]: entry[0] for entry in entries}
        if not found:
            raise NoAddress(f"no address for {host}")
        return sorted(found, key=lambda address: found[address] != socket.AF_INET)

    def _asked(self, host: str, port: int | None) -> Deferred[list[Any]]:
        """Ask in a thread that nobody waits for: at the end of a crawl it dies with it."""
        answer: Deferred[list[Any]] = Deferred()

        def ask() -> None:
            try:
                found = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
                fire = partial(answer.callback, found)
            except Exception as problem:  # whatever it is, `_ask` awaits and names it
                fire = partial(answer.errback, problem)
            with suppress(RuntimeError):  # the crawl has ended meanwhile
                self._reactor.callFromThread(fire)

        Thread(target=ask, name=f"lookup of {host}", daemon=True).start()
        return answer


@implementer(IStreamClientEndpoint)
class GuardedEndpoint:
    """Opens connections to a host, at addresses that were checked."""

    def __init__(
        self, lookup: AddressLookup, reactor: Any, host: str, port: int, seconds: float
    ) -> None:
        self._lookup = lookup
        self._reactor = reactor
        self._host = host
        self._port = port
        self._seconds = seconds

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[IProtocol]:
        """A connection to the first address that answers."""
        return Deferred.fromCoroutine(self._connect(protocolFactory))

    async def _connect(self, factory: IProtocolFactory) -> IProtocol:
        addresses = await self._lookup.addresses(self._host, self._port)
        seconds = self._seconds / len(addresses)
        for address in addresses[:-1]:
            try:
                return await self._open(address, seconds, factory)
            except ConnectError:
                continue  # the next address may answer
        return await self._open(addresses[-1], seconds, factory)

    async def _open(self, address: str, seconds: float, factory: IProtocolFactory) -> IProtocol:
        kind = TCP6ClientEndpoint if ":" in address else TCP4ClientEndpoint
        connected: Deferred[IProtocol] = kind(self._reactor, address, self._port, seconds).connect(
            factory
        )
        return await connected


@implementer(IStreamClientEndpoint)
class ProxyEndpoint:
    """Opens connections to the proxy; where it cannot, that is no failure of the site."""

    def __init__(self, proxy: str, plain: GuardedEndpoint) -> None:
        self._proxy = proxy
        self._plain = plain

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[IProtocol]:
        """A connection to the proxy."""
        return Deferred.fromCoroutine(self._connect(protocolFactory))

    async def _connect(self, factory: IProtocolFactory) -> IProtocol:
        try:
            return await self._plain.connect(factory)
        except (ConnectError, NoAddress) as problem:
            raise ProxyUnreachable(
                f"the proxy {self._proxy} does not answer; start it, or correct live.proxy"
            ) from problem


@implementer(IAgentEndpointFactory)
class GuardedEndpoints:
    """Endpoints for URLs: guarded TCP, with TLS on top for https."""

    def __init__(self, lookup: AddressLookup, reactor: Any, tls: Any, seconds: float) -> None:
        self._lookup = lookup
        self._reactor = reactor
        self._tls = tls
        self._seconds = seconds

    def endpointForURI(self, uri: URI) -> Any:  # noqa: N802
        """Where to connect to for a URL."""
        host = uri.host.decode("ascii").strip("[]")
        plain: Any = GuardedEndpoint(self._lookup, self._reactor, host, uri.port, self._seconds)
        if uri.scheme != b"https":
            return plain
        creator = self._tls.creatorForNetloc(uri.host, uri.port)
        return wrapClientTLS(cast(Any, NamedHandshakes(creator)), plain)


@implementer(IOpenSSLClientConnectionCreator)
class NamedHandshakes:
    """Connections whose handshakes fail with a reason, whatever the server says.

    A server that closes TLS before it is open makes OpenSSL raise an error without a reason, on
    which Twisted stumbles: it prints a traceback for every such connection.
    """

    def __init__(self, creator: Any) -> None:
        self._creator = creator

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:  # noqa: N802
        """A connection as the creator makes it."""
        connection: SSL.Connection = self._creator.clientConnectionForTLS(tlsProtocol)
        connection.__class__ = _Connection  # as Scrapy does elsewhere: the class is fixed inside
        return connection


class _Connection(SSL.Connection):
    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except SSL.ZeroReturnError:
            reason = ("SSL routines", "", "closed during the handshake")
            raise SSL.Error([reason]) from None


class _GuardedAgent(_ScrapyAgent):
    """Scrapy's way with requests and their limits, over our way to a connection."""

    agent: Agent | ProxyAgent

    def _get_agent(self, request: Request, timeout: float) -> Any:
        return self.agent


class GuardedHandler(HTTP11DownloadHandler):
    """Scrapy's HTTP/1.1 handler behind an address guard (settings TRES_ALLOW and TRES_PROXY)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        from twisted.internet import reactor

        settings = crawler.settings
        proxy: str = settings.get("TRES_PROXY") or ""
        self._lookup = lookup_of(crawler)
        self._politeness = politeness_of(crawler)
        self._later: Callable[..., Any] = reactor.callLater
        self._site_by: SiteBy = settings.get("TRES_SITE") or "host"
        self._pool = ConnectionPool(
            reactor, settings.getint("CONCURRENT_REQUESTS") or 64, self._sent
        )
        seconds = settings.getfloat("DOWNLOAD_TIMEOUT")
        endpoints = GuardedEndpoints(
            self._lookup,
            reactor,
            self._contextFactory,
            min(seconds, PROXY_SECONDS) if proxy else seconds,
        )
        self._agent: Agent | ProxyAgent
        if proxy:
            uri = URI.fromBytes(proxy.encode("ascii"))  # type: ignore[no-untyped-call]
            endpoint = ProxyEndpoint(proxy, endpoints.endpointForURI(uri))
            self._agent = ProxyAgent(endpoint, reactor, self._pool)  # type: ignore[no-untyped-call]
        else:
            self._agent = Agent.usingEndpointFactory(reactor, endpoints, self._pool)  # type: ignore[no-untyped-call]

    async def download_request(self, request: Request) -> Response:
        """Fetch; every limit of the settings holds, and every failure has a name."""
        agent = _GuardedAgent(
            contextFactory=self._contextFactory,
            pool=self._pool,
            maxsize=self._default_maxsize,
            warnsize=self._default_warnsize,
            fail_on_dataloss=self._fail_on_dataloss,
            crawler=self._crawler,
            tls_verbose_logging=self._tls_verbose_logging,
        )
        agent.agent = self._agent
        with wrap_twisted_exceptions():
            return await maybe_deferred_to_future(agent.download_request(request))

    def _sent(self, url: str) -> None:
        """The delay of a site runs from here: looking up and connecting are over.

        The bytes leave in the loop's next round. If this one takes long (a snapshot is written,
        say), the delay runs from then.
        """
        site = site_of_url(url, self._site_by)
        self._politeness.sent(site, monotonic())
        self._later(0, lambda: self._politeness.sent(site, monotonic()))
