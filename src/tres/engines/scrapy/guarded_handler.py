"""The guarded download handler: the only way from a crawl to a socket.

A name is resolved, its addresses are checked, and the connection goes to the very address that was
checked (`tres.engines.scrapy.address_lookup`): there is no second look-up that could answer
otherwise. This holds for every page, redirect, retry and robots.txt, because none of them has
another way to a socket; a pooled connection was checked when it was opened.

With a proxy, every request goes to it in absolute form, https URLs included, and no name but the
proxy's is resolved here. The user has named the proxy, so its address is not checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, NoReturn, cast

from OpenSSL import SSL
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import (
    IOpenSSLClientConnectionCreator,
    IProtocol,
    IProtocolFactory,
    IStreamClientEndpoint,
)
from twisted.python.failure import Failure
from twisted.web.client import URI, Agent, ProxyAgent
from twisted.web.iweb import IAgentEndpointFactory
from zope.interface import implementer  # type: ignore[import-untyped]

from tres.engines.scrapy.address_lookup import AddressLookup, lookup_of
from tres.engines.scrapy.connections import ConnectionPool
from tres.engines.scrapy.failures import NamedFailure
from tres.engines.scrapy.internals import AgentHandler
from tres.engines.scrapy.network_settings import PROXY_SECONDS
from tres.engines.scrapy.politeness_middleware import politeness_of, site_by_of, site_of_url
from tres.web.page import FailureKind


@implementer(IStreamClientEndpoint)
@dataclass(frozen=True)
class GuardedEndpoint:
    """Opens connections to a host, at addresses that were checked."""

    lookup: AddressLookup
    reactor: Any
    host: str
    port: int
    seconds: float

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[IProtocol]:
        """Connect to the first address that answers."""
        return Deferred.fromCoroutine(self._connect(protocolFactory))

    async def _connect(self, factory: IProtocolFactory) -> IProtocol:
        addresses = await self.lookup.resolve(self.host, self.port)
        seconds = self.seconds / len(addresses)
        while True:
            address = addresses.pop(0)
            kind = TCP6ClientEndpoint if ":" in address else TCP4ClientEndpoint
            endpoint: Any = kind(self.reactor, address, self.port, seconds)
            try:
                return cast(IProtocol, await endpoint.connect(factory))
            except ConnectError:
                if not addresses:
                    raise  # else the next address may answer


@implementer(IStreamClientEndpoint)
@dataclass(frozen=True)
class ProxyEndpoint:
    """Opens connections to the proxy; a proxy that is down is not a failure of the site."""

    proxy: str
    plain: GuardedEndpoint

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[IProtocol]:
        """Connect to the proxy."""
        return self.plain.connect(protocolFactory).addErrback(self._name_failure)

    def _name_failure(self, failure: Failure) -> NoReturn:
        failure.trap(ConnectError, NamedFailure)  # type: ignore[no-untyped-call]
        note = f"the proxy {self.proxy} does not answer; start it, or correct live.proxy"
        raise NamedFailure(FailureKind.PROXY_UNREACHABLE, note) from failure.value


@implementer(IAgentEndpointFactory)
@dataclass(frozen=True)
class GuardedEndpoints:
    """Makes endpoints for URLs: guarded TCP, with TLS on top for https."""

    lookup: AddressLookup
    reactor: Any
    tls: Any
    seconds: float

    def endpointForURI(self, uri: URI) -> Any:  # noqa: N802
        """Return the endpoint to connect to for a URL."""
        host = uri.host.decode("ascii").strip("[]")
        plain: Any = GuardedEndpoint(self.lookup, self.reactor, host, uri.port, self.seconds)
        if uri.scheme != b"https":
            return plain
        creator = self.tls.creatorForNetloc(uri.host, uri.port)
        return wrapClientTLS(cast(Any, NamedHandshakes(creator)), plain)


@implementer(IOpenSSLClientConnectionCreator)
@dataclass(frozen=True)
class NamedHandshakes:
    """Makes TLS connections whose handshakes always fail with a reason.

    When a server closes TLS before it is open, OpenSSL raises an error without a reason; Twisted
    expects one, and would print a traceback for every such connection.
    """

    creator: Any

    def clientConnectionForTLS(self, tlsProtocol: Any) -> SSL.Connection:  # noqa: N802
        """Return a connection as the creator makes it, with a handshake that names its failures."""
        connection: SSL.Connection = self.creator.clientConnectionForTLS(tlsProtocol)
        handshake = partial(_named_handshake, connection.do_handshake)
        connection.do_handshake = handshake  # type: ignore[method-assign]
        return connection


def _named_handshake(handshake: Callable[[], None]) -> None:
    try:
        handshake()
    except SSL.ZeroReturnError:
        reason = ("SSL routines", "", "closed during the handshake")
        raise SSL.Error([reason]) from None


class GuardedHandler(AgentHandler):
    """Scrapy's HTTP/1.1 handler behind an address guard (settings TRES_ALLOW and TRES_PROXY)."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        from twisted.internet import reactor

        settings = crawler.settings
        self.politeness = politeness_of(crawler)
        self.call_later: Callable[..., Any] = reactor.callLater
        self.site_by = site_by_of(crawler)
        pool = ConnectionPool(reactor, settings.getint("CONCURRENT_REQUESTS") or 64, self.on_sent)
        proxy: str = settings.get("TRES_PROXY") or ""
        seconds = settings.getfloat("DOWNLOAD_TIMEOUT")
        if proxy:
            seconds = min(seconds, PROXY_SECONDS)
        endpoints = GuardedEndpoints(lookup_of(crawler), reactor, self.tls_policy, seconds)
        self.use_agent(_agent(reactor, endpoints, pool, proxy), pool)

    def on_sent(self, url: str) -> None:
        """Start the delay of a site: looking up and connecting are over.

        The bytes leave in the loop's next turn. If this turn takes long (it writes a snapshot,
        say), the delay runs from then.
        """
        site = site_of_url(url, self.site_by)
        self.politeness.request_sent(site, monotonic())
        self.call_later(0, lambda: self.politeness.request_sent(site, monotonic()))


def _agent(
    reactor: Any, endpoints: GuardedEndpoints, pool: ConnectionPool, proxy: str
) -> Agent | ProxyAgent:
    if not proxy:
        return Agent.usingEndpointFactory(reactor, endpoints, pool)  # type: ignore[no-untyped-call,no-any-return]
    uri = URI.fromBytes(proxy.encode("ascii"))  # type: ignore[no-untyped-call]
    endpoint = ProxyEndpoint(proxy, endpoints.endpointForURI(uri))
    return ProxyAgent(endpoint, reactor, pool)  # type: ignore[no-untyped-call]
