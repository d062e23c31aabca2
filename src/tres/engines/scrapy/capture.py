"""The raw exchange of a page: what went over the wire, before anything is decompressed.

Scrapy and Twisted keep status, headers and the body as it was sent, but not every byte: the
spelling of header names is normalised, the reason phrase is the usual one, and chunks are joined. A
WARC record may hold exactly that. The body is kept by reference, not copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus
from time import time
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response

from tres.engines.protocols import Exchange

EXCHANGE = "tres_exchange"
"""The key of a request's meta (and so of its response's) that holds the exchange."""


class CaptureMiddleware:
    """A downloader middleware next to the downloader, where bodies are still compressed."""

    def __init__(self, in_absolute_form: bool = False) -> None:
        self._in_absolute_form = in_absolute_form

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CaptureMiddleware:
        return cls(bool(crawler.settings.get("TRES_PROXY")))

    def process_request(self, request: Request) -> None:
        """Drop the exchange of an earlier attempt."""
        request.meta.pop(EXCHANGE, None)

    def process_response(self, request: Request, response: Response) -> Response:
        """Keep the exchange of a response that may be a page."""
        if may_be_page(response):
            request.meta[EXCHANGE] = Exchange(
                url=request.url,
                request_head=request_head(request, self._in_absolute_form),
                response_head=response_head(response),
                body=response.body,
                address=str(response.ip_address or ""),
                at=time(),
            )
        return response


def may_be_page(response: Response) -> bool:
    """Is this a success whose type is HTML, or is not given?"""
    kind = response.headers.get("Content-Type") or b"html"
    return 200 <= response.status < 300 and b"html" in kind.lower()


def request_head(request: Request, in_absolute_form: bool = False) -> bytes:
    """Return the request line and headers, including the empty line."""
    parts = urlsplit(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    if in_absolute_form:
        target = f"{parts.scheme}://{parts.netloc}{target}"
    lines = [f"{request.method} {target} HTTP/1.1".encode("ascii", "replace")]
    if "Host" not in request.headers:
        lines.append(f"Host: {parts.netloc}".encode("ascii", "replace"))
    return _head(lines, request.headers)


def response_head(response: Response) -> bytes:
    """Return the status line and headers, including the empty line."""
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:  # a status that nobody has defined
        phrase = ""
    line = f"{response.protocol or 'HTTP/1.1'} {response.status} {phrase}"
    return _head([line.rstrip().encode("ascii", "replace")], response.headers)


def _head(lines: Iterable[bytes], headers: Headers) -> bytes:
    fields = [name + b": " + value for name, values in headers.items() for value in values]
    whole = (field.replace(b"\r", b" ").replace(b"\n", b" ") for field in fields)
    return b"\r\n".join((*lines, *whole, b"", b""))
