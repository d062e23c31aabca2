"""The numbers of a run: its headline, curves, sites, failures, and the requests to each site.

All of it is counted from the journal's pages and failures, so a run that is going on or was
killed has the same numbers as one that has ended.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise
from statistics import median

import numpy as np

from tres.numbers import format_rate
from tres.report.run_reader import FailureRow, PageRow, RunReader
from tres.report.safe_html import is_web_address
from tres.store.judgements import PERSON, TEACHER
from tres.store.verdicts import MODEL
from tres.web.url import site_of

Points = list[tuple[float, float]]

POINTS = 240
"""Points of a curve: more than a screen can show of it."""
BINS, PARTS = 20, 80
"""Bins of the histogram of relevance, and of a strip chart."""
RECENT = 100
"""Pages over which the recent harvest rate is taken, in reports and in the dashboard."""
EARLY = 20
"""Pages before which a recent harvest rate says nothing yet."""


@dataclass(slots=True)
class RecentRate:
    """The harvest rate of the last `RECENT` pages, or of all as long as there are fewer."""

    pages: deque[bool] = field(default_factory=lambda: deque(maxlen=RECENT))
    relevant: int = 0

    def add(self, relevant: bool) -> float:
        """Count one page more; return the rate after it."""
        if len(self.pages) == RECENT:
            self.relevant -= self.pages[0]
        self.pages.append(relevant)
        self.relevant += relevant
        return self.relevant / len(self.pages)


@dataclass(frozen=True, slots=True)
class Site:
    """The pages of one site."""

    name: str
    pages: int
    relevant: int

    @property
    def share(self) -> float:
        """Relevant pages / pages."""
        return self.relevant / self.pages


@dataclass(frozen=True, slots=True)
class Failures:
    """All failures of one kind."""

    kind: str
    count: int
    examples: tuple[FailureRow, ...]


def headline(reader: RunReader) -> dict[str, str]:
    """Return the main numbers and names of a run, by their labels."""
    sites = sites_of(reader.pages)
    return {
        "pages": f"{len(reader.pages):,}",
        "relevant pages": f"{reader.relevant:,}",
        "harvest rate": format_rate(reader.harvest_rate),
        "sites": f"{len(sites):,}",
        "relevant sites": f"{sum(site.relevant > 0 for site in sites):,}",
        **({"judged by": format_judges(reader)} if reader.verdicts else {}),
        "failures": f"{len(reader.failures):,}",
        "budget": f"{reader.budget:,}",
        "seconds": f"{reader.seconds:,.1f}",
        "policy": reader.policy,
        "model": reader.config.training.model,
        "web": reader.meta.web_name,
        "version": reader.meta.version,
    }


def format_judges(reader: RunReader) -> str:
    """Return how many pages each judge has judged: `a person: 3, the newest model: 97`."""
    counts, newest = reader.judges, reader.verdicts.newest
    again = sum(
        page.judged_by == MODEL and newest is not None and newest.of(page.step) is not None
        for page in reader.pages
    )
    judges = {
        "a person": counts[PERSON],
        "a teacher": counts[TEACHER],
        "the newest model": again,
        "the model when fetched": counts[MODEL] - again,
    }
    return ", ".join(f"{who}: {count:,}" for who, count in judges.items() if count)


def harvest(pages: Sequence[PageRow]) -> Points:
    """Return the harvest rate up to every step."""
    counts = accumulate(page.relevant for page in pages)
    return thin([(step, count / step) for step, count in enumerate(counts, start=1)])


def recent_harvest(pages: Sequence[PageRow]) -> Points:
    """Return the recent harvest rate at every step from `EARLY` on."""
    rate = RecentRate()
    points: Points = [(page.step, rate.add(page.relevant)) for page in pages]
    return thin(points[EARLY - 1 :])


def relevant_sites(pages: Sequence[PageRow]) -> Points:
    """Return the number of sites with a relevant page up to every step."""
    seen: set[str] = set()
    points: Points = []
    for page in pages:
        if page.relevant:
            seen.add(page.site)
        points.append((page.step, len(seen)))
    return thin(points)


def over_steps(pages: Sequence[PageRow], value: Callable[[PageRow], float]) -> Points:
    """Return a number at every step."""
    return thin([(page.step, value(page)) for page in pages])


def thin(points: Points) -> Points:
    """Return at most about `POINTS` evenly spaced points, with the last one."""
    every = -(-len(points) // POINTS)
    return points if every <= 1 else [*points[:-1:every], points[-1]]


def histogram(pages: Sequence[PageRow]) -> list[int]:
    """Count pages by relevance, from 0 to 1 in equal bins."""
    return _counts([page.relevance for page in pages], BINS, 0.0, 1.0)


def _counts(values: Sequence[float], bins: int, low: float, high: float) -> list[int]:
    return [int(count) for count in np.histogram(values, bins, (low, high))[0]]


def sites_of(pages: Sequence[PageRow]) -> list[Site]:
    """Return the sites, those with most relevant pages first."""
    fetched = Counter(page.site for page in pages)
    relevant = Counter(page.site for page in pages if page.relevant)
    sites = [Site(name, count, relevant[name]) for name, count in fetched.items()]
    return sorted(sites, key=lambda site: (-site.relevant, -site.pages, site.name))


def failures_by_kind(failures: Sequence[FailureRow], examples: int = 3) -> list[Failures]:
    """Group failures, the most frequent kind first, with a few examples each."""
    by_kind: dict[str, list[FailureRow]] = defaultdict(list)
    for failure in failures:
        by_kind[failure.kind].append(failure)
    ordered = sorted(by_kind.items(), key=lambda item: (-len(item[1]), item[0]))
    return [Failures(kind, len(rows), tuple(rows[:examples])) for kind, rows in ordered]


@dataclass(frozen=True, slots=True)
class SiteRequests:
    """The times of the requests to one site, in seconds of the epoch, in order.

    Redirects, retries and requests for robots.txt are not included: the crawl spaces these as well,
    but keeps no record of each.
    """

    site: str
    times: tuple[float, ...]

    @property
    def gaps(self) -> list[float]:
        """Seconds between a request and the next."""
        return [after - before for before, after in pairwise(self.times)]

    @property
    def smallest_gap(self) -> float:
        """The shortest time between two requests."""
        return min(self.gaps)

    @property
    def median_gap(self) -> float:
        """The usual time between two requests."""
        return float(median(self.gaps))

    def over_time(self, begin: float, end: float) -> list[int]:
        """Count requests in equal bins of a time span."""
        return _counts(self.times, PARTS, begin, max(end, begin + 1e-3))


def busiest_sites(reader: RunReader, most: int = 15) -> list[SiteRequests]:
    """Return the sites with most requests, of those with two or more and known times."""
    times: dict[str, list[float]] = defaultdict(list)
    for site, at in _requests(reader):
        times[site].append(at)
    busy = [SiteRequests(site, tuple(sorted(at))) for site, at in times.items() if len(at) > 1]
    return sorted(busy, key=lambda each: (-len(each.times), each.site))[:most]


def time_span(reader: RunReader) -> tuple[float, float]:
    """Return the times of the first and the last request."""
    times = [at for _, at in _requests(reader)]
    return (min(times), max(times)) if times else (0.0, 0.0)


def _requests(reader: RunReader) -> Iterator[tuple[str, float]]:
    """Site and time of every request that a server answered."""
    by = reader.config.crawl.site
    pages = ((page.asked, page.at, page.status) for page in reader.pages)
    failures = ((failure.url, failure.at, failure.status) for failure in reader.failures)
    for url, at, status in chain(pages, failures):
        if at is not None and status and is_web_address(url):
            yield site_of(url, by), at
