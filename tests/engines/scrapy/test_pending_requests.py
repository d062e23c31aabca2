"""Requests that wait for their links to be chosen, and what is written down of them."""

from __future__ import annotations

from pathlib import Path

from scrapy import Request
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

from tres.scrapy_plugin.pending_requests import RULES, PendingRequests

LINKS = [f"http://a.example/{number}" for number in range(3)]


class Ruled(CrawlSpider):
    name = "ruled"
    rules = (Rule(LinkExtractor()), Rule(LinkExtractor(allow="nothing"), callback="parse"))


def test_an_incomplete_line_loses_no_other_rule(tmp_path: Path) -> None:
    for link in LINKS:
        request = Request(link, meta={"rule": 1, "link_text": "more"})
        PendingRequests(Ruled(), tmp_path).add([(link, request)])
        with (tmp_path / RULES).open("a") as file:
            file.write('["http://a.exam')
    again = PendingRequests(Ruled(), tmp_path)
    assert [again.take(link).meta["rule"] for link in LINKS] == [1, 1, 1]
