"""The two requests behind one fetch: the spider's own, and the one that Scrapy sends.

`sent` builds the request that carries a flight. It has everything that the spider's request has,
calls the scheduler back, and holds the spider's request in its meta. `spider_request` turns it back
into what the spider sees in a response or failure, so that a spider that retries it, or copies its
meta, works with a request of its own.
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


def spider_request(carrier: Request) -> Request:
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
