"""What only itself cites takes a share of the budget, and no more while there is anything else."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest
from tests.support.webs import missing, page, start

from tres.crawl.endorsement import LEAST, RECENT, Endorsements
from tres.crawl.events import Done, Event, Fetch, SiteHeld, Stepped, Wait
from tres.crawl.session import CrawlSession
from tres.crawl.session_state import capture, restore
from tres.mdp.names import Names
from tres.mdp.paths import NONE
from tres.policies.setup import PolicySettings
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept
from tres.web.url import domain_of

RANDOM = PolicySettings("random", "citations")
BUDGET = 200
SHARE = 0.1
"""Twenty pages of them."""


def fetch(url: str, good: int = 1_000, to_spam: int = 1) -> Percept | Failed:
    """A good web of sites g0 to g9, the first of which link to spam; spam is endless."""
    site, _, name = url.partition("/")
    number = int(name or 0)
    if "spam" in site:
        return page(url, 0.9, *(f"{site}/{number * 5 + step}" for step in range(1, 6)))
    if "made" in site:  # every page has a host name of its own
        new = (number * 5 + step for step in range(1, 6))
        return page(url, 0.9, *(f"h{each}.made.example/{each}" for each in new))
    if number >= good:
        return missing(url)
    home = int(site[1 : -len(".example")])
    links = [f"{site}/{number * 2 + step}" for step in (1, 2)]
    links.append(f"g{(home + 1) % 10}.example/{number}")
    if home < to_spam:
        links += ["spam.example/0", "h0.made.example/0"]
    return page(url, 0.9, *links)


def session(share: float = SHARE, pages: int = BUDGET, seed: str = "g0.example/0") -> CrawlSession:
    return start({}, [seed], RANDOM, pages=pages, endorsements=Endorsements(share))


def crawl_on(crawl: CrawlSession, k: int = 1, **web: int) -> tuple[Counter[str], list[Event]]:
    """Pages by domain, and all events."""
    pages: Counter[str] = Counter()
    events: list[Event] = []
    flying: list[str] = []
    while not isinstance(demand := crawl.next(k - len(flying)), Done):
        flying += demand.urls if isinstance(demand, Fetch) else ()
        assert flying or not isinstance(demand, Wait)
        url = flying.pop(0)
        told = crawl.receive(url, fetch(url, **web))
        events += told
        pages[domain_of(url.partition("/")[0])] += isinstance(told[0], Stepped)
    return pages, events


@pytest.mark.parametrize("k", [1, 8])
def test_a_site_that_only_itself_cites_gets_its_share(k):
    limited, events = crawl_on(session(), k)
    assert limited["spam.example"] == SHARE * BUDGET
    assert sum(limited.values()) == BUDGET
    assert [event for event in events if isinstance(event, SiteHeld)].count(
        SiteHeld("spam.example")
    ) == 1
    unlimited, _ = crawl_on(session(share=1.0), k)
    assert unlimited["spam.example"] > 2 * SHARE * BUDGET


def test_made_up_host_names_count_as_one_site():
    pages, events = crawl_on(session())
    assert pages["made.example"] == SHARE * BUDGET
    assert SiteHeld("made.example") in events


def test_many_links_from_others_do_not_raise_the_share():
    pages, _ = crawl_on(session(), to_spam=4)
    assert pages["spam.example"] == SHARE * BUDGET


def test_a_site_with_a_seed_has_no_limit():
    crawl = session(seed="spam.example/0")
    pages, events = crawl_on(crawl)
    assert pages == {"spam.example": BUDGET}
    assert not any(isinstance(event, SiteHeld) for event in events)


@pytest.mark.parametrize("k", [1, 8])
def test_when_nothing_else_is_left_it_goes_on(k):
    crawl = session()
    pages, _ = crawl_on(crawl, k, good=5)
    assert crawl.steps == BUDGET
    assert pages["spam.example"] > 2 * SHARE * BUDGET


def test_what_is_held_waits_for_sites_that_must_be_left_alone_for_a_moment():
    good = [f"g{number}.example" for number in range(10)]
    held, free = session(), session(share=1.0)
    for crawl in (held, free):
        for _ in range(150):
            demand = crawl.next()
            assert isinstance(demand, Fetch)
            crawl.receive(demand.urls[0], fetch(demand.urls[0]))
    assert held.next(1, good) == Wait()
    assert isinstance(free.next(1, good), Fetch)
    assert isinstance(held.next(1, good[1:]), Fetch)


def test_what_is_held_does_not_wait_for_a_site_that_is_down():
    crawl = session()
    for _ in range(150):
        demand = crawl.next()
        assert isinstance(demand, Fetch)
        crawl.receive(demand.urls[0], fetch(demand.urls[0]))
    down: list[str] = []
    while (url := _next(crawl, down)).startswith("g"):
        down.append(url.partition("/")[0])
        crawl.receive(url, Failed(url, FailureKind.TIMEOUT, retryable=True))
    assert len(down) > 3
    assert "spam" in url or "made" in url


def _next(crawl: CrawlSession, waiting: list[str]) -> str:
    demand = crawl.next(1, waiting)
    assert isinstance(demand, Fetch)
    return demand.urls[0]


def test_small_budgets_leave_a_few_pages_to_everybody():
    pages, _ = crawl_on(session(pages=90))
    assert pages["spam.example"] == LEAST


def test_a_crawl_that_is_taken_up_holds_the_same_sites():
    one, other = session(), session()
    for _ in range(90):
        demand = one.next()
        assert isinstance(demand, Fetch)
        one.receive(demand.urls[0], fetch(demand.urls[0]))
    state = capture(one)
    json.dumps([value for value in state.values() if not hasattr(value, "dtype")])
    restore(other, state)
    assert crawl_on(one) == crawl_on(other)


def test_a_larger_budget_means_larger_shares():
    crawl = session()
    assert crawl_on(crawl)[0]["spam.example"] == 20
    crawl.pages = 400
    assert crawl_on(crawl)[0]["spam.example"] == 20  # twenty more


class Web:
    """Fetches pages of sites, which link to other sites, and says who may give how much."""

    def __init__(self, *seeds: str) -> None:
        self.sites = Names()
        self.endorsed = Endorsements(SHARE)
        self._pages: dict[str, int] = {}
        self.endorsed.seed(self._ids(seeds))

    def _ids(self, names: tuple[str, ...]) -> np.ndarray:
        ids = self.sites.ids(names)
        self.endorsed.make_room(1_000, self.sites)
        return np.array(ids, np.int32)

    def fetch(self, site: str, parent: str = "", to: tuple[str, ...] = ()) -> None:
        """The first page of a site, found on that of another, links to these sites."""
        (identity,) = self._ids((site,)).tolist()
        number = self._pages.setdefault(site, len(self._pages))
        parent_page = self._pages[parent] if parent else NONE
        self.endorsed.count(number, identity, parent_page, True, BUDGET)
        self.endorsed.cite(identity, self._ids(to))

    def is_endorsed(self, site: str) -> bool:
        return bool(self.endorsed._endorsed.view[self.sites.id(site)])


def test_a_domain_endorses_hosts_of_others_and_never_its_own():
    web = Web("a.example")
    web.fetch("a.example", to=("spam.example", "www.a.example"))
    assert web.is_endorsed("spam.example")
    assert not web.is_endorsed("www.a.example")


def test_who_was_found_through_a_domain_does_not_endorse_it():
    web = Web("a.example")
    web.fetch("a.example", to=("spam.example",))
    web.fetch("spam.example", "a.example", to=("friend.example",))
    web.fetch("friend.example", "spam.example", to=("new.spam.example", "third.example"))
    web.fetch("third.example", "friend.example", to=("other.spam.example",))
    assert web.is_endorsed("friend.example")
    assert not web.is_endorsed("new.spam.example")
    assert not web.is_endorsed("other.spam.example")
    web.fetch("a.example", to=("new.spam.example",))
    assert web.is_endorsed("new.spam.example")


def test_hosts_that_are_endorsed_themselves_count_by_themselves():
    web = Web("a.example")
    web.fetch("a.example", to=("cs.uni.example", "math.uni.example"))
    for site in ("cs.uni.example", "math.uni.example"):
        for _ in range(int(SHARE * BUDGET)):
            web.fetch(site, "a.example")
    web.fetch("math.uni.example", "a.example", to=("new.uni.example",))
    held = web.endorsed.held(BUDGET)
    assert held is not None
    assert dict(zip(web.sites, held.tolist(), strict=True)) == {
        "a.example": False,
        "cs.uni.example": True,
        "math.uni.example": True,
        "new.uni.example": False,
    }
    assert web.endorsed.newly_held(BUDGET, web.sites) == ["cs.uni.example", "math.uni.example"]
    assert web.endorsed.newly_held(BUDGET, web.sites) == []


def test_names_below_a_public_suffix_are_domains_of_their_own():
    web = Web("one.github.io")
    web.fetch("one.github.io", to=("two.github.io",))
    assert web.is_endorsed("two.github.io")


def test_the_only_good_site_may_have_every_second_page():
    """A portal has a link to it, and many to pages that are about something else."""

    def portal(url: str) -> Percept:
        site, _, name = url.partition("/")
        more = [f"{site}/{name}{step}" for step in range(3)]
        return page(url, 0.9 if "wiki" in site else 0.1, *more, "wiki.example/0")

    crawl = start({}, ["portal.example/1"], pages=BUDGET, endorsements=Endorsements(SHARE))
    while isinstance(demand := crawl.next(), Fetch):
        crawl.receive(demand.urls[0], portal(demand.urls[0]))
    assert crawl.relevant > 0.25 * BUDGET
    assert crawl.held_sites == ["wiki.example"]


def test_a_crawl_that_is_taken_up_judges_what_is_left_by_the_same_pages():
    def poor(url: str) -> Percept:
        site, _, name = url.partition("/")
        more = [f"{site}/{name}{step}" for step in range(3)]
        return page(url, 0.9 if "wiki" in site else 0.1, *more, "wiki.example/0")

    def go_on(crawl: CrawlSession, count: int) -> list[str]:
        asked = []
        for _ in range(count):
            demand = crawl.next()
            assert isinstance(demand, Fetch)
            asked += demand.urls
            crawl.receive(demand.urls[0], poor(demand.urls[0]))
        return asked

    one, other = (
        start({}, ["portal.example/1"], pages=BUDGET, endorsements=Endorsements(SHARE))
        for _ in range(2)
    )
    go_on(one, 100)
    restore(other, capture(one))
    assert go_on(one, 100) == go_on(other, 100)
    assert len(other._endorsements._recent) == RECENT


def test_nothing_is_counted_where_there_is_no_limit():
    crawl = session(share=1.0)
    crawl_on(crawl)
    assert crawl.held is None
    assert len(crawl._endorsements._domain) == 0
