"""Between what a spider asks for and what is sent: one request, made by both.

`sent` is the request that carries a flight. It says all that the spider's own request says, and
calls the scheduler; the spider's own goes along in its meta. `as_asked` is what the spider sees of
it in a response or a failure: whoever retries it there, or copies its meta, does that with a
request of the spider's own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from inspect import isawaitable
from typing import Any

from scrapy import Request
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.misc import arg_to_iter

from tres.engines.flights import Flight
from tres.engines.scrapy.scheduler import FLIGHT, SLOT

ASKED = "tres_asked"
"""The key of a request's meta that holds the request as the spider would have made it."""
_OURS = frozenset({FLIGHT, ASKED})


def sent(
    asked: Request,
    flight: Flight,
    depth: int,
    callback: Callable[..., Any],
    errback: Callable[[Any], Any],
) -> Request:
    """The request that carries a flight."""
    ours = {FLIGHT: flight.url, SLOT: flight.site, ASKED: asked, "depth": depth}
    meta = {**asked.meta, **ours}
    return asked.replace(
        url=flight.url, callback=callback, errback=errback, dont_filter=True, meta=meta
    )


def as_asked(carrier: Request) -> Request:
    """The request as the spider would have made it, with what its way has added to its meta."""
    asked: Request = carrier.meta[ASKED]
    meta = {key: value for key, value in carrier.meta.items() if key not in _OURS}
    return carrier.replace(
        callback=asked.callback, errback=asked.errback, dont_filter=asked.dont_filter, meta=meta
    )


async def results(output: Any) -> AsyncIterator[Any]:
    """What a callback gives, in whichever of Scrapy's ways it does."""
    if isawaitable(output):
        output = await ensure_awaitable(output)
    if isinstance(output, AsyncIterator):
        async for result in output:
            yield result
    else:
        for result in arg_to_iter(output):
            yield result
