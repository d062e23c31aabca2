"""Sitemaps that robots.txt names are links of the first page of a site, asked for politely."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.local_web import Answer, LocalWeb, html
from tests.support.timing import assert_spaced

from tres.crawl.events import StopReason
from tres.engines.scrapy.sitemaps import MAX_FILES

Crawl = Callable[..., Any]
SITE = "http://a.example"
PAGES = [f"{SITE}/hidden/{number}" for number in range(3)]


def listing(*urls: str, kind: str = "urlset") -> Answer:
    places = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Answer(f"<{kind}>{places}</{kind}>", headers={"Content-Type": "application/xml"})


def web_with(**named: Any) -> LocalWeb:
    """A site of two pages that nobody links to more of, and its sitemaps by name."""
    rules = "".join(f"Sitemap: {SITE}/{name}.xml\n" for name in named)
    web: dict[str, Any] = {f"{SITE}/{name}.xml": file for name, file in named.items()}
    web[f"{SITE}/robots.txt"] = Answer(
        f"User-agent: *\nDisallow: /secret\n{rules}", headers={"Content-Type": "text/plain"}
    )
    web[f"{SITE}/"] = html("Home", "All about biology.", [f"{SITE}/second"])
    for number, url in enumerate([f"{SITE}/second", *PAGES]):
        web[url] = html(f"Page {number}", f"Biology, part {number}, says {hash(url)}.", [])
    return LocalWeb(web)


def test_what_a_sitemap_lists_is_crawled(crawl: Crawl) -> None:
    with web_with(all=listing(*PAGES)) as web:
        crawl(web, f"{SITE}/", sitemaps=True, near_duplicates=False)
    assert set(PAGES) <= set(web.urls)
    assert web.urls.count(f"{SITE}/all.xml") == 1


def test_sitemaps_are_off_by_default(crawl: Crawl) -> None:
    with web_with(all=listing(*PAGES)) as web:
        crawl(web, f"{SITE}/", near_duplicates=False)
    assert web.urls == [f"{SITE}/", f"{SITE}/second"]


def test_an_index_leads_only_to_sitemaps_of_its_own_site(crawl: Crawl) -> None:
    index = listing(f"{SITE}/more.xml", "http://b.example/x.xml", kind="sitemapindex")
    with web_with(index=index, more=listing(PAGES[0], "http://b.example/page")) as web:
        crawl(web, f"{SITE}/", sitemaps=True, near_duplicates=False)
    assert PAGES[0] in web.urls
    assert not [url for url in web.urls if "b.example" in url]


def test_recursive_and_huge_indexes_end(crawl: Crawl) -> None:
    many = [f"{SITE}/{number}.xml" for number in range(50)]
    with web_with(index=listing(f"{SITE}/index.xml", *many, kind="sitemapindex")) as web:
        crawl(web, f"{SITE}/", sitemaps=True, near_duplicates=False)
    assert len([url for url in web.urls if url.endswith(".xml")]) == MAX_FILES


@pytest.mark.parametrize(
    "broken",
    [Answer(status=500), Answer(hang_up=True), Answer("<urlset><loc>"), Answer(status=404)],
    ids=["error", "hangs up", "cut", "missing"],
)
def test_a_sitemap_that_cannot_be_fetched_costs_nothing_else(crawl: Crawl, broken: Answer) -> None:
    with web_with(broken=broken, all=listing(*PAGES)) as web:
        crawl(web, f"{SITE}/", sitemaps=True, near_duplicates=False)
    assert set(PAGES) <= set(web.urls)


def test_sitemaps_obey_robots_txt_and_wait_their_turn(crawl: Crawl) -> None:
    secret = {"secret": listing(*PAGES), "all": listing(f"{SITE}/secret/page", PAGES[0])}
    with web_with(**secret) as web:
        crawl(web, f"{SITE}/", sitemaps=True, near_duplicates=False, delay=0.6, per_site=1)
    assert not [url for url in web.urls if "/secret" in url]
    assert PAGES[0] in web.urls
    assert_spaced([asked.at for asked in web.asked], 0.6)


def test_a_site_gets_no_page_requests_while_its_sitemap_is_fetched(crawl: Crawl) -> None:
    slow = Answer("<urlset></urlset>", seconds=0.3)
    with web_with(slow=slow) as web:
        crawl(web, f"{SITE}/", f"{SITE}/second", k=2, sitemaps=True, per_site=1)
    assert f"{SITE}/slow.xml" in web.urls
    assert web.most_at_once_of["a.example"] == 1


def test_retry_after_for_a_sitemap_holds_for_its_site(crawl: Crawl) -> None:
    busy = Answer(status=503, headers={"Retry-After": "100"})
    with web_with(busy=busy) as web:
        story = crawl(web, f"{SITE}/", sitemaps=True)
    assert web.urls == [f"{SITE}/", f"{SITE}/busy.xml"]
    assert story.reason is StopReason.SITES_DOWN
