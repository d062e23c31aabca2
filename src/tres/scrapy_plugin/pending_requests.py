"""The spider's requests for links that wait in the frontier.

A plain link needs nothing but its URL. A request with more to it (a callback, a rule, a key of
meta) is kept until its link is chosen, as Scrapy's queue would keep it.

Requests cannot be stored, because they hold methods. Which rule of a `CrawlSpider` has found a link
can: it is in `rules.jsonl` of the run, written before the session receives the link. So a resumed
run calls the same callbacks; a link that is not in the file goes to the first rule whose patterns
match its URL.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from scrapy import Request, Spider
from scrapy.link import Link
from scrapy.spiders import CrawlSpider

from tres.engines.scrapy.internals import request_by_rule
from tres.errors import RunError

RULES = "rules.jsonl"
_PLAIN_META = frozenset({"depth"})


class PendingRequests:
    """The special requests of one spider, by the link they are for."""

    def __init__(self, spider: Spider, run: Path) -> None:
        self._spider = spider
        self._file = run / RULES
        self._requests: dict[str, Request] = {}
        self._rule_of = dict(_read(self._file)) if isinstance(spider, CrawlSpider) else {}
        self._chosen: set[str] = set()

    def add(self, requests: Iterable[tuple[str, Request]]) -> None:
        """Keep requests for links; the first one for a link counts."""
        new = {
            link: request
            for link, request in requests
            if _is_special(request) and link not in self._chosen and link not in self._requests
        }
        self._requests.update(new)
        if isinstance(self._spider, CrawlSpider):
            self._write(new)

    def take(self, link: str) -> Request:
        """Return the spider's request for a link that was chosen."""
        self._chosen.add(link)
        kept = self._requests.pop(link, None)
        return self._by_rule(link) if kept is None else kept

    def put_back(self, link: str, request: Request) -> None:
        """Keep the request of a chosen link that goes back to the frontier."""
        if _is_special(request):
            self._requests[link] = request

    def _write(self, new: dict[str, Request]) -> None:
        rows = [(link, request.meta) for link, request in new.items() if "rule" in request.meta]
        lines = [json.dumps([link, meta["rule"], meta.get("link_text", "")]) for link, meta in rows]
        try:
            with self._file.open("a", encoding="utf-8") as file:
                file.write("\n")  # the last line may be incomplete
                file.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            raise RunError(
                f"{self._file}: cannot be written ({error.strerror}); "
                "free some space, then start the crawl again"
            ) from error

    def _by_rule(self, link: str) -> Request:
        if not isinstance(self._spider, CrawlSpider):
            return Request(link)
        index, text = self._rule_of.pop(link, (None, ""))
        if index is None or index >= len(self._spider.rules):
            index = self._matching_rule(link)
        if index is None:
            return Request(link)
        return request_by_rule(self._spider, index, Link(link, text))

    def _matching_rule(self, link: str) -> int | None:
        assert isinstance(self._spider, CrawlSpider)
        rules = enumerate(self._spider.rules)
        return next((index for index, rule in rules if rule.link_extractor.matches(link)), None)


def _is_special(request: Request) -> bool:
    """Is a request more than its URL?"""
    special = request.callback or request.dont_filter or request.meta.keys() - _PLAIN_META
    return bool(special)


def _read(file: Path) -> Iterable[tuple[str, tuple[int, str]]]:
    """Yield links and their rules; skip lines that a killed process left incomplete."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    for line in lines:
        try:
            link, rule, text = json.loads(line)
        except ValueError:
            continue
        yield str(link), (int(rule), str(text))
