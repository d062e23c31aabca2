"""Metrics: runs as numbers over time, in the text format of Prometheus.

`METRICS` defines every metric: its name, kind, meaning, and how to compute it. Every sample has the
label `run`. What a run does not know is left out: an offline crawl has no seconds and no bytes.

Counters belong to the run, not to a process: they continue when a crawl is resumed. They never
fall, so what is relevant here is what was so when it was fetched, whatever was said of it since.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from prometheus_client import generate_latest
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from tres.report.run_reader import PageRow, RunReader
from tres.store.run_state import Doing

RECENT = 60.0
"""Seconds over which the speed is measured."""
BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram of response times, in seconds."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = dict[str, str]
Sample = tuple[str, Labels, float]
"""The suffix of the metric's name, the labels beside `run`, and the value."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run and what it is doing at a moment, in seconds since the epoch."""

    reader: RunReader
    doing: Doing
    now: float

    @property
    def pages(self) -> Sequence[PageRow]:
        return self.reader.pages

    @property
    def rewarded(self) -> int:
        """Pages that were relevant when they were fetched."""
        return sum(page.reward for page in self.pages)

    @property
    def times(self) -> list[float]:
        """When pages arrived, as far as known."""
        return [page.at for page in self.pages if page.at is not None]

    @property
    def recent_speed(self) -> float | None:
        """Pages per second over the last minute, or since the first page if that was later."""
        times = self.times
        if not times:
            return None
        span = min(RECENT, max(self.now - min(times), 1.0))
        return sum(time > self.now - span for time in times) / span

    @property
    def response_times(self) -> list[float]:
        """Seconds that each fetch took, whether it gave a page or failed."""
        taken = [page.seconds for page in self.pages]
        taken += [failure.seconds for failure in self.reader.failures]
        return [seconds for seconds in taken if seconds is not None]


@dataclass(frozen=True, slots=True)
class Metric:
    """A name, its kind, its meaning, and how to compute its samples."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    read: Callable[[RunStatus], Iterable[Sample]]


def _single(name: str, help: str, value: Callable[[RunStatus], float | None]) -> Metric:
    """A counter (`_total`) or gauge with one sample, if its value is known."""

    def read(run: RunStatus) -> Iterator[Sample]:
        if (known := value(run)) is not None:
            yield "", {}, known

    return Metric(name, "counter" if name.endswith("_total") else "gauge", help, read)


def _last(name: str, help: str, value: Callable[[PageRow], float]) -> Metric:
    """A number of the last page; 0 before the first."""
    return _single(name, help, lambda run: value(run.pages[-1]) if run.pages else 0)


def _failures(run: RunStatus) -> Iterator[Sample]:
    kinds = Counter(failure.kind for failure in run.reader.failures)
    yield from (("", {"kind": kind}, count) for kind, count in sorted(kinds.items()))


def _bytes(run: RunStatus) -> float | None:
    sizes = [page.size for page in run.pages if page.size is not None]
    return sum(sizes) if sizes else None


def _states(run: RunStatus) -> Iterator[Sample]:
    yield from (("", {"state": str(state)}, float(state is run.doing)) for state in Doing)


def _info(run: RunStatus) -> Iterator[Sample]:
    reader = run.reader
    topic, web = reader.config.name, reader.meta.web_name
    yield "", {"topic": topic, "policy": reader.policy, "web": web}, 1.0


def _histogram(run: RunStatus) -> Iterator[Sample]:
    """How many fetches took no longer than each bound; the last bound is infinite."""
    if not (seconds := run.response_times):
        return
    places = Counter(bisect_left(BUCKETS, each) for each in seconds)
    counts = accumulate(places[place] for place in range(len(BUCKETS) + 1))
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), counts, strict=True):
        yield "_bucket", {"le": bound}, count
    yield "_sum", {}, sum(seconds)
    yield "_count", {}, len(seconds)


METRICS = (
    Metric("tres_run_info", "gauge", "Always 1; its labels say what the run is about.", _info),
    Metric("tres_run_state", "gauge", "1 for what the run is doing, 0 for the others.", _states),
    _single("tres_pages_total", "Pages fetched and judged: steps.", lambda run: len(run.pages)),
    _single("tres_relevant_pages_total", "Relevant pages.", lambda run: run.rewarded),
    _single(
        "tres_harvest_rate",
        "Relevant pages / pages.",
        lambda run: run.rewarded / len(run.pages) if run.pages else 0.0,
    ),
    _single("tres_sites", "Sites with a page.", lambda run: len({page.site for page in run.pages})),
    _single(
        "tres_relevant_sites",
        "Sites with a relevant page.",
        lambda run: len({page.site for page in run.pages if page.reward}),
    ),
    Metric("tres_failures_total", "counter", "URLs that gave no page, by kind.", _failures),
    _single("tres_bytes_total", "Bytes of the pages, decompressed.", _bytes),
    _single("tres_budget_pages", "Pages the crawl may fetch.", lambda run: run.reader.budget),
    _last("tres_frontier_links", "Waiting links.", lambda page: page.frontier),
    _last("tres_tree_leaves", "Leaves of the decision tree.", lambda page: page.leaves),
    _single(
        "tres_crawl_seconds_total",
        "Seconds of crawling, over all sessions.",
        lambda run: run.reader.seconds,
    ),
    _single(
        "tres_pages_per_second",
        "Pages per second over the last minute.",
        lambda run: run.recent_speed,
    ),
    _single(
        "tres_last_page_timestamp_seconds",
        "When the last page arrived, in seconds since the epoch.",
        lambda run: max(run.times, default=None),
    ),
    Metric(
        "tres_response_seconds",
        "histogram",
        "Seconds from requesting a URL to its outcome.",
        _histogram,
    ),
)


@dataclass(frozen=True, slots=True)
class RunCollector(Collector):
    """Collects the metrics of runs, by name."""

    runs: Mapping[str, RunStatus]

    def collect(self) -> Iterator[Family]:
        for metric in METRICS:
            family = Family(metric.name.removesuffix("_total"), metric.help, metric.kind)
            for run, status in self.runs.items():
                for suffix, labels, value in metric.read(status):
                    family.add_sample(metric.name + suffix, _encodable(run=run, **labels), value)
            yield family


def exposition(runs: Mapping[str, RunStatus]) -> str:
    """Return all metrics of runs, by name, in the text format."""
    return generate_latest(RunCollector(runs)).decode()


def _encodable(**labels: str) -> Labels:
    """Return labels whose lone surrogates, from names of files, are escaped."""
    return {key: text.encode("utf-8", "backslashreplace").decode() for key, text in labels.items()}
