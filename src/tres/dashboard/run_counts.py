"""The numbers of a run, counted page by page as they are read.

However long a crawl is, only counters, a curve of some hundred points and the last pages are kept.
The curve has a point for every `stride` steps. When it has more points than a screen can show,
every second one is dropped and the stride doubles; so a browser that has a part of a curve with
the same stride needs only the points after it.

All text from the Web is made harmless here before it goes anywhere: unprintable characters become
escapes, long texts are cut.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tres.crawl.page_record import SHOWN
from tres.errors import printable
from tres.numbers import format_count
from tres.report.run_reader import FailureRow, PageRow
from tres.report.series import BINS, RecentRate

LAST_PAGES, LAST_FAILURES = 200, 20
"""Pages that can be shown and judged, and failures that can be shown."""
LONGEST = 300
"""Characters of a title or an address that are shown."""
LONGEST_FAILURE = 2_000
"""Characters of a failed address: its end may be what is wrong."""

POINTS = 500
"""Points of a curve at most."""

Json = dict[str, Any]


class Point(NamedTuple):
    """A run after some step; in JSON a list in this order."""

    step: int
    harvest: float
    recent: float
    """Harvest rate of the last `RECENT` pages."""
    relevant_sites: int
    frontier: int
    leaves: int
    seconds: float
    """Seconds of crawling until then."""


@dataclass(slots=True)
class Curve:
    """Points at the multiples of a stride."""

    stride: int = 1
    points: list[Point] = field(default_factory=list)

    def takes(self, step: int) -> bool:
        """Return whether the curve has a point at this step."""
        return step % self.stride == 0

    def add(self, point: Point) -> None:
        """Add a point; if there are too many, drop every second one."""
        self.points.append(point)
        if len(self.points) > POINTS:
            self.stride *= 2
            self.points = [kept for kept in self.points if self.takes(kept.step)]

    def after(self, step: int) -> list[Point]:
        """Return the points after a step."""
        return self.points[bisect_right(self.points, step, key=lambda point: point.step) :]

    def thinned(self, count: int) -> list[Point]:
        """Return at most `count` evenly spaced points."""
        every = max(1, -(-len(self.points) // count))
        return self.points[every - 1 :: every]


@dataclass(slots=True)
class Counts:
    """The numbers of a run up to the last page read."""

    pages: int = 0
    relevant: int = 0
    frontier: int = 0
    leaves: int = 0
    begun: float | None = None
    """When the first page was fetched, in seconds of the epoch, if that is known."""
    recent: float = 0.0
    fetched_of: Counter[str] = field(default_factory=Counter)
    relevant_of: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    histogram: list[int] = field(default_factory=lambda: [0] * BINS)
    curve: Curve = field(default_factory=Curve)
    tip: Point | None = None
    """The point of the last page, whether or not the curve takes it."""
    last_pages: deque[PageRow] = field(default_factory=lambda: deque(maxlen=LAST_PAGES))
    last_failures: deque[FailureRow] = field(default_factory=lambda: deque(maxlen=LAST_FAILURES))
    times: deque[float] = field(default_factory=lambda: deque(maxlen=LAST_PAGES))
    _recent: RecentRate = field(default_factory=RecentRate)

    @property
    def harvest_rate(self) -> float:
        """Relevant pages / pages."""
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def pace(self) -> float:
        """Pages per second over the last pages."""
        spent = self.times[-1] - self.times[0] if self.times else 0.0
        return (len(self.times) - 1) / spent if spent > 0 else 0.0

    def add_page(self, page: PageRow, seconds: float) -> None:
        """Count a page that was fetched after so many seconds of crawling."""
        self.pages += 1
        self.relevant += page.relevant
        self.frontier, self.leaves = page.frontier, page.leaves
        self.begun = page.at if self.begun is None else self.begun
        self.recent = self._recent.add(page.relevant)
        self.fetched_of[page.site] += 1
        self.relevant_of.update([page.site] if page.relevant else [])
        self.histogram[bin_of(page.relevance)] += 1
        self.last_pages.append(page)
        self.times.append(seconds)
        self.tip = self._point(seconds)
        if self.curve.takes(self.pages):
            self.curve.add(self.tip)

    def add_failure(self, failure: FailureRow) -> None:
        """Count a URL that gave no page."""
        self.failures[failure.kind] += 1
        self.last_failures.append(failure)

    def page(self, step: int) -> PageRow | None:
        """Return one of the last pages by its step."""
        return next((page for page in self.last_pages if page.step == step), None)

    def headline(self) -> Json:
        """Return the main numbers of the run."""
        return {
            "pages": self.pages,
            "relevant": self.relevant,
            "harvest_rate": self.harvest_rate,
            "recent_rate": self.recent,
            "sites": len(self.fetched_of),
            "relevant_sites": len(self.relevant_of),
            "frontier": self.frontier,
            "leaves": self.leaves,
            "failed": self.failures.total(),
            "pace": self.pace,
            "begun": self.begun,
        }

    def _point(self, seconds: float) -> Point:
        return Point(
            self.pages,
            round(self.harvest_rate, 4),
            round(self.recent, 4),
            len(self.relevant_of),
            self.frontier,
            self.leaves,
            round(seconds, 3),
        )


def page_json(page: PageRow) -> Json:
    """Return a page as the browser gets it."""
    shown: Json = {name: getattr(page, name, None) for name in SHOWN}
    shown |= {"relevance": round(page.relevance, 4), "reason": reason(page)}
    texts = {name: harmless(value) for name, value in shown.items() if isinstance(value, str)}
    return shown | texts | {"href": web_link(page.url)}


def failure_json(failure: FailureRow) -> Json:
    """Return a failure as the browser gets it."""
    return {
        "url": harmless(failure.url, LONGEST_FAILURE),
        "href": web_link(failure.url),
        "kind": failure.kind,
        "note": harmless(failure.note, LONGEST_FAILURE),
    }


def reason(page: PageRow) -> str:
    """Return why a page was fetched, in a few words."""
    parts = []
    if page.parent is None and page.q is None:
        parts.append("seed")
    elif page.explored:
        parts.append("at random")
    elif page.q is None:
        parts.append("next in order")
    if page.q is not None:
        of = f" of {format_count(page.candidates, 'candidate')}" if page.candidates else ""
        parts.append(f"Q {page.q:.2f}{of}")
    if page.leaf is not None:
        parts.append(f"leaf {page.leaf}")
    return ", ".join(parts)


def bin_of(relevance: float) -> int:
    """Return the bin of a relevance in the histogram."""
    return min(BINS - 1, max(0, int(relevance * BINS)))


def harmless(text: str, longest: int = LONGEST) -> str:
    """Return text from the Web on one line, printable and not too long."""
    line = printable(" ".join(text[: 4 * longest].split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def web_link(url: str) -> str | None:
    """Return the target of a link if it is http or https."""
    return url if url.lower().startswith(("http://", "https://")) else None


def largest(counts: Mapping[str, int], number: int) -> list[str]:
    """Return the names with the largest counts; equal ones by name."""
    return sorted(counts, key=lambda name: (-counts[name], name))[:number]
