"""A web from pages that a program has already: for tests, and for what comes from elsewhere.

URLs are made canonical and texts folded as a reader of HTML folds them (`tres.offline.render`), so
that such a web is crawled like any archive. Links may be relative; what is no web address
cannot be followed and is left out. Of several pages with one URL the first counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from tres.errors import ArchiveError
from tres.offline.render import as_read
from tres.web.page import Failed, FailureKind, Link, Outcome, Page
from tres.web.url import canonical


class PagesWeb:
    """Some pages as a web; what is not among them is a dead link.

        >>> home = Page("http://bees.example/", "Bees", "All about honey.", (Link("/wax", "wax"),))
        >>> web = PagesWeb([home])
        >>> web.fetch("http://bees.example/").links
        (Link(url='http://bees.example/wax', anchor='wax'),)
        >>> web.fetch("http://bees.example/wax").kind
        <FailureKind.NOT_FOUND: 'http-404'>

    A run remembers the `name` of its web, but cannot make it again: whoever resumes such a crawl
    gives the web again.
    """

    def __init__(self, pages: Iterable[Page], name: str = "pages") -> None:
        self.name = name
        self._pages: dict[str, Page] = {}
        for page in pages:
            known = _taken_in(page)
            self._pages.setdefault(known.url, known)
        if not self._pages:
            raise ArchiveError(f"{name}: a web needs a page at least; none was given")

    def fetch(self, url: str) -> Outcome:
        """The page with this URL."""
        page = self._pages.get(url)
        return Failed(url, FailureKind.NOT_FOUND) if page is None else page

    def pages(self) -> Iterator[Page]:
        """All pages in the order in which they were given."""
        return iter(self._pages.values())

    def __len__(self) -> int:
        return len(self._pages)


def _taken_in(page: Page) -> Page:
    url = canonical(page.url)
    if url is None:
        raise ArchiveError(f"{page.url!r} is no web address; a page needs one: http://...")
    targets = ((canonical(link.url, url), link.anchor) for link in page.links)
    links = tuple(Link(target, anchor) for target, anchor in targets if target)
    return as_read(replace(page, url=url, links=links))
