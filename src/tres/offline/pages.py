"""A web of pages in memory: for tests, and for pages from other sources.

URLs become canonical, and blanks are folded as in the reader of HTML (`tres.offline.render`), so
such a web is crawled like an archive. Links may be relative; links that are not web addresses are
dropped. Of several pages with the same URL, the first counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tres.errors import ArchiveError
from tres.offline.render import normalise_page
from tres.web.page import Failed, FailureKind, Link, Outcome, Page
from tres.web.url import canonical


class PagesWeb:
    """Some pages as a web; all other URLs are dead links.

        >>> home = Page("http://bees.example/", "Bees", "All about honey.", (Link("/wax", "wax"),))
        >>> web = PagesWeb([home])
        >>> web.fetch("http://bees.example/").links
        (Link(url='http://bees.example/wax', anchor='wax'),)
        >>> web.fetch("http://bees.example/wax").kind
        <FailureKind.NOT_FOUND: 'http-404'>

    A run knows the `name` of such a web, but cannot open it: to resume the crawl, pass the web
    again.
    """

    def __init__(self, pages: Iterable[Page], name: str = "pages") -> None:
        self.name = name
        self._pages: dict[str, Page] = {}
        for page in pages:
            known = _normalise(page)
            self._pages.setdefault(known.url, known)
        if not self._pages:
            raise ArchiveError(f"{name}: a web needs at least one page")

    def fetch(self, url: str) -> Outcome:
        """Return the page with this URL."""
        page = self._pages.get(url)
        return Failed(url, FailureKind.NOT_FOUND) if page is None else page

    def pages(self) -> Iterator[Page]:
        """Return all pages in the order in which they were given."""
        return iter(self._pages.values())

    def __len__(self) -> int:
        return len(self._pages)


def _normalise(page: Page) -> Page:
    url = canonical(page.url)
    if url is None:
        raise ArchiveError(f"{page.url!r} is not a web address; a page needs one: http://...")
    targets = ((canonical(link.url, url), link.anchor) for link in page.links)
    links = tuple(Link(target, anchor) for target, anchor in targets if target)
    return normalise_page(replace(page, url=url, links=links))
