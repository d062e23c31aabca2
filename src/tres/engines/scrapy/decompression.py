"""Compressed responses: servers may send them, and the reader's process decompresses them.

Pages are decompressed and read there in one go, so nothing happens to them here. What is needed
here (robots.txt, a document for the browser) makes the way there and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.responsetypes import responsetypes

from tres.engines.reading.decompress import ACCEPTED, DecompressError, content_encodings
from tres.engines.reading.tasks import Decompress
from tres.engines.scrapy.failures import NamedFailure

if TYPE_CHECKING:
    from tres.engines.scrapy.response_handler import Reader


class AcceptEncodingMiddleware:
    """A downloader middleware that tells servers which compressions are accepted."""

    def process_request(self, request: Request) -> None:
        """Set Accept-Encoding, unless the request has it."""
        request.headers.setdefault("Accept-Encoding", ACCEPTED)


def encodings_of(response: Response) -> tuple[str, ...]:
    """Return how the body of a response is compressed."""
    headers = response.headers.getlist("Content-Encoding")
    return content_encodings(name.decode("latin-1") for name in headers)


def reader_of(crawler: Crawler) -> Reader:
    """Return the reader of a crawl, which the spider holds."""
    reader: Reader = crawler.spider.reader  # type: ignore[union-attr]
    return reader


async def decompressed(
    response: Response, crawler: Crawler, most: int, cut: bool = False
) -> Response:
    """Return the response decompressed, by the reader's process."""
    encodings = encodings_of(response)
    if not encodings:
        return response
    task = Decompress(response.url, response.body, encodings, most, cut)
    body = await reader_of(crawler).ask(task)
    if isinstance(body, DecompressError):
        raise NamedFailure(body.kind, str(body))
    headers = response.headers.copy()
    headers.pop("Content-Encoding")
    kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
    return response.replace(cls=kind, headers=headers, body=body)
