"""Requests of a spider that wait for their links to be chosen.

A plain link needs nothing but its URL. A request that says more (a callback, a rule, a key of meta)
is kept as it is until its link is chosen, as Scrapy's queue would keep it.

Requests cannot be written down: they hold methods. Which rule of a `CrawlSpider` has found a link
can, and is, in `rules.jsonl` of the run, before the crawl hears of the link. So a run that is
taken up again calls the same callbacks; a link of which nothing is known goes to the first rule
whose patterns its URL matches.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from scrapy import Request, Spider
from scrapy.link import Link
from scrapy.spiders import CrawlSpider

from tres.errors import RunError

RULES = "rules.jsonl"
_SAYS_NOTHING = frozenset({"depth"})


class PendingRequests:
    """What one spider has to say about links that wait."""

    def __init__(self, spider: Spider, run: Path) -> None:
        self._spider = spider
        self._file = run / RULES
        self._requests: dict[str, Request] = {}
        self._found = dict(_read(self._file)) if isinstance(spider, CrawlSpider) else {}
        self._chosen: set[str] = set()

    def keep(self, requests: Iterable[tuple[str, Request]]) -> None:
        """These requests lead to these links; the first for a link counts."""
        new = {
            link: request
            for link, request in requests
            if _says_more(request) and link not in self._chosen and link not in self._requests
        }
        self._requests.update(new)
        if isinstance(self._spider, CrawlSpider):
            self._write(new)

    def take(self, link: str) -> Request:
        """How the spider asks for a link that was chosen."""
        self._chosen.add(link)
        kept = self._requests.pop(link, None)
        return self._by_rule(link) if kept is None else kept

    def put_back(self, link: str, request: Request) -> None:
        """A link that was chosen waits again."""
        if _says_more(request):
            self._requests[link] = request

    def _write(self, new: dict[str, Request]) -> None:
        rows = [(link, request.meta) for link, request in new.items() if "rule" in request.meta]
        lines = [json.dumps([link, meta["rule"], meta.get("link_text", "")]) for link, meta in rows]
        try:
            with self._file.open("a", encoding="utf-8") as file:
                file.write("\n")  # what is there may end in half a line
                file.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            told = f"{self._file}: cannot be written ({error.strerror})"
            raise RunError(f"{told}; free some space, then start the crawl again") from error

    def _by_rule(self, link: str) -> Request:
        if not isinstance(self._spider, CrawlSpider):
            return Request(link)
        index, text = self._found.pop(link, (None, ""))
        if index is None or index >= len(self._spider._rules):
            index = self._matching(link)
        return (
            Request(link) if index is None else self._spider._build_request(index, Link(link, text))
        )

    def _matching(self, link: str) -> int | None:
        assert isinstance(self._spider, CrawlSpider)
        rules = enumerate(self._spider._rules)
        return next((index for index, rule in rules if rule.link_extractor.matches(link)), None)


def _says_more(request: Request) -> bool:
    more = request.callback or request.dont_filter or request.meta.keys() - _SAYS_NOTHING
    return bool(more)


def _read(file: Path) -> Iterable[tuple[str, tuple[int, str]]]:
    """Links and their rules; a line may be half of one, if the process was killed."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    for line in lines:
        try:
            link, rule, text = json.loads(line)
        except ValueError:
            continue
        yield str(link), (int(rule), str(text))
