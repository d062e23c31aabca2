"""What a case does its mischief with: one connection, down to the byte."""

from __future__ import annotations

import asyncio
import socket
import struct

CHUNK = 65_536


def page(title: str, text: str = "", *links: str) -> bytes:
    """An honest document."""
    anchors = "".join(f'<a href="{url}">link</a>\n' for url in links)
    return f"<title>{title}</title><p>{text}</p>\n{anchors}".encode()


class Wire:
    """One request and the connection it came on."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self.path = path
        self.host, self.port = writer.get_extra_info("sockname")[:2]
        self.ended = False
        """Nothing more can be said on this connection: its framing is broken, or it is gone."""

    def url(self, path: str = "/") -> str:
        """An address on the same host."""
        return f"http://{self.host}:{self.port}{path}"

    async def send(self, data: bytes) -> None:
        """Bytes as they are; the connection ends when the case is done."""
        self.ended = True
        self._writer.write(data)
        await self._writer.drain()

    async def reply(self, body: bytes = b"", *headers: str, status: str = "200 OK") -> None:
        """A sound response; its type is text/html unless a header says otherwise."""
        lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}"]
        if not any(header.lower().startswith("content-type:") for header in headers):
            lines.append("Content-Type: text/html; charset=utf-8")
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
        await self._writer.drain()

    async def redirect(self, target: str) -> None:
        """A redirect to anything."""
        await self.reply(b"", f"Location: {target}", status="302 Found")

    async def endless(self, head: bytes, piece: bytes, seconds: float = 0.0) -> None:
        """A piece again and again, until the client goes."""
        await self.send(head)
        while not self._writer.is_closing():
            await self.send(piece)
            await asyncio.sleep(seconds)

    async def hang(self) -> None:
        """Say nothing, until the client goes."""
        self.ended = True
        await self._reader.read()

    def reset(self) -> None:
        """Break the connection off with a reset instead of an orderly end."""
        self.ended = True
        linger = struct.pack("ii", 1, 0)
        self._writer.get_extra_info("socket").setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, linger
        )
        self._writer.transport.abort()


HTML_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n"
"""A head that still lacks its end and the length of the body."""
