"""Markup that closes what it never opened, and worse."""

from __future__ import annotations

from tests.hostile.wire import Wire

EXPECT = "page"
WIRE = r"</p></b><title>Broken"


async def handle(wire: Wire) -> None:
    await wire.reply(
        b"</p></b><title>Broken<p>a<<b <a href='/x>y</a><!-- <table><tr><![CDATA[ &#xx;"
    )
