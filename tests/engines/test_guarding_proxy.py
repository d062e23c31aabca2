"""The guarding proxy: nothing is connected to that was not permitted."""

from __future__ import annotations

import asyncio
import base64
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from tests.support.http_server import Server, serving

from tres.engines.browser.guarding_proxy import HEAD_BYTES, GuardingProxy, Limits

LIMITS = Limits(seconds=20, bytes=100_000)
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"


Talk = Callable[[GuardingProxy, Server], Awaitable[Any]]


def talking(
    talk: Talk,
    permitted: Callable[[str], bool] = lambda address: True,
    answer: bytes = ANSWER,
    limits: Limits = LIMITS,
    through: bool = False,
) -> tuple[Any, Server, GuardingProxy]:
    """What a talk with a proxy gives, the server behind it, and the proxy."""

    async def all_of_it() -> tuple[Any, Server, GuardingProxy]:
        with serving(lambda asked: answer) as origin:
            proxy = GuardingProxy(permitted, limits, origin.url("") if through else "")
            await proxy.start()
            try:
                return await talk(proxy, origin), origin, proxy
            finally:
                await proxy.close()

    return asyncio.run(all_of_it())


async def say(proxy: GuardingProxy, *parts: bytes) -> bytes:
    """Say something to the proxy, and read until it ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.url.rsplit(":", 1)[1]))
    for part in parts:
        writer.write(part)
        await writer.drain()
    answer = await reader.read()
    writer.close()
    return answer


def secret(proxy: GuardingProxy) -> bytes:
    token = base64.b64encode(f"{proxy.user}:{proxy.password}".encode())
    return b"Host: h\r\nProxy-Authorization: Basic " + token + b"\r\n"


def get(url: str, *more: bytes) -> Talk:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        target = url.format(port=origin.port).encode()
        return await say(proxy, b"GET " + target + b" HTTP/1.1\r\n" + secret(proxy), *more, b"\r\n")

    return talk


def test_a_permitted_request_is_forwarded_without_a_word_to_the_proxy() -> None:
    answer, origin, _ = talking(get("http://127.0.0.1:{port}/a?b=c", b"Accept: x\r\n"))
    assert answer.endswith(b"\r\n\r\nhello")
    (head,) = origin.heads
    assert head.startswith(b"GET /a?b=c HTTP/1.1\r\nhost: 127.0.0.1:")
    assert b"accept: x\r\n" in head
    assert b"proxy" not in head.lower()


def test_nothing_is_forwarded_without_the_secret() -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> list[bytes]:
        target = f"http://127.0.0.1:{origin.port}/".encode()
        wrong = b"Proxy-Authorization: Basic dHJlczp0cmVz\r\n"
        heads = [b"GET " + target + b" HTTP/1.1\r\nHost: h\r\n" + extra for extra in (b"", wrong)]
        return [await say(proxy, head + b"\r\n") for head in heads]

    answers, origin, _ = talking(talk)
    assert [answer.split()[1] for answer in answers] == [b"407", b"407"]
    assert origin.heads == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"])
def test_addresses_that_are_not_permitted_are_refused_however_they_are_spelt(host: str) -> None:
    talk = get(f"http://{host}:{{port}}/")
    answer, origin, proxy = talking(talk, permitted=lambda address: False)
    assert answer.split()[1] == b"403"
    assert origin.heads == []
    assert sum(proxy.refused.values()) == 1


def test_the_address_that_was_checked_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that lies the second time is not asked a second time."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def lookup(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != "rebinding.example":
            return real(host, port, *rest, **more)
        asked.append(host)
        address = "127.0.0.1" if len(asked) == 1 else "127.0.0.2"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    talk = get("http://rebinding.example:{port}/")
    answer, _, _ = talking(talk, permitted=lambda address: address == "127.0.0.1")
    assert answer.endswith(b"hello")
    assert asked == ["rebinding.example"]


def test_a_name_with_two_addresses_is_reached_at_the_permitted_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = socket.getaddrinfo

    def lookup(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host != "two.example":
            return real(host, port, *rest, **more)
        pair = ("127.0.0.2", "127.0.0.1")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in pair]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    seen: list[str] = []

    def permitted(address: str) -> bool:
        seen.append(address)
        return address == "127.0.0.1"

    answer, _, _ = talking(get("http://two.example:{port}/"), permitted=permitted)
    assert answer.endswith(b"hello")
    assert seen == ["127.0.0.2", "127.0.0.1"]


def test_a_second_request_on_one_connection_goes_nowhere() -> None:
    again = b"\r\nGET http://other.example/ HTTP/1.1\r\n"
    answer, origin, _ = talking(get("http://127.0.0.1:{port}/", again))
    assert b"connection: close" in answer.lower()
    assert b"keep-alive" not in answer
    assert len(origin.heads) == 1
    assert b"other.example" not in origin.heads[0]


def test_a_tunnel_passes_bytes_on_both_ways() -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        connect = f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\n".encode()
        reader, writer = await asyncio.open_connection(*_place(proxy))
        writer.write(connect + secret(proxy) + b"\r\n")
        established = await reader.readuntil(b"\r\n\r\n")
        assert established.split()[1] == b"200"
        writer.write(b"these are bytes\r\n\r\n")
        answer = await reader.readexactly(len(ANSWER))
        writer.close()
        return answer

    answer, origin, _ = talking(talk)
    assert answer == ANSWER
    assert origin.heads == [b"these are bytes\r\n\r\n"]


def _place(proxy: GuardingProxy) -> tuple[str, int]:
    return "127.0.0.1", int(proxy.url.rsplit(":", 1)[1])


def connect_to(place: str) -> Talk:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        target = place.format(port=origin.port).encode()
        return await say(proxy, b"CONNECT " + target + b" HTTP/1.1\r\n" + secret(proxy) + b"\r\n")

    return talk


def test_tunnels_to_addresses_that_are_not_permitted_are_refused() -> None:
    answer, origin, _ = talking(connect_to("127.0.0.1:{port}"), permitted=lambda address: False)
    assert answer.split()[1] == b"403"
    assert origin.heads == []


def test_with_an_upstream_proxy_everything_goes_there_in_absolute_form() -> None:
    answer, origin, _ = talking(
        get("http://archived.example/a"), permitted=lambda address: False, through=True
    )
    assert answer.endswith(b"hello")
    assert origin.heads[0].startswith(b"GET http://archived.example/a HTTP/1.1\r\nhost: archived")
    refused, _, _ = talking(connect_to("archived.example:443"), through=True)
    assert refused.split()[1] == b"501"


def test_an_answer_is_cut_after_the_limit_of_bytes() -> None:
    endless = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000
    answer, _, _ = talking(get("http://127.0.0.1:{port}/"), answer=endless)
    assert len(answer.partition(b"\r\n\r\n")[2]) == LIMITS.bytes


def test_a_connection_ends_after_the_limit_of_time() -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        return await say(proxy, b"GET http://127.0.0.1/ HTTP/1.1\r\n")  # and no more

    answer, _, _ = talking(talk, limits=Limits(seconds=0.2, bytes=1000))
    assert answer == b""


@pytest.mark.parametrize(
    "head",
    [
        b"nonsense\r\n\r\n",
        b"GET http://[/ HTTP/1.1\r\n",
        b"GET http://h:99999/ HTTP/1.1\r\n",
        b"GET https://example.org/ HTTP/1.1\r\n",
        b"GET file:///etc/passwd HTTP/1.1\r\n",
        b"GET /path HTTP/1.1\r\n",
        b"GET http://user@example.org/ HTTP/1.1\r\n",
        b"POST http://h/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
        b"POST http://h/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
        b"GET http://h/ HTTP/1.1\r\nbroken header\r\n",
        b"GET http://h/ HTTP/2.0\r\n",
        b"GET http://h/ HTTP/1.1\r\nHost: other\r\n",
    ],
)
def test_bad_requests_are_refused(head: bytes) -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        return await say(proxy, head + secret(proxy) + b"\r\n")

    answer, origin, _ = talking(talk)
    assert answer.split()[1] in (b"400", b"411")
    assert origin.heads == []


SMUGGLED = b"GET http://internal.example/ HTTP/1.1\r\nHost: internal.example\r\n\r\n"


@pytest.mark.parametrize(
    "framing",
    [
        b"Content-Length: 0\r\nContent-Length: %d\r\n" % len(SMUGGLED),
        b"Content-Length: 0, %d\r\n" % len(SMUGGLED),
        b"Content-Length: +%d\r\n" % len(SMUGGLED),
        b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % len(SMUGGLED),
        b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n" % len(SMUGGLED),
        b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"X: y\r\n Transfer-Encoding: chunked\r\n",
        b"Content-Length: 0\r\n\t%d\r\n" % len(SMUGGLED),
        b"X: y\nTransfer-Encoding: chunked\r\n",
        b"X: y\rTransfer-Encoding: chunked\r\n",
        b"X: y\n\n",
        b"X: \0y\r\n",
    ],
)
def test_a_request_whose_end_is_in_doubt_reaches_no_server(framing: bytes) -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        line = f"POST http://127.0.0.1:{origin.port}/ HTTP/1.1\r\n".encode()
        return await say(proxy, line + framing + secret(proxy) + b"\r\n" + SMUGGLED)

    answer, origin, _ = talking(talk)
    assert answer.split()[1] in (b"400", b"411")
    assert origin.heads == []


def test_the_same_length_twice_is_forwarded_once() -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        line = f"POST http://127.0.0.1:{origin.port}/ HTTP/1.1\r\n".encode()
        twice = b"Content-Length: 2\r\nContent-Length: 2\r\n"
        return await say(proxy, line + twice + secret(proxy) + b"\r\nab" + SMUGGLED)

    answer, origin, _ = talking(talk)
    assert answer.endswith(b"hello")
    assert origin.heads[0].lower().count(b"content-length: 2\r\n") == 1
    assert len(origin.heads) == 1


def test_the_url_decides_where_a_request_goes_whatever_its_host_header_says() -> None:
    """The header of the request names `h`: RFC 9112, section 3.2.2."""
    answer, origin, _ = talking(get("http://127.0.0.1:{port}/"))
    assert answer.endswith(b"hello")
    assert origin.heads[0].lower().count(b"host:") == 1
    assert b"host: 127.0.0.1:%d\r\n" % origin.port in origin.heads[0]


def test_a_body_with_too_large_a_length_is_refused_unread() -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        line = f"POST http://127.0.0.1:{origin.port}/ HTTP/1.1\r\n".encode()
        size = b"Content-Length: %d\r\n" % (LIMITS.bytes + 1)
        return await say(proxy, line + size + secret(proxy) + b"\r\n")

    answer, origin, _ = talking(talk)
    assert answer.split()[1] == b"413"
    assert origin.heads == []


def test_bytes_sent_along_with_connect_go_into_the_tunnel() -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        connect = f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\n".encode()
        reader, writer = await asyncio.open_connection(*_place(proxy))
        writer.write(connect + secret(proxy) + b"\r\nthese are bytes\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        answer = await reader.readexactly(len(ANSWER))
        writer.close()
        return answer

    answer, origin, _ = talking(talk)
    assert answer == ANSWER
    assert origin.heads == [b"these are bytes\r\n\r\n"]


def test_an_endless_head_ends_the_connection() -> None:
    async def talk(proxy: GuardingProxy, origin: Server) -> bytes:
        with suppress(OSError):  # the proxy may be gone before everything is sent
            return await say(proxy, b"GET http://h/ HTTP/1.1\r\nX: " + b"x" * (2 * HEAD_BYTES))
        return b""

    answer, origin, _ = talking(talk)
    assert answer == b""
    assert origin.heads == []
