"""When a live crawl requested pages of each site, and how long it waited in between.

The journal has the time at which each URL was requested, and whether the server answered.
Redirects, retries and requests for robots.txt are not included: the crawl spaces these as well, but
keeps no record of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median

import numpy as np

from tres.report.run_reader import RunReader
from tres.report.safe_html import is_web_address
from tres.web.url import site_of

PARTS = 80
"""Bins of a strip chart."""


@dataclass(frozen=True, slots=True)
class SiteRequests:
    """The times of the requests to one site, in seconds of the epoch, in order."""

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
        counts, _ = np.histogram(self.times, PARTS, (begin, max(end, begin + 1e-3)))
        return [int(count) for count in counts]


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
