"""Metrics: runs as numbers over time, in the text format that Prometheus reads.

`METRICS` is the only place where a metric is named: what it is called, of which kind it is, what
it means, and how it is read off a run. Every sample carries the label `run`. What a run does not
know is left out, never invented: over an archive there are no seconds and no bytes.

Counters belong to the run, not to a process. They grow as long as the run does, however often it
is stopped and taken up again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from tres.report.run_reader import RunReader
from tres.store.run_state import Doing

RECENT = 60.0
"""Seconds that count as recent."""
BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram of response times, in seconds."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = dict[str, str]
Sample = tuple[str, Labels, float]
"""What stands behind the metric's name, the labels beside `run`, and the value."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run at a moment (seconds of the epoch): what it holds, and what it is doing."""

    reader: RunReader
    doing: Doing
    now: float

    @property
    def times(self) -> list[float]:
        """When pages came, as far as known."""
        return [page.at for page in self.reader.pages if page.at is not None]

    @property
    def last(self) -> float | None:
        """When the last page came."""
        return max(self.times, default=None)

    @property
    def recent_speed(self) -> float | None:
        """Pages a second over the last minute, or since the first page if that was later."""
        times = self.times
        if not times:
            return None
        span = min(RECENT, max(self.now - min(times), 1.0))
        return sum(time > self.now - span for time in times) / span

    @property
    def waits(self) -> list[float]:
        """Seconds that each fetch took, whatever came of it."""
        taken = [page.seconds for page in self.reader.pages]
        taken += [failure.seconds for failure in self.reader.failures]
        return [seconds for seconds in taken if seconds is not None]


@dataclass(frozen=True, slots=True)
class Metric:
    """A name, its kind, its meaning, and how it is read off a run."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    read: Callable[[RunStatus], Iterable[Sample]]


def _one(value: Callable[[RunStatus], float | None]) -> Callable[[RunStatus], Iterable[Sample]]:
    """One sample without labels, if there is a value."""

    def read(run: RunStatus) -> Iterator[Sample]:
        if (known := value(run)) is not None:
            yield "", {}, known

    return read


def _failures(run: RunStatus) -> Iterator[Sample]:
    kinds = Counter(failure.kind for failure in run.reader.failures)
    yield from (("", {"kind": kind}, count) for kind, count in sorted(kinds.items()))


def _bytes(run: RunStatus) -> float | None:
    sizes = [page.size for page in run.reader.pages if page.size is not None]
    return sum(sizes) if sizes else None


def _states(run: RunStatus) -> Iterator[Sample]:
    yield from (("", {"state": str(state)}, float(state is run.doing)) for state in Doing)


def _about(run: RunStatus) -> Iterator[Sample]:
    reader = run.reader
    about = {
        "topic": reader.config.name,
        "policy": reader.policy,
        "web": reader.meta.web_name,
    }
    yield "", about, 1.0


def _histogram(run: RunStatus) -> Iterator[Sample]:
    """How many fetches took no longer than each bound; the last bound is infinite."""
    if not (waits := run.waits):
        return
    places = Counter(bisect_left(BUCKETS, seconds) for seconds in waits)
    counts = accumulate(places[place] for place in range(len(BUCKETS) + 1))
    for bound, count in zip((*BUCKETS, float("inf")), counts, strict=True):
        yield "_bucket", {"le": _number(bound)}, count
    yield "_sum", {}, sum(waits)
    yield "_count", {}, len(waits)


def _last_step(attribute: str) -> Callable[[RunStatus], Iterable[Sample]]:
    def value(run: RunStatus) -> float:
        pages = run.reader.pages
        return float(getattr(pages[-1], attribute)) if pages else 0.0

    return _one(value)


METRICS = (
    Metric("tres_run_info", "gauge", "Always 1; its labels tell what the run is about.", _about),
    Metric("tres_run_state", "gauge", "1 for what the run is doing, 0 for the others.", _states),
    Metric(
        "tres_pages_total",
        "counter",
        "Pages fetched and judged: steps.",
        _one(lambda run: len(run.reader.pages)),
    ),
    Metric(
        "tres_relevant_pages_total",
        "counter",
        "Pages judged relevant.",
        _one(lambda run: run.reader.relevant),
    ),
    Metric(
        "tres_harvest_rate",
        "gauge",
        "Relevant pages / pages.",
        _one(lambda run: run.reader.harvest_rate),
    ),
    Metric(
        "tres_sites",
        "gauge",
        "Web sites with a page.",
        _one(lambda run: len({page.site for page in run.reader.pages})),
    ),
    Metric(
        "tres_relevant_sites",
        "gauge",
        "Web sites with a relevant page.",
        _one(lambda run: len({page.site for page in run.reader.pages if page.relevant})),
    ),
    Metric("tres_failures_total", "counter", "URLs that gave no page, by kind.", _failures),
    Metric("tres_bytes_total", "counter", "Bytes of the pages, decompressed.", _one(_bytes)),
    Metric(
        "tres_budget_pages",
        "gauge",
        "Pages that the crawl may fetch.",
        _one(lambda run: run.reader.budget),
    ),
    Metric("tres_frontier_links", "gauge", "Links that wait.", _last_step("frontier")),
    Metric("tres_tree_leaves", "gauge", "Leaves of the decision tree.", _last_step("leaves")),
    Metric(
        "tres_crawl_seconds_total",
        "counter",
        "Seconds of crawling, all stretches together.",
        _one(lambda run: run.reader.seconds),
    ),
    Metric(
        "tres_pages_per_second",
        "gauge",
        "Pages a second over the last minute.",
        _one(lambda run: run.recent_speed),
    ),
    Metric(
        "tres_last_page_timestamp_seconds",
        "gauge",
        "When the last page came, in seconds of the epoch.",
        _one(lambda run: run.last),
    ),
    Metric(
        "tres_response_seconds",
        "histogram",
        "Seconds from asking for a URL to the end.",
        _histogram,
    ),
)


def exposition(runs: Mapping[str, RunStatus]) -> str:
    """All metrics of runs, by the names under which they are to be known."""
    lines: list[str] = []
    for metric in METRICS:
        lines.append(f"# HELP {metric.name} {metric.help}")
        lines.append(f"# TYPE {metric.name} {metric.kind}")
        for run, watched in runs.items():
            for suffix, labels, value in metric.read(watched):
                written = _labels({"run": run, **labels})
                lines.append(f"{metric.name}{suffix}{written} {_number(value)}")
    return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    """A label's value: whatever stands in it, it stays within its quotes."""
    whole = value.encode("utf-8", "backslashreplace").decode()
    return whole.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return "+Inf" if value == float("inf") else repr(value)
