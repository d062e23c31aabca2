"""A crawl among hosts that mean no good: all cases at once, and the good part goes on.

One crawl starts from good sites that link to every hostile host; another has the good sites
alone, to compare. Both are whole programs: `tres crawl` with its reading process, over real
sockets. They run side by side, so that whatever else the machine does, and what the processor
has to do for the hostile pages themselves, meets both of them alike: the difference is how far
the hostile hosts hold the crawl up. On a machine without processor time to spare the crawl with
more to do is slower all the same; then the time in which a crawl was ready to run and was not let
does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address, ip_network

import pytest
from tests.hostile import good, names
from tests.hostile.case import Case, all_cases
from tests.hostile.crawling import GOAL, Crawled, crawled, good_pages
from tests.hostile.server import case_named
from tests.support.timing import assert_spaced

pytestmark = pytest.mark.slow

CASES = all_cases()
MOST_MEMORY = 500_000_000
LEAST_SPEED = 0.7


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[Crawled]:
    place = tmp_path_factory.mktemp("hostile")
    with ThreadPoolExecutor(2) as side_by_side:
        return list(side_by_side.map(crawled, (place / "all", place / "good"), (True, False)))


@pytest.fixture(scope="module")
def among_all(both: list[Crawled]) -> Crawled:
    return both[0]


@pytest.fixture(scope="module")
def reported(among_all: Crawled) -> dict[str, str]:
    return among_all.reported


@pytest.fixture(scope="module")
def asked(among_all: Crawled) -> Counter[str]:
    return Counter(request.host for request in among_all.requests)


def test_it_ends_as_it_should(among_all: Crawled):
    assert among_all.code == 0, among_all.terminal
    assert "stopped: interrupted" in among_all.terminal
    assert "Traceback" not in among_all.terminal
    assert len(good_pages(among_all.requests)) >= GOAL


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
class TestACase:
    def test_is_reported_by_its_name(self, case: Case, among_all: Crawled, reported):
        assert reported[among_all.url(case.host)] in case.expect, case.about

    def test_leads_to_what_it_may_lead_to(self, case: Case, among_all: Crawled, reported):
        for place, kinds in case.also.items():
            url = place if place.startswith("http") else among_all.url(case.host, place)
            assert reported.get(url) in (None, *kinds), url

    def test_never_leads_to_what_it_must_not(self, case: Case, among_all: Crawled, reported):
        paths = [each.path for each in among_all.requests if each.host == case.host]
        own = [url for url in reported if f"//{case.host}:" in url or "//127." not in url]
        assert not [text for text in (*own, *paths) if any(bad in text for bad in case.never)]

    def test_is_asked_no_more_than_it_should_be(self, case: Case, asked):
        assert asked[case.host] <= case.at_most


@pytest.mark.parametrize("name", names.NAMES)
def test_a_name_is_worth_what_its_addresses_are(name: str, among_all: Crawled, reported):
    assert reported[among_all.url(name)] in names.EXPECT[name]


def test_nobody_ever_connects_to_a_private_address(among_all: Crawled):
    web = ip_network("127.0.0.0/8")
    assert len(among_all.connections) > len(CASES)
    assert [each for each in among_all.connections if ip_address(each) not in web] == []


def test_every_hostile_host_was_asked(among_all: Crawled, asked):
    assert {case.host for case in CASES} <= set(asked)


def test_every_failure_has_a_name_and_is_counted(among_all: Crawled):
    rows = among_all.rows("failures.csv")
    assert Counter(row["kind"] for row in rows) == among_all.summary["failures"]
    assert {row["kind"] for row in rows} <= {
        kind for case in CASES for kinds in (case.expect, *case.also.values()) for kind in kinds
    }


def test_links_that_rules_drop_are_counted_and_told(among_all: Crawled):
    dropped = among_all.summary["dropped"]
    assert dropped["file"] > good.SITES
    assert "by the rule 'file'" in (among_all.run / "scrapy.log").read_text()
    assert good.PICTURE not in {request.path for request in among_all.requests}


def test_delays_that_robots_asks_for_are_kept(among_all: Crawled):
    host = case_named("robots_crawl_delay").host
    times = [request.at for request in among_all.requests if request.host == host]
    assert len(times) >= 3
    assert_spaced(times, 2)


def test_memory_is_bounded(among_all: Crawled):
    assert 0 < among_all.peak_bytes < MOST_MEMORY


def test_nothing_steers_the_terminal_or_hides_in_the_files(among_all: Crawled):
    names = ("scrapy.log", "pages.csv", "failures.csv")
    log, pages, failures = ((among_all.run / name).read_bytes().decode() for name in names)
    for text in (among_all.terminal, log, pages, failures):
        assert not re.search(r"[^\n\r\t\x20-\x7e\x80-\U0010ffff]|\x9b", text)
        assert not {c for c in text if unicodedata.category(c) in ("Cf", "Cs")}
    assert "<script" not in among_all.terminal + pages + failures


def test_the_good_part_goes_on(both: list[Crawled]):
    among_all, alone = both
    assert alone.code == 0, alone.terminal
    assert {request.host for request in alone.requests} == set(good.hosts())
    if among_all.good_per_second < LEAST_SPEED * alone.good_per_second:
        without = alone.good_per_second_if_served
        assert among_all.good_per_second_if_served >= LEAST_SPEED * without


def test_no_robots_txt_makes_others_be_asked_for_again(among_all: Crawled):
    asked = Counter(each.host for each in among_all.requests if each.path == "/robots.txt")
    assert {asked[host] for host in good.hosts() if host != names.GOOD} == {1}
