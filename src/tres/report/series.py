"""The numbers of a run: its headline, its curves over the steps, its sites and its failures.

All of it is counted from the journal's pages and failures, so a run that is being crawled or was
killed has the same numbers as one that has ended.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from tres.report.run_reader import FailureRow, PageRow, RunReader

Points = list[tuple[float, float]]

POINTS = 240
"""Points of a curve: more than a screen can show of it."""
BINS = 20


@dataclass(frozen=True, slots=True)
class Site:
    """What one site gave."""

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
    """The run in a few numbers and words, by what they are called."""
    sites = sites_of(reader.pages)
    return {
        "pages": f"{len(reader.pages):,}",
        "relevant pages": f"{reader.relevant:,}",
        "harvest rate": f"{reader.harvest_rate:.1%}",
        "sites": f"{len(sites):,}",
        "relevant sites": f"{sum(site.relevant > 0 for site in sites):,}",
        "failures": f"{len(reader.failures):,}",
        "budget": f"{reader.budget:,}",
        "seconds": f"{reader.seconds:,.1f}",
        "policy": reader.policy,
        "model": reader.config.training.model,
        "web": reader.meta.web_name,
        "version": reader.meta.version,
    }


def harvest(pages: Sequence[PageRow]) -> Points:
    """Relevant pages / pages up to every step."""
    found = accumulate(page.relevant for page in pages)
    return thinned([(step, count / step) for step, count in enumerate(found, start=1)])


def window(pages: Sequence[PageRow]) -> int:
    """Over how many pages the moving harvest rate is taken: a twentieth of all, in round tens."""
    return int(min(1000, max(20, len(pages) // 200 * 10)))


def moving_harvest(pages: Sequence[PageRow], width: int) -> Points:
    """Relevant pages / pages among the last `width` ones."""
    total = np.cumsum([0, *(page.relevant for page in pages)])
    shares = (total[width:] - total[:-width]) / width
    return thinned([(width + place, float(share)) for place, share in enumerate(shares)])


def relevant_sites(pages: Sequence[PageRow]) -> Points:
    """Sites with a relevant page, up to every step."""
    seen: set[str] = set()
    points: Points = []
    for page in pages:
        if page.relevant:
            seen.add(page.site)
        points.append((page.step, len(seen)))
    return thinned(points)


def over_steps(pages: Sequence[PageRow], value: Callable[[PageRow], float]) -> Points:
    """A number of every step."""
    return thinned([(page.step, value(page)) for page in pages])


def thinned(points: Points) -> Points:
    """Some of the points, evenly, the last one with them."""
    every = -(-len(points) // POINTS)
    return points if every <= 1 else [*points[:-1:every], points[-1]]


def histogram(pages: Sequence[PageRow]) -> list[int]:
    """Pages by relevance, from 0 to 1 in equal bins."""
    counts, _ = np.histogram([page.relevance for page in pages], BINS, (0.0, 1.0))
    return [int(count) for count in counts]


def sites_of(pages: Sequence[PageRow]) -> list[Site]:
    """Sites, those with most relevant pages first."""
    fetched = Counter(page.site for page in pages)
    relevant = Counter(page.site for page in pages if page.relevant)
    sites = [Site(name, count, relevant[name]) for name, count in fetched.items()]
    return sorted(sites, key=lambda site: (-site.relevant, -site.pages, site.name))


def failures_by_kind(failures: Sequence[FailureRow], examples: int = 3) -> list[Failures]:
    """Failures, the most frequent kind first, with a few of each."""
    by_kind: dict[str, list[FailureRow]] = defaultdict(list)
    for failure in failures:
        by_kind[failure.kind].append(failure)
    ordered = sorted(by_kind.items(), key=lambda item: (-len(item[1]), item[0]))
    return [Failures(kind, len(rows), tuple(rows[:examples])) for kind, rows in ordered]
