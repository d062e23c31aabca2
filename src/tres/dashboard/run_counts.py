"""The numbers of a run, counted page by page as they are read.

A page is counted and let go: whatever the length of a crawl, what is kept of it are counters, a
curve of some hundred points, and its last pages. All text that pages wrote is made harmless
here, before it goes anywhere: what is not printable becomes an escape, what is long is cut.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tres.crawl.page_record import SHOWN
from tres.dashboard.curves import BINS, Curve, Point, Recent, bin_of
from tres.errors import printable
from tres.numbers import format_count
from tres.report.run_reader import FailureRow, PageRow

KEPT = 200
"""Pages that can be looked at and judged."""
FAILED = 20
LONGEST = 300
"""Characters of a title or an address that are shown."""
LONGEST_FAILURE = 2_000
"""Characters of an address that failed: the end of it may be what is wrong."""

Json = dict[str, Any]


@dataclass(slots=True)
class Counts:
    """What was read of a run so far, in numbers."""

    pages: int = 0
    relevant: int = 0
    frontier: int = 0
    leaves: int = 0
    begun: float | None = None
    """When the first page was fetched, in seconds of the epoch, if one knows."""
    recent: float = 0.0
    fetched_of: Counter[str] = field(default_factory=Counter)
    relevant_of: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    histogram: list[int] = field(default_factory=lambda: [0] * BINS)
    curve: Curve = field(default_factory=Curve)
    tip: Point | None = None
    """The curve as of the last page, be that a multiple of its stride or not."""
    last_pages: deque[PageRow] = field(default_factory=lambda: deque(maxlen=KEPT))
    last_failures: deque[FailureRow] = field(default_factory=lambda: deque(maxlen=FAILED))
    times: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))
    _window: Recent = field(default_factory=Recent)

    @property
    def harvest_rate(self) -> float:
        """Relevant pages / pages."""
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def pace(self) -> float:
        """Pages a second, over the last pages."""
        spent = self.times[-1] - self.times[0] if self.times else 0.0
        return (len(self.times) - 1) / spent if spent > 0 else 0.0

    def add_page(self, page: PageRow, seconds: float) -> None:
        """One step more, and after how many seconds of crawling."""
        self.pages += 1
        self.relevant += page.relevant
        self.frontier, self.leaves = page.frontier, page.leaves
        self.begun = page.at if self.begun is None else self.begun
        self.recent = self._window.add(page.relevant)
        self.fetched_of[page.site] += 1
        self.relevant_of.update([page.site] if page.relevant else [])
        self.histogram[bin_of(page.relevance)] += 1
        self.last_pages.append(page)
        self.times.append(seconds)
        self.tip = self._point(seconds)
        if self.curve.takes(self.pages):
            self.curve.add(self.tip)

    def add_failure(self, failure: FailureRow) -> None:
        """One URL more that gave no page."""
        self.failures[failure.kind] += 1
        self.last_failures.append(failure)

    def page(self, step: int) -> PageRow | None:
        """One of the last pages by its step."""
        return next((page for page in self.last_pages if page.step == step), None)

    def headline(self) -> Json:
        """The run in a few numbers."""
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


def shown_page(page: PageRow) -> Json:
    """A page as the browser gets it."""
    return {name: _COMPUTED.get(name, _shown)(page, name) for name in SHOWN}


def _shown(page: PageRow, name: str) -> Any:
    value = getattr(page, name)
    return harmless(value) if isinstance(value, str) else value


_COMPUTED: dict[str, Callable[[PageRow, str], Any]] = {
    "href": lambda page, _: link(page.url),
    "relevance": lambda page, _: round(page.relevance, 4),
    "reason": lambda page, _: reason(page),
}


def shown_failure(failure: FailureRow) -> Json:
    """A failure as the browser gets it."""
    return {
        "url": harmless(failure.url, LONGEST_FAILURE),
        "href": link(failure.url),
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


def harmless(text: str, longest: int = LONGEST) -> str:
    """Text of the Web that can steer nothing: one line, printable, not too long."""
    line = printable(" ".join(text[: 4 * longest].split()))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def link(url: str) -> str | None:
    """Where a link may lead: to the Web or nowhere."""
    return url if url.lower().startswith(("http://", "https://")) else None


def most(counts: Mapping[str, int], number: int) -> list[str]:
    """The names with the largest counts; equal ones by name."""
    return sorted(counts, key=lambda name: (-counts[name], name))[:number]
