"""The two requests behind one fetch: the spider's own, and the one that Scrapy sends.

`carrier_request` builds the request that carries a flight. It has everything that the spider's
request has, calls the scheduler back, and holds the spider's request in its meta. `spider_request`
turns it back into what the spider sees in a response or failure, so that a spider that retries it,
or copies its meta, works with a request of its own.
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

SPIDER_REQUEST = "tres_spider_request"
"""The key of a request's meta that holds the spider's own request."""
_OURS = frozenset({FLIGHT, SPIDER_REQUEST})


def carrier_request(
    asked: Request,
    flight: Flight,
    depth: int,
    callback: Callable[..., Any],
    errback: Callable[[Any], Any],
) -> Request:
    """Return the request that carries a flight."""
    ours = {FLIGHT: flight.url, SLOT: flight.site, SPIDER_REQUEST: asked, "depth": depth}
    meta = {**asked.meta, **ours}
    return asked.replace(
        url=flight.url, callback=callback, errback=errback, dont_filter=True, meta=meta
    )


def spider_request(carrier: Request) -> Request:
    """Return the spider's own request, with the meta that the download has added."""
    asked: Request = carrier.meta[SPIDER_REQUEST]
    meta = {key: value for key, value in carrier.meta.items() if key not in _OURS}
    return carrier.replace(
        callback=asked.callback, errback=asked.errback, dont_filter=asked.dont_filter, meta=meta
    )


async def iterate_output(output: Any) -> AsyncIterator[Any]:
    """Yield what a callback returns, in whichever of Scrapy's ways it does."""
    if isawaitable(output):
        output = await ensure_awaitable(output)
    if isinstance(output, AsyncIterator):
        async for result in output:
            yield result
    else:
        for result in arg_to_iter(output):
            yield result
