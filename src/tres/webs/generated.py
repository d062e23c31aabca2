"""A web of any size, made from a seed: for demonstrations, tests and scale.

It is never evidence that a crawler is good: whoever writes the generator also decides what
can be learned. It has the properties that make focused crawling hard on the real Web, each
with its own parameter (`Shape`):

- *Sites* with heavy-tailed sizes, each mostly about one topic and never purely.
- *Topical locality*: pages link to pages like them, but the communities of a topic are
  islands. A crawler that follows only relevant pages stays on the island of its seeds.
- *Bridges*: directories, which are about nothing themselves, link to one topic in all its
  regions, and pages of the topic link to them. Whoever learns that an irrelevant "resources"
  page pays off one step later finds the other islands; the reward is delayed.
- *Skew*: a few pages attract most links, a few pages have very many.
- *Anchors that lie*: some promise a topic and lead elsewhere, some say "more" and lead to it.
- *Dead links*, and *traps*: an endless calendar, and session ids that multiply a site.

The graph is a handful of flat arrays. A page is made when it is fetched, from a random stream
of its own, (seed, page number), so it is the same page however often and in whatever order
pages are fetched. A million pages need some tens of megabytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tres.web.page import Failed, FailureKind, Link, Outcome, Page
from tres.webs.generated_graph import Rng, Shape, grown
from tres.webs.generated_urls import Addresses, CalendarAt, PageAt, Trap
from tres.webs.generated_words import (
    COMMON_WORDS,
    DIRECTORY_WORDS,
    KEYWORDS,
    NO_TOPIC,
    TOPIC_WORDS,
    TOPICS,
    drawn,
    prose,
    vocabulary,
)

MIN_PAGES = 100
DEFAULT_TOPIC = TOPICS[0]
CHILDREN = 4
"""Pages of a site form a tree with this many branches, so that all can be reached from home."""
MAX_OUTWARD = 60
PLAIN_ANCHORS = ("more", "next", "here", "read more", "continue", "details", "click here")
MONTH_OF_TODAY = 2024 * 12


class GeneratedWeb:
    """A seeded web; `shape` says what it is like."""

    def __init__(self, pages: int = 20_000, seed: int = 1, shape: Shape | None = None) -> None:
        if pages < MIN_PAGES or seed < 0:
            raise ValueError(f"a generated web needs at least {MIN_PAGES} pages and a seed >= 0")
        self.seed = seed
        self.shape = shape or Shape()
        self.graph = grown(pages, self.shape, np.random.default_rng(seed))
        self.addresses = Addresses(self.graph, seed, self.shape.traps)

    @property
    def name(self) -> str:
        """The name under which `open_web` makes the same web again."""
        return f"generated:pages={len(self)},seed={self.seed}"

    @property
    def topics(self) -> Mapping[str, tuple[str, ...]]:
        """The topics, which are the labels of pages, with keywords that name them."""
        words = zip(TOPICS, TOPIC_WORDS, strict=True)
        return {name: (name, *vocabulary[:KEYWORDS]) for name, vocabulary in words}

    def __len__(self) -> int:
        return len(self.graph.topic)

    def pages(self) -> Iterator[Page]:
        """Every page once, without what traps make of them."""
        return (self._page(PageAt(number)) for number in range(len(self)))

    def seeds(self, topic: str = DEFAULT_TOPIC, n: int = 1) -> list[str]:
        """The home pages of the largest sites about a topic, trapped sites left out."""
        wanted = TOPICS.index(topic)
        sites = np.flatnonzero(self.graph.site_topic == wanted).tolist()
        sound = [site for site in sites if self.addresses.trap(site) is Trap.NONE]
        largest = sorted(sound, key=lambda site: -self.graph.size_of(site))
        return [self.addresses.url(int(self.graph.site_start[site])) for site in largest[:n]]

    def fetch(self, url: str) -> Outcome:
        """The page at a URL, made now."""
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
        title, text = self._title(place.number, rng), self._text(place.number, rng)
        links = (*self._site_links(place, rng), *self._outward_links(place.number, rng))
        labels = () if topic == NO_TOPIC else (TOPICS[topic],)
        return Page(self.addresses.url(place.number, place.session), title, text, links, labels)

    def _title(self, page: int, rng: Rng) -> str:
        words = DIRECTORY_WORDS if self._is_directory(page) else COMMON_WORDS
        return " ".join([self.addresses.headword(page), *drawn(words, 2, rng)]).capitalize()

    def _text(self, page: int, rng: Rng) -> str:
        length, share, other, odd = rng.random(4).tolist()
        count = int(80 + 220 * length)
        stranger = TOPIC_WORDS[int(other * len(TOPICS))]
        if self._is_directory(page):
            few = count // 20
            subject = TOPIC_WORDS[int(self.graph.subject[page])]
            return prose([(COMMON_WORDS, count - 3 * few), (DIRECTORY_WORDS, 2 * few), (subject, few)], rng)
        topic = int(self.graph.topic[page])
        own = int(count * (0.15 + 0.3 * share)) if topic != NO_TOPIC else 0
        strange = own // 2 if odd < self.shape.ambiguous else int(count * 0.06 * share)
        own -= strange if odd < self.shape.ambiguous else 0
        return prose([(COMMON_WORDS, count - own - strange), (vocabulary(topic), own), (stranger, strange)], rng)

    def _is_directory(self, page: int) -> bool:
        return bool(self.graph.topic[page] != self.graph.subject[page])

    def _site_links(self, place: PageAt, rng: Rng) -> Iterator[Link]:
        """Home, up and down the tree of the site."""
        page, site = place.number, int(self.graph.site[place.number])
        home, size = int(self.graph.site_start[site]), self.graph.size_of(site)
        index = page - home
        session = place.session or self.addresses.session_of(page)
        below = range(index * CHILDREN + 1, min(index * CHILDREN + CHILDREN + 1, size))
        if index:
            yield Link(self.addresses.url(home, session), "home")
            if up := (index - 1) // CHILDREN:
                yield Link(self.addresses.url(home + up, session), self._anchor(page, home + up, rng))
        for child in below:
            target = home + child
            yield Link(self.addresses.url(target, session), self._anchor(page, target, rng))
        if self.addresses.trap(site) is Trap.CALENDAR:
            yield Link(self.addresses.calendar(site, MONTH_OF_TODAY), "calendar")

    def _outward_links(self, page: int, rng: Rng) -> Iterator[Link]:
        for kind, popularity, choice in rng.random((self._degree(page, rng), 3)).tolist():
            if kind < self.shape.dead:
                yield Link(self.addresses.dead(int(choice * 2**40)), drawn(COMMON_WORDS, 1, rng)[0])
                continue
            left = (kind - self.shape.dead) / (1 - self.shape.dead)
            target = self._target(page, left, popularity**self.shape.skew, choice)
            if target is not None and target != page:
                yield Link(self.addresses.url(target), self._anchor(page, target, rng))

    def _degree(self, page: int, rng: Rng) -> int:
        """Number of outward links: directories have many, home pages more than others."""
        tail = (1.0 - rng.random()) ** (-1.0 / self.shape.degree_tail)
        at_least = 20 if self._is_directory(page) else 4 if self._is_home(page) else 2
        return min(MAX_OUTWARD, int(at_least * tail))

    def _is_home(self, page: int) -> bool:
        return page == int(self.graph.site_start[self.graph.site[page]])

    def _target(self, page: int, kind: float, popularity: float, choice: float) -> int | None:
        graph, regions = self.graph, self.graph.regions
        if self._is_directory(page):
            community = int(graph.subject[page]) * regions + int(choice * regions)
            return graph.communities.draw(community, choice * regions % 1)
        topic = int(graph.topic[page])
        if topic != NO_TOPIC and kind < self.shape.locality:
            return graph.communities.draw(graph.community(page), popularity)
        if kind > 1 - self.shape.to_hubs:
            subject = topic if topic != NO_TOPIC else int(choice * len(TOPICS))
            return graph.directories.draw(subject, popularity)
        return graph.everything.draw(0, popularity)

    def _anchor(self, source: int, target: int, rng: Rng) -> str:
        kind, choice = rng.random(2).tolist()
        if kind < self.shape.plain:
            return PLAIN_ANCHORS[int(choice * len(PLAIN_ANCHORS))]
        if kind < self.shape.plain + self.shape.misleading:
            return " ".join(drawn(self._promise(source, target, choice), 2, rng))
        words = DIRECTORY_WORDS if self._is_directory(target) else COMMON_WORDS
        return " ".join([self.addresses.headword(target), *drawn(words, int(3 * choice), rng)])

    def _promise(self, source: int, target: int, choice: float) -> tuple[str, ...]:
        """Words of a topic that the target does not have, if possible the source's."""
        topic, subject = int(self.graph.topic[source]), int(self.graph.subject[target])
        if topic in (NO_TOPIC, subject):
            topic = (subject + 1 + int(choice * (len(TOPICS) - 1))) % len(TOPICS)
        return TOPIC_WORDS[topic]

    def _calendar(self, place: CalendarAt) -> Page:
        rng = np.random.default_rng((self.seed, place.site, place.month))
        year, month = divmod(place.month, 12)
        links = [Link(self.addresses.url(int(self.graph.site_start[place.site])), "home")]
        for step, anchor in ((1, "next month"), (-1, "previous month")):
            links.append(Link(self.addresses.calendar(place.site, place.month + step), anchor))
        url = self.addresses.calendar(place.site, place.month)
        return Page(url, f"Calendar {month + 1} {year}", prose([(COMMON_WORDS, 80)], rng), tuple(links))
