"""Real sockets: unfinished requests are hung up on, and connections are limited."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tres.dashboard import server
from tres.dashboard.server import server_for

LARGE = b"x" * 50_000_000
PATIENCE = 30.0
"""Seconds after which a connection that should have been closed counts as open for good."""
Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    body = LARGE if scope["path"] == "/large" else b"hello"
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(0.6 if scope["path"] == "/slow" else 0)
    await PlainTextResponse(body)(scope, receive, send)


def served(use: Callable[[int], Awaitable[None]]) -> None:
    """Use a server on a free port, and stop it."""

    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            running = server_for(app)
            task = asyncio.create_task(running.serve(sockets=[listening]))
            try:
                await asyncio.wait_for(use(listening.getsockname()[1]), PATIENCE)
            finally:
                running.should_exit = True
                await task

    asyncio.run(main())


async def connected(port: int, sent: bytes = b"") -> Client:
    client = await asyncio.open_connection("127.0.0.1", port)
    client[1].write(sent)
    return client


async def received(client: Client) -> bytes:
    """All that comes until the end of the connection, however it ends."""
    try:
        return await client[0].read()
    except ConnectionError:
        return b""
    finally:
        client[1].close()


async def drip(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"G")
        await asyncio.sleep(0.02)


WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345",
        WHOLE + b"GET / HTTP/1.1\r\nHo",
    ],
)
def test_half_a_request_is_not_waited_for_long(
    half: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "WHOLE_REQUEST", 0.2)

    async def use(port: int) -> None:
        answer = await received(await connected(port, half))
        assert (b"hello" in answer) == half.startswith(WHOLE)

    served(use)


def test_a_slow_request_gains_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WHOLE_REQUEST", 0.3)

    async def use(port: int) -> None:
        client = await connected(port)
        dripping = asyncio.create_task(drip(client[1]))
        assert await received(client) == b""
        dripping.cancel()

    served(use)


def test_a_whole_request_may_take_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time to work out an answer is not the client's."""
    monkeypatch.setattr(server, "WHOLE_REQUEST", 0.2)

    async def use(port: int) -> None:
        request = WHOLE.replace(b"/ ", b"/slow ", 1)
        assert (await received(await connected(port, request))).endswith(b"hello")

    served(use)


def test_connections_have_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 3)

    async def use(port: int) -> None:
        open_ones = [await connected(port, b"GET") for _ in range(3)]
        while True:  # the server hears of them in its own time
            turned_away = await received(await connected(port))
            if turned_away:
                break
        assert turned_away.startswith(b"HTTP/1.1 503")
        assert b"Retry-After: 10" in turned_away
        for _, writer in open_ones:
            writer.close()

    served(use)


def test_an_answer_that_nobody_reads_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "UNREAD_ANSWER", 0.2)

    async def use(port: int) -> None:
        client = await connected(port, WHOLE.replace(b"/ ", b"/large ", 1))
        await asyncio.sleep(0.6)
        assert len(await received(client)) < len(LARGE)

    served(use)
