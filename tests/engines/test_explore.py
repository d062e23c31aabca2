"""The exploratory crawl: what it costs, where it goes, and that it reads no label."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tres.engines.exploration.explore import ExploredPages, explore, explore_offline
from tres.offline.generated.generator import GeneratedWeb
from tres.web.page import Failed, FailureKind, Link, Outcome, Page

KEYWORDS = frozenset({"bee", "bees"})


class Counted:
    """A web that counts what it is asked for, and whose pages have no labels to look at."""

    name = "counted"

    def __init__(self, web: GeneratedWeb) -> None:
        self.web = web
        self.asked: Counter[str] = Counter()
        self.given = 0

    def fetch(self, url: str) -> Outcome:
        self.asked[url] += 1
        outcome = self.web.fetch(url)
        self.given += isinstance(outcome, Page)
        return outcome

    def pages(self) -> None:
        raise AssertionError("an exploration fetches; it does not list the web")

    def __len__(self) -> int:
        return len(self.web)


@pytest.fixture(scope="module")
def generated() -> GeneratedWeb:
    return GeneratedWeb(3000, 1)


def explored(
    web: object,
    seeds: list[str],
    pages: int,
    seed: int = 1,
    keywords: frozenset[str] = frozenset({"star", "galaxy"}),
) -> ExploredPages:
    explorer = explore(seeds, keywords, pages, np.random.default_rng(seed))
    return explore_offline(explorer, web)  # type: ignore[arg-type]


def test_it_fetches_as_many_pages_as_it_may_and_each_once(generated: GeneratedWeb) -> None:
    web = Counted(generated)
    found = explored(web, generated.seeds("astronomy", 3), 120)
    assert found.count == web.given == 120
    assert set(web.asked.values()) == {1}
    assert (len(found.seeds), len(found.near), len(found.background)) == (3, 39, 78)
    urls = [page.url for part in (found.seeds, found.near, found.background) for page in part]
    assert len(set(urls)) == 120


def test_every_seed_is_tried_before_there_is_none(generated: GeneratedWeb) -> None:
    dead = [f"http://dead{number}.example/" for number in range(11)]
    assert [seed.url for seed in explored(Counted(generated), dead, 5).failed] == dead
    alive = generated.seeds("astronomy", 1)
    assert [page.url for page in explored(Counted(generated), dead + alive, 5).seeds] == alive


def test_one_seed_number_gives_one_exploration(generated: GeneratedWeb) -> None:
    seeds = generated.seeds("astronomy", 2)
    assert explored(generated, seeds, 60) == explored(generated, seeds, 60)
    assert explored(generated, seeds, 60) != explored(generated, seeds, 60, seed=2)


def test_near_pages_are_on_the_topic_and_background_pages_mostly_are_not(
    generated: GeneratedWeb,
) -> None:
    found = explored(generated, generated.seeds("astronomy", 3), 200)
    near, background = (
        np.mean(["astronomy" in page.labels for page in part])
        for part in (found.near, found.background)
    )
    assert near > background + 0.2


def small_web(links: dict[str, list[str]]) -> dict[str, Page]:
    return {
        f"http://{url}": Page(
            f"http://{url}", "", "", tuple(Link(f"http://{to}", to) for to in targets)
        )
        for url, targets in links.items()
    }


class Dictionary:
    name = "dictionary"

    def __init__(self, pages: dict[str, Page]) -> None:
        self._pages = pages

    def fetch(self, url: str) -> Outcome:
        return self._pages.get(url, Failed(url, FailureKind.NOT_FOUND))


def test_the_background_goes_from_site_to_site() -> None:
    # A large site that links to itself, with one link to each of many others on every page.
    links = {f"big.org/{i}": [f"big.org/{j}" for j in range(200)] for i in range(200)}
    for i in range(200):
        links[f"big.org/{i}"].append(f"small{i % 60}.org/")
        links[f"small{i % 60}.org/"] = []
    web = Dictionary(small_web(links))
    found = explored(web, ["http://big.org/0"], 91, keywords=KEYWORDS)
    sites = {page.url.split("/")[2] for page in found.background}
    assert len(sites) > 20


def test_links_that_name_a_keyword_are_followed_first() -> None:
    links = {"a.org/": [f"a.org/{i}" for i in range(60)] + ["b.org/bee", "c.org/bees", "d.org/x"]}
    links |= {target: [] for target in links["a.org/"]}
    web = Dictionary(small_web(links))
    found = explored(web, ["http://a.org/"], 4, keywords=KEYWORDS)
    assert len(found.near) == 1
    fetched = {page.url for page in (*found.near, *found.background)}
    assert fetched & {"http://b.org/bee", "http://c.org/bees"}


def test_a_web_that_ends_gives_what_it_has() -> None:
    web = Dictionary(small_web({"a.org/": ["a.org/1", "a.org/dead"], "a.org/1": ["a.org/"]}))
    found = explored(web, ["http://a.org/", "http://gone.org/"], 50, keywords=KEYWORDS)
    assert found.count == 2
    nothing = explored(web, ["http://gone.org/"], 50, keywords=KEYWORDS)
    assert nothing.count == 0
