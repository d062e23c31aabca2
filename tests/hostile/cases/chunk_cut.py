"""The connection ends before the last chunk."""

from __future__ import annotations

from tests.hostile.wire import HTML_HEAD, Wire, page

EXPECT = ("no-connection", "malformed", "page")
WIRE = r"chunked\r\n\r\n[0-9a-f]+\r\n<title>.*<end>$"


async def handle(wire: Wire) -> None:
    body = page("Cut", "The rest is missing.")
    head = HTML_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    await wire.send(head + b"%x\r\n%b\r\n" % (len(body), body))
