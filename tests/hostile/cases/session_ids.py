"""Every visit gets a new session id in all links."""

from __future__ import annotations

from hashlib import blake2b

from tests.hostile.wire import Wire, page

EXPECT = "page"
AT_MOST = 200
WIRE = r"href=\"/page\?sid=[0-9a-f]{32}\""


async def handle(wire: Wire) -> None:
    session = blake2b(wire.path.encode(), digest_size=16).hexdigest()
    links = [f"{path}?sid={session}" for path in ("/page", "/other")]
    await wire.reply(page("Session", "The same few words on every page of this site.", *links))
