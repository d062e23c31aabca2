"""A web of any size, generated from a seed: for demonstrations, tests and scale.

It proves nothing about a crawler, as the generator decides what can be learnt. It has the
properties that make focused crawling hard on the real Web, each with a parameter (`Shape`):

- *Sites* with heavy-tailed sizes, each mostly about one topic and never purely.
- *Topical locality*: pages link to pages like them, but the communities of a topic are
  islands. A crawler that follows only relevant pages stays on the island of its seeds.
- *Bridges*: directories have no topic themselves, but link to one topic in all its regions, and
  pages of the topic link to them. A crawler that learns that an irrelevant "resources" page pays
  off one step later finds the other islands: the reward is delayed.
- *Skew*: a few pages attract most links, a few pages have very many.
- *Misleading anchors*: some name a topic and lead elsewhere, some say "more" and lead to it.
- *Dead links*, and *traps*: an endless calendar, and session ids that multiply a site.

The graph is a few flat arrays. A page is generated when it is fetched, from a random stream of its
own, (seed, page number), so it is the same in any order of fetches. A million pages need some tens
of megabytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tres.offline.generated.graph import Rng, Shape, grow_graph
from tres.offline.generated.page_text import MIN_WORDS, PageWriter
from tres.offline.generated.urls import Addresses, CalendarAt, PageAt, Trap
from tres.offline.generated.word_lists import (
    COMMON_WORDS,
    KEYWORDS,
    NO_TOPIC,
    TOPIC_WORDS,
    TOPICS,
    draw_words,
    prose,
)
from tres.web.page import Failed, FailureKind, Link, Outcome, Page

MIN_PAGES, MAX_PAGES = 100, 100_000_000
DEFAULT_PAGES = 20_000
DEFAULT_SEED = 1
DEFAULT_TOPIC = TOPICS[0]
CHILDREN = 4
"""Branches in the tree of a site, by which all its pages can be reached from its home page."""
MAX_OUTWARD = 60
SEED_CANDIDATES = 500
MONTH_OF_TODAY = 2024 * 12


class GeneratedWeb:
    """A web generated from a seed, with the properties of `shape`."""

    def __init__(
        self, pages: int = DEFAULT_PAGES, seed: int = DEFAULT_SEED, shape: Shape | None = None
    ) -> None:
        if not MIN_PAGES <= pages <= MAX_PAGES:
            raise ValueError(f"`pages` must be between {MIN_PAGES} and {MAX_PAGES}")
        if seed < 0:
            raise ValueError("`seed` must not be negative")
        self.seed = seed
        self.shape = shape or Shape()
        self.graph = grow_graph(pages, self.shape, np.random.default_rng(seed))
        self.addresses = Addresses(self.graph, seed, self.shape.traps)
        self.writer = PageWriter(self.graph, self.addresses, self.shape)

    @property
    def name(self) -> str:
        """The name by which `open_web` generates the same web."""
        return f"generated:pages={len(self)},seed={self.seed}"

    @property
    def topics(self) -> Mapping[str, tuple[str, ...]]:
        """The topics, which are the labels of pages, and their keywords."""
        words = zip(TOPICS, TOPIC_WORDS, strict=True)
        return {name: (name, *vocabulary[:KEYWORDS]) for name, vocabulary in words}

    def __len__(self) -> int:
        return len(self.graph.topic)

    @property
    def sites(self) -> int:
        """Number of hosts."""
        return len(self.graph.site_topic)

    def pages(self) -> Iterator[Page]:
        """Yield every page once, without the copies that traps make."""
        return (self._page(PageAt(number)) for number in range(len(self)))

    def seeds(self, topic: str = DEFAULT_TOPIC, n: int = 1) -> list[str]:
        """Return home pages about a topic, most links first, without sites that are traps."""
        if topic not in TOPICS:
            raise ValueError(f"no topic `{topic}`; there are {', '.join(TOPICS)}")
        sites = np.flatnonzero(self.graph.site_topic == TOPICS.index(topic)).tolist()
        sound = [site for site in sites if self.addresses.trap(site) is Trap.NONE]
        homes = [PageAt(int(self.graph.site_start[site])) for site in sound[:SEED_CANDIDATES]]
        best = sorted(map(self._page, homes), key=lambda page: -len(page.links))
        return [page.url for page in best[:n]]

    def fetch(self, url: str) -> Outcome:
        """Generate the page at a URL."""
        match self.addresses.locate(url):
            case PageAt() as place:
                return self._page(place)
            case CalendarAt() as place:
                return self._calendar(place)
            case _:
                return Failed(url, FailureKind.NOT_FOUND)

    def _page(self, place: PageAt) -> Page:
        rng = np.random.default_rng((self.seed, place.number))
        topic = int(self.graph.topic[place.number])
        title, text = self.writer.title(place.number, rng), self.writer.text(place.number, rng)
        links = (*self._site_links(place, rng), *self._outward_links(place.number, rng))
        labels = () if topic == NO_TOPIC else (TOPICS[topic],)
        return Page(self.addresses.url(place.number, place.session), title, text, links, labels)

    def _site_links(self, place: PageAt, rng: Rng) -> Iterator[Link]:
        """Yield links to the home page, up and down the tree of the site, and to its calendar."""
        page, site = place.number, int(self.graph.site[place.number])
        home = int(self.graph.site_start[site])
        session = place.session or self.addresses.session_of(page)
        if page != home:
            yield Link(self.addresses.url(home, session), "home")
        for target in _relatives(page - home, self.graph.size_of(site)):
            anchor = self.writer.anchor(page, home + target, rng)
            yield Link(self.addresses.url(home + target, session), anchor)
        if self.addresses.trap(site) is Trap.CALENDAR:
            yield Link(self.addresses.calendar(site, MONTH_OF_TODAY), "calendar")

    def _outward_links(self, page: int, rng: Rng) -> Iterator[Link]:
        dead = self.shape.dead
        for kind, popularity, choice in rng.random((self._degree(page, rng), 3)).tolist():
            if kind < dead:
                yield Link(
                    self.addresses.dead(int(choice * 2**40)), draw_words(COMMON_WORDS, 1, rng)[0]
                )
                continue
            target = self._target(page, (kind - dead) / (1 - dead), popularity, choice)
            if target is not None and target != page:
                yield Link(self.addresses.url(target), self.writer.anchor(page, target, rng))

    def _degree(self, page: int, rng: Rng) -> int:
        """Return the number of outward links: many in directories, more in home pages."""
        tail = (1.0 - rng.random()) ** (-1.0 / self.shape.degree_tail)
        at_least = 20 if self.graph.is_directory(page) else 6 if self.graph.is_home(page) else 4
        return min(MAX_OUTWARD, int(at_least * tail))

    def _target(self, page: int, kind: float, popularity: float, choice: float) -> int | None:
        """Return the target of a link: in the community, a directory, or anywhere."""
        graph, topic, rank = self.graph, int(self.graph.topic[page]), popularity**self.shape.skew
        if graph.is_directory(page):
            region = int(choice * graph.regions)
            community = int(graph.subject[page]) * graph.regions + region
            return graph.communities.draw(community, popularity)
        if topic != NO_TOPIC and kind < self.shape.locality:
            return graph.communities.draw(graph.community(page), rank)
        if kind > 1 - self.shape.to_hubs:
            subject = topic if topic != NO_TOPIC else int(choice * len(TOPICS))
            return graph.directories.draw(subject, rank)
        return graph.everything.draw(0, rank)

    def _calendar(self, place: CalendarAt) -> Page:
        rng = np.random.default_rng((self.seed, place.site, place.month))
        year, month = divmod(place.month, 12)
        home = self.addresses.url(int(self.graph.site_start[place.site]))
        links = [Link(home, "home")]
        for step, anchor in ((1, "next month"), (-1, "previous month")):
            links.append(Link(self.addresses.calendar(place.site, place.month + step), anchor))
        url = self.addresses.calendar(place.site, place.month)
        text = prose([(COMMON_WORDS, MIN_WORDS)], rng)
        return Page(url, f"Calendar {month + 1} {year}", text, tuple(links))


def _relatives(index: int, size: int) -> Iterator[int]:
    """Yield the neighbours of a page in the tree of its site, except the home page."""
    if (parent := (index - 1) // CHILDREN) > 0:
        yield parent
    first = index * CHILDREN + 1
    yield from range(first, min(first + CHILDREN, size))
