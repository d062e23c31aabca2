"""Sitemaps: lists of pages that sites publish for crawlers.

A sitemap is XML with a `<loc>` for each page, an index of further sitemaps with a `<loc>` for
each of them, or plain text with a URL in each line; any of them may be compressed. They come
from strangers, so no XML parser sees them: only the `<loc>` elements matter, and a regular
expression finds them without expanding the entities of the document. Sizes are bounded before and
after decompression; of a broken sitemap, what could be read counts.

They enter a crawl as further links, without anchors, of the first page that is fetched from their
site (`with_sitemap`), and are then treated like any other link.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import unescape
from itertools import islice

from tres.web.charset import decode_page
from tres.web.page import Link, Page
from tres.web.url import SiteBy, canonical, site_of

MAX_BYTES = 10_000_000
MAX_URLS = 5_000
MAX_LISTED = 4 * MAX_URLS
"""URLs that are read, of the site or not."""

_GZIP = b"\x1f\x8b"
_LOCATION = re.compile(
    r"<(?:\w+:)?loc\s*+>\s*+(?:<!\[CDATA\[([^\]<]{1,4000})\]\]>|([^<]{1,4000})<)", re.IGNORECASE
)
_INDEX = re.compile(r"<(?:\w+:)?sitemapindex[\s>]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The content of one file: pages, or further sitemaps. URLs are canonical and distinct."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def parse_sitemap(body: bytes, url: str, by: SiteBy = "host") -> Sitemap:
    """Return the sitemap at a canonical URL; only URLs of its own site count."""
    read = decode_page(_decompressed(body))
    text = read.text if read else ""
    listed = (_written(place) for place in _LOCATION.finditer(text))
    if "<" not in text[:1_000]:
        listed = (line.strip() for line in text.splitlines())
    here = site_of(url, by)
    urls = filter(None, map(canonical, islice(listed, MAX_LISTED)))
    own = dict.fromkeys(islice((each for each in urls if site_of(each, by) == here), MAX_URLS))
    if _INDEX.search(text[:4_000]):
        return Sitemap(sitemaps=tuple(own))
    return Sitemap(pages=tuple(own))


def with_sitemap(page: Page, urls: Iterable[str]) -> Page:
    """Return the page with links to `urls` after its own, without duplicates."""
    known = {link.url for link in page.links}
    more = [Link(url, "") for url in dict.fromkeys(urls) if url not in known]
    return replace(page, links=(*page.links, *more)) if more else page


def _written(place: re.Match[str]) -> str:
    """Return the text of an element: CDATA as it is, else with the references resolved."""
    return (place[1] if place[1] is not None else unescape(place[2])).strip()


def _decompressed(body: bytes) -> bytes:
    if not body.startswith(_GZIP):
        return body[:MAX_BYTES]
    try:
        return zlib.decompressobj(wbits=31).decompress(body, MAX_BYTES)
    except zlib.error:
        return b""
