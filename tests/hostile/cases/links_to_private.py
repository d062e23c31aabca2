"""Links to addresses that are nobody's business, in all their spellings."""

from __future__ import annotations

from tests.hostile.wire import Wire, page

EXPECT = "page"
ALSO = {
    "http://169.254.169.254/latest/meta-data/": "blocked-address",
    "http://10.0.0.1/": "blocked-address",
    "http://192.168.1.1/": "blocked-address",
    "http://[::1]/": "blocked-address",
    "http://[::ffff:10.0.0.1]/": ("blocked-address", "blocked-url"),
    "http://[fe80::1]/": ("blocked-address", "blocked-url"),
    "http://167772161/": ("blocked-address", "blocked-url", "no-such-host"),
    "http://0x0a000001/": ("blocked-address", "blocked-url", "no-such-host"),
    "http://012.0.0.1/": ("blocked-address", "blocked-url", "no-such-host"),
    "http://10.1/": ("blocked-address", "blocked-url", "no-such-host"),
    "http://0.0.0.0/": "blocked-address",
}
WIRE = r"169\.254\.169\.254.*http://167772161/"


async def handle(wire: Wire) -> None:
    await wire.reply(page("Private", "Try these.", *ALSO))
