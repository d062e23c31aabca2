"""Webs made of percepts, and a driver that crawls them.

A test writes its web as a dictionary: "site/page" is a URL, and the part before the
slash is its site. Nothing is parsed or judged; the session sees exactly what the test says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tres.crawl.endorsement import Endorsements
from tres.crawl.events import Done, Event, Fetch, Stepped, StopReason, Wait
from tres.crawl.frontier_limits import LinkLimits
from tres.crawl.session import CrawlSession
from tres.mdp.state import CrawlState
from tres.policies.registry import make_policy
from tres.policies.setup import OfflineKnowledge, PolicySettings, WebGraph
from tres.settings.site_caps import SiteCap
from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Percept
from tres.web.search_engine import Hit

PerceptWeb = Mapping[str, Percept | Failed]


@dataclass(frozen=True, slots=True)
class To:
    """A link as a test writes it."""

    url: str
    anchor_relevance: float = 0.0
    url_keyword: bool = False
    anchor_keyword: bool = False
    anchor: str = ""


def site_of(url: str) -> str:
    """The site of a test's URL."""
    return url.split("/", maxsplit=1)[0]


def links(*targets: To | str) -> LinkPercepts:
    """Links, in columns."""
    all_links = [To(t) if isinstance(t, str) else t for t in targets]
    return LinkPercepts(
        urls=tuple(t.url for t in all_links),
        sites=tuple(site_of(t.url) for t in all_links),
        url_keyword=np.array([t.url_keyword for t in all_links], np.bool_),
        anchor_keyword=np.array([t.anchor_keyword for t in all_links], np.bool_),
        anchor_relevance=np.array([t.anchor_relevance for t in all_links], np.float32),
        anchors=tuple(t.anchor for t in all_links),
    )


def page(url: str, relevance: float, *targets: To | str) -> Percept:
    """A judged page with its outlinks."""
    return Percept(url, site_of(url), relevance, links(*targets))


def web_of(*pages: Percept) -> dict[str, Percept | Failed]:
    """A web by URL."""
    return {percept.url: percept for percept in pages}


def missing(url: str) -> Failed:
    """A dead link."""
    return Failed(url, FailureKind.NOT_FOUND)


def graph_of(web: PerceptWeb) -> WebGraph:
    """The graph of the web, which the oracle knows."""
    return WebGraph.of(p for p in web.values() if isinstance(p, Percept))


@dataclass(frozen=True, slots=True)
class FixedSearch:
    """A search engine that gives every query the same hits: every third page of the web."""

    web: PerceptWeb

    def search(self, query: Sequence[str], page: int) -> list[Hit]:
        """Return ten hits per page."""
        return [Hit(url, f"music {url}") for url in list(self.web)[::3][10 * page : 10 * page + 10]]


def start(
    web: PerceptWeb,
    seeds: Iterable[To | str],
    settings: PolicySettings | None = None,
    *,
    pages: int = 1000,
    cap: object = "inf",
    seed: int = 1,
    max_clicks: int | None = None,
    limits: LinkLimits | None = None,
    endorsements: Endorsements | None = None,
) -> CrawlSession:
    """A new session."""
    crawl = CrawlState()
    policy = make_policy(
        settings or PolicySettings(),
        crawl,
        np.random.default_rng(seed),
        OfflineKnowledge(lambda: graph_of(web), lambda share: FixedSearch(web)),
    )
    bounds = SiteCap.parse(cap), max_clicks, limits, endorsements
    return CrawlSession(crawl, policy, links(*seeds), pages, *bounds)


@dataclass(slots=True)
class Run:
    """The result of a crawl."""

    reason: StopReason
    asked: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def steps(self) -> list[Stepped]:
        """The pages that were retrieved and judged, in order."""
        return [event for event in self.events if isinstance(event, Stepped)]

    @property
    def harvest_rate(self) -> float:
        """Relevant pages / pages."""
        return float(np.mean([step.relevant for step in self.steps]))


def drive(
    session: CrawlSession,
    web: PerceptWeb,
    k: int = 1,
    disorder: int | None = None,
    watch: Callable[[Fetch | Wait | Done], None] = lambda demand: None,
) -> Run:
    """Crawl to the end with up to `k` fetches in flight.

    They come back oldest first, or in a random order if `disorder` is given as a seed.
    `watch` sees every demand of the session as soon as it was made.
    """
    run = Run(StopReason.BUDGET)
    flying: list[str] = []
    rng = None if disorder is None else np.random.default_rng(disorder)
    while True:
        demand = session.next(k - len(flying))
        watch(demand)
        if isinstance(demand, Done):
            run.reason = demand.reason
            return run
        if isinstance(demand, Fetch):
            run.asked += demand.urls
            flying += demand.urls
        url = flying.pop(0 if rng is None else int(rng.integers(len(flying))))
        run.events += session.receive(url, web.get(url, missing(url)))


def random_web(
    seed: int, pages: int = 80, sites: int = 7, dead: float = 0.1, moved: float = 0.1
) -> dict[str, Percept | Failed]:
    """A web of no particular shape, with dead links and with URLs that redirect to others."""
    rng = np.random.default_rng(seed)
    # A square of a uniform number: some sites are much larger than others.
    urls = [f"s{int(sites * rng.random() ** 2)}/{i}" for i in range(pages)]
    web: dict[str, Percept | Failed] = {}
    for url in urls:
        targets = rng.choice(urls, size=int(rng.integers(0, 9)), replace=False)
        web[url] = page(
            url,
            float(np.round(rng.random(), 2)),
            *(_random_link(str(target), rng) for target in targets if target != url),
        )
    for url in urls[1:]:  # the first page is always there, to start from
        fate = rng.random()
        if fate < dead:
            del web[url]
        elif fate < dead + moved:
            web[url] = web.get(urls[int(rng.integers(pages))], missing(url))
    return web


def _random_link(url: str, rng: np.random.Generator) -> To:
    # Few different values, so that ties and equal vectors are common.
    anchor = float(rng.choice([0.0, 0.25, 0.5, 1.0]))
    return To(url, anchor, bool(rng.random() < 0.5), bool(rng.random() < 0.5))
