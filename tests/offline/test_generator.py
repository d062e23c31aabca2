"""The generated web: the same for the same seed, and like the Web where it counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tres.offline import GeneratedWeb, Shape
from tres.offline.generated.generator import DEFAULT_TOPIC
from tres.offline.generated.urls import Trap
from tres.offline.generated.word_lists import NO_TOPIC, TOPIC_WORDS, TOPICS
from tres.web.page import Failed, FailureKind, Page
from tres.web.url import canonical, site_of

PAGES = 2_000


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(PAGES, seed=4)


@pytest.fixture(scope="module")
def by_url(web: GeneratedWeb) -> dict[str, Page]:
    return {page.url: page for page in web.pages()}


def fetched(web: GeneratedWeb, url: str) -> Page:
    outcome = web.fetch(url)
    assert isinstance(outcome, Page)
    return outcome


def breadth_first(web: GeneratedWeb, seed: str) -> Iterator[Page]:
    queue, seen = [seed], {seed}
    for url in queue:
        page = web.fetch(url)
        if isinstance(page, Page):
            yield page
            fresh = dict.fromkeys(link.url for link in page.links if link.url not in seen)
            seen.update(fresh)
            queue.extend(fresh)


class TestDeterminism:
    @settings(max_examples=20, deadline=None)
    @given(seed=st.integers(0, 2**40), page=st.integers(0, 199))
    def test_one_seed_gives_one_web(self, seed, page):
        one, other = GeneratedWeb(200, seed), GeneratedWeb(200, seed)
        url = one.addresses.url(page)
        assert one.fetch(url) == other.fetch(url)
        assert one.seeds() == other.seeds()

    def test_another_seed_gives_another_web(self):
        assert list(GeneratedWeb(200, 1).pages()) != list(GeneratedWeb(200, 2).pages())

    def test_a_page_is_the_same_whenever_it_is_fetched(self, web, by_url):
        for url in reversed([*islice(by_url, 100)]):
            assert web.fetch(url) == by_url[url]

    def test_the_first_web_stays_what_it_is(self):
        """Figures of the documentation rest on it: change it only on purpose."""
        page = fetched(GeneratedWeb(20_000, 1), "http://again-forum929.example/")
        assert (page.title, len(page.links), page.labels) == ("Moon today from", 64, ("astronomy",))


class TestPages:
    def test_there_are_as_many_as_asked_for(self, web, by_url):
        assert len(web) == len(by_url) == PAGES

    def test_urls_and_links_are_canonical(self, by_url):
        for page in by_url.values():
            assert canonical(page.url) == page.url
            assert all(canonical(link.url) == link.url for link in page.links)

    def test_texts_have_80_to_300_words(self, by_url):
        assert all(80 <= len(page.text.split()) <= 300 for page in by_url.values())

    def test_labels_are_the_topics(self, web, by_url):
        labels = {label for page in by_url.values() for label in page.labels}
        assert labels == set(web.topics) == set(TOPICS)

    @pytest.mark.parametrize("topic", TOPICS)
    def test_pages_of_a_topic_use_its_words_more_than_others(self, web, by_url, topic):
        words = set(TOPIC_WORDS[TOPICS.index(topic)])
        share: dict[bool, list[float]] = {True: [], False: []}
        for page in by_url.values():
            text = page.text.lower().replace(".", "").split()
            share[topic in page.labels].append(sum(word in words for word in text) / len(text))
        about, other = (sum(values) / len(values) for values in (share[True], share[False]))
        assert about > 5 * other > 0
        assert min(share[True]) < max(share[False]), "some pages must be hard to tell"

    @pytest.mark.parametrize(
        "url",
        [
            "http://nowhere.example/",
            "http://again-forum999999.example/",
            "https://example.org/",
            "",
            "http://star-notes1.example/2019/star-1.html",
        ],
    )
    def test_other_urls_are_dead(self, web, url):
        assert web.fetch(url) == Failed(url, FailureKind.NOT_FOUND)

    def test_no_part_of_a_url_can_be_altered(self, web, by_url):
        url = next(url for url in by_url if url.endswith("-2.html"))
        head, tail = url.rsplit("/", 1)
        for altered in (f"{head}/x{tail}", url.replace("-2.", "-02."), f"{url}?a=1", f"{url}\n"):
            assert isinstance(web.fetch(altered), Failed)


class TestStructure:
    def test_the_default_topic_is_about_a_twentieth(self, by_url):
        share = sum(DEFAULT_TOPIC in page.labels for page in by_url.values()) / PAGES
        assert 0.04 <= share <= 0.06

    def test_sites_and_degrees_have_heavy_tails(self, by_url):
        sizes = np.sort(np.diff(GeneratedWeb(50_000).graph.site_start))
        inward = Counter(link.url for page in by_url.values() for link in page.links)
        outward = sorted(len(page.links) for page in by_url.values())
        assert sizes[-1] > 100 * np.median(sizes)
        assert max(inward.values()) > 20 * sorted(inward.values())[len(inward) // 2]
        assert outward[-1] > 5 * outward[len(outward) // 2]

    def test_nearly_everything_can_be_reached_from_a_seed(self, web, by_url):
        (seed,) = web.seeds()
        queue, seen = [seed], {seed}
        for url in queue:
            fresh = {link.url for link in by_url[url].links if link.url in by_url} - seen
            seen |= fresh
            queue.extend(fresh)
        assert len(seen) > 0.9 * PAGES

    def test_links_of_a_topic_lead_to_it_more_often_but_not_always(self, web, by_url):
        about = {url for url, page in by_url.items() if DEFAULT_TOPIC in page.labels}
        targets = [link.url in about for url in about for link in by_url[url].links]
        assert 0.15 < sum(targets) / len(targets) < 0.5

    def test_directories_are_about_nothing_and_lead_to_one_topic_in_several_regions(self, web):
        graph = web.graph
        topic = TOPICS.index(DEFAULT_TOPIC)
        hubs = [n for n in range(PAGES) if graph.is_directory(n) and graph.subject[n] == topic]
        assert hubs
        for hub in hubs:
            page = fetched(web, web.addresses.url(hub))
            places = [web.addresses.locate(link.url) for link in page.links]
            targets = [place.number for place in places if place and hasattr(place, "number")]
            about = [target for target in targets if graph.topic[target] == topic]
            assert not page.labels
            assert len(about) > len(targets) / 2
            assert len({graph.community(target) for target in about}) > 1

    def test_some_links_are_dead(self, web, by_url):
        pages = list(by_url.values())[:100]
        links = [link.url for page in pages for link in page.links]
        assert 0.01 < sum(isinstance(web.fetch(url), Failed) for url in links) / len(links) < 0.1

    def test_anchors_are_evidence_but_no_proof(self, web, by_url):
        words = set(TOPIC_WORDS[TOPICS.index(DEFAULT_TOPIC)])
        seen = Counter(
            (bool(words & set(link.anchor.split())), DEFAULT_TOPIC in by_url[link.url].labels)
            for page in by_url.values()
            for link in page.links
            if link.url in by_url
        )
        assert seen[True, True] > seen[True, False] > 50, "some promise the topic and lie"
        assert seen[False, True] > 50, "some lead to it and do not say so"

    def test_without_locality_hubs_and_focus_there_is_nothing_to_follow(self):
        web = GeneratedWeb(1_000, 1, Shape(locality=0, to_hubs=0, focus=0, hubs=0))
        pages = {page.url: page for page in web.pages()}
        about = {url for url, page in pages.items() if DEFAULT_TOPIC in page.labels}
        targets = [link.url in about for url in about for link in pages[url].links]
        assert sum(targets) / len(targets) < 0.15


class TestSeeds:
    @pytest.mark.parametrize("topic", TOPICS)
    def test_are_pages_about_the_topic_with_many_links(self, web, by_url, topic):
        seeds = web.seeds(topic, 3)
        assert len(set(seeds)) == 3
        typical = sorted(len(page.links) for page in by_url.values())[PAGES // 2]
        for seed in seeds:
            assert by_url[seed].labels == (topic,)
            assert len(by_url[seed].links) > typical

    def test_topics_come_with_keywords(self, web):
        assert web.topics["astronomy"][:3] == ("astronomy", "telescope", "galaxy")

    def test_an_unknown_topic_is_refused(self, web):
        with pytest.raises(ValueError, match="alchemy"):
            web.seeds("alchemy")

    def test_a_breadth_first_crawl_leaves_the_topic(self):
        web = GeneratedWeb(20_000, 1)
        crawled = list(islice(breadth_first(web, web.seeds()[0]), 1_000))
        assert sum(DEFAULT_TOPIC in page.labels for page in crawled) / 1_000 < 0.25


class TestTraps:
    @staticmethod
    def home(web: GeneratedWeb, trap: Trap) -> Page:
        sites = range(len(web.graph.site_topic))
        site = next(s for s in sites if web.addresses.trap(s) is trap and web.graph.size_of(s) > 3)
        return fetched(web, web.addresses.url(int(web.graph.site_start[site])))

    def test_a_calendar_never_ends(self, web, by_url):
        home = self.home(web, Trap.CALENDAR)
        url = next(link.url for link in home.links if link.anchor == "calendar")
        for _ in range(50):
            page = fetched(web, url)
            assert page.url == url not in by_url
            url = next(link.url for link in page.links if link.anchor == "next month")
        assert "calendar/2028-03" in url

    def test_a_calendar_before_the_first_year_is_dead(self, web):
        home = self.home(web, Trap.CALENDAR)
        first = fetched(web, f"{home.url}calendar/0000-01.html")
        before = next(link.url for link in first.links if link.anchor == "previous month")
        assert isinstance(web.fetch(before), Failed)

    def test_session_ids_make_every_page_anew(self, web):
        home = self.home(web, Trap.SESSION)
        inside = [link.url for link in home.links if site_of(link.url) == site_of(home.url)]
        marked = next(url for url in inside if "?sid=" in url)
        page, plain = fetched(web, marked), fetched(web, marked.partition("?")[0])
        assert page.url == marked != plain.url
        assert (page.title, page.text, page.labels) == (plain.title, plain.text, plain.labels)
        assert marked.partition("?")[2] in page.links[0].url, "the visitor keeps the id"
        assert marked.partition("?")[2] not in plain.links[0].url, "another visitor, another id"

    def test_other_sites_know_no_sessions(self, web):
        home = self.home(web, Trap.NONE)
        assert isinstance(web.fetch(f"{home.url}?sid=00000000"), Failed)


def test_pages_that_nobody_fetched_cost_25_bytes():
    graph = GeneratedWeb(500_000).graph
    pools = (graph.everything, graph.communities, graph.directories)
    arrays = [graph.site, graph.topic, graph.subject, graph.site_start, graph.site_topic]
    arrays += [array for pool in pools for array in (pool.pages, pool.starts)]
    assert sum(array.nbytes for array in arrays) < 25 * 500_000
    assert (graph.topic != NO_TOPIC).mean() > 0.5


@pytest.mark.parametrize(("pages", "seed"), [(0, 1), (99, 1), (10**10, 1), (200, -1)])
def test_impossible_numbers_are_refused(pages, seed):
    with pytest.raises(ValueError, match=r"`pages` must be|`seed` must"):
        GeneratedWeb(pages, seed)


def test_a_seed_means_the_same_web_in_every_version() -> None:
    digest = blake2b(digest_size=8)
    for page in GeneratedWeb(300, seed=3).pages():
        digest.update(repr((page.url, page.title, page.text, page.links, page.labels)).encode())
    assert digest.hexdigest() == "a43fae22ed0ec838"
