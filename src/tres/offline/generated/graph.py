"""The graph of the generated web: its sites and pages, and what attracts links.

Properties that are needed for *all* pages are in flat arrays, about 20 bytes a page. The links and
words of a page are not here: they are drawn when the page is fetched, from its own random stream.

Popularity is a position in an order. All pages of a community (the pages of one topic in one
region) are in a random order, and a link chooses position `n * u ** skew` of it, with u uniform: a
few pages get most links, and in-degrees have a heavy tail, without weights to store or search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tres.offline.generated.word_lists import NO_TOPIC, TOPICS

Ints = np.ndarray[tuple[int], np.dtype[np.int32]]
Rng = np.random.Generator

SHARES = (0.05, 0.13, 0.08, 0.05, 0.13, 0.11, 0.06, 0.09)
"""Shares of the topics; the rest of the Web has no topic."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The properties of the real Web that the generator imitates, one number each."""

    site_tail: float = 1.1
    """Tail exponent of site sizes: most sites are tiny, a few hold much of the Web."""
    focus: float = 0.75
    """Share of a site's pages that are about the site's topic: sites are not pure."""
    locality: float = 0.25
    """Share of outward links that stay within the community: topical locality."""
    regions: int = 6
    """Communities of a topic that do not link to each other: tunnels lead between them."""
    hubs: float = 0.05
    """Share of the pages without topic that are directories, the bridges between regions:
    irrelevant themselves, they link to many pages of one topic in all its regions."""
    to_hubs: float = 0.05
    """Share of outward links that lead to a directory of the page's topic."""
    degree_tail: float = 1.5
    """Tail exponent of the number of outward links."""
    skew: float = 2.5
    """How unequal the popularity of pages is; with 1, all are equal."""
    ambiguous: float = 0.08
    """Share of topical pages that are as much about another topic."""
    plain: float = 0.2
    """Share of anchors that say nothing: "more", "next"."""
    misleading: float = 0.08
    """Share of anchors that name a topic which the target does not have."""
    dead: float = 0.06
    """Share of outward links that lead nowhere."""
    traps: float = 0.04
    """Share of sites with an endless calendar, and of sites with session ids in their links."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Pages in order of popularity, divided into groups."""

    pages: Ints
    starts: Ints

    @classmethod
    def of(cls, pages: Ints, group: Ints, groups: int, rng: Rng) -> Pool:
        """Return pages by group, in random order within each group."""
        order = np.lexsort((rng.random(len(pages)), group))
        starts = np.searchsorted(group[order], np.arange(groups + 1))
        return cls(pages[order].astype(np.int32), starts.astype(np.int32))

    def draw(self, group: int, popularity: float) -> int | None:
        """Return the page at a popularity in [0, 1), 0 the highest; None if the group is empty."""
        start, end = int(self.starts[group]), int(self.starts[group + 1])
        return int(self.pages[start + int((end - start) * popularity)]) if end > start else None


@dataclass(frozen=True, slots=True)
class Graph:
    """Sites, topics and popularity of all pages."""

    site_start: Ints
    site: Ints
    site_topic: Ints
    topic: Ints
    subject: Ints
    everything: Pool
    communities: Pool
    directories: Pool
    regions: int

    def community(self, page: int) -> int:
        """Return the group of a topical page in `communities`."""
        return int(self.topic[page]) * self.regions + int(self.site[page]) % self.regions

    def is_directory(self, page: int) -> bool:
        """Return whether a page has no topic itself, but links to one."""
        return bool(self.topic[page] != self.subject[page])

    def is_home(self, page: int) -> bool:
        """Return whether a page is the first of its site."""
        return bool(self.site_start[self.site[page]] == page)

    def size_of(self, site: int) -> int:
        """Return the number of pages of a site."""
        return int(self.site_start[site + 1] - self.site_start[site])


def grow_graph(pages: int, shape: Shape, rng: Rng) -> Graph:
    """Draw the graph. The order of the draws must not change: a seed means one web."""
    site_start = _site_starts(pages, shape, rng)
    sizes = np.diff(site_start)
    site = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    site_topic = _site_topics(sizes)
    topic = _page_topics(site, site_start, site_topic, shape, rng)
    subject = _subjects(topic, site_start, shape, rng)
    numbers = np.arange(pages, dtype=np.int32)
    topical, hubs = numbers[topic != NO_TOPIC], numbers[(topic == NO_TOPIC) & (subject != NO_TOPIC)]
    community = topic[topical] * shape.regions + site[topical] % shape.regions
    groups = len(TOPICS) * shape.regions
    return Graph(
        site_start,
        site,
        site_topic,
        topic,
        subject,
        everything=Pool.of(numbers, np.zeros_like(numbers), 1, rng),
        communities=Pool.of(topical, community, groups, rng),
        directories=Pool.of(hubs, subject[hubs], len(TOPICS), rng),
        regions=shape.regions,
    )


def _site_starts(pages: int, shape: Shape, rng: Rng) -> Ints:
    """Return where the pages of each site begin: Pareto sizes, up to a fiftieth of the web."""
    drawn = 3.0 * (1.0 - rng.random(pages // 3 + 1)) ** (-1.0 / shape.site_tail)
    ends = np.cumsum(np.minimum(drawn, max(3, pages // 50)).astype(np.int32), dtype=np.int32)
    inner = ends[ends < pages]
    return np.concatenate([[0], inner, [pages]]).astype(np.int32)


def _site_topics(sizes: Ints) -> Ints:
    """Assign each site to the topic that lacks most pages, so that shares hold in small webs."""
    missing = np.array([*SHARES, 1.0 - sum(SHARES)]) * sizes.sum()
    topics = np.empty(len(sizes), np.int32)
    for site in np.argsort(-sizes, kind="stable"):
        poorest = int(missing.argmax())
        missing[poorest] -= sizes[site]
        topics[site] = poorest if poorest < len(TOPICS) else NO_TOPIC
    return topics


def _page_topics(site: Ints, start: Ints, site_topic: Ints, shape: Shape, rng: Rng) -> Ints:
    """Return the topic of each page: that of its site, or any topic; home pages never differ."""
    stray = rng.random(len(site)) >= shape.focus
    stray[start[:-1]] = False
    other = np.searchsorted(np.cumsum(SHARES), rng.random(len(site))).astype(np.int32)
    other[other == len(TOPICS)] = NO_TOPIC
    return np.where(stray, other, site_topic[site]).astype(np.int32)


def _subjects(topic: Ints, start: Ints, shape: Shape, rng: Rng) -> Ints:
    """Return the subject of each page: its topic, or for a directory that of its links."""
    hub = (topic == NO_TOPIC) & (rng.random(len(topic)) < shape.hubs)
    hub[start[:-1]] = False
    subject = rng.integers(0, len(TOPICS), len(topic), dtype=np.int32)
    return np.where(hub, subject, topic).astype(np.int32)
