"""Metrics: Prometheus reads them, and their values are those of the run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families
from tests.report.test_run_reader import run, step

from tres.report.metrics import BUCKETS, METRICS, RunStatus, exposition
from tres.report.run_reader import FailureRow, PageRow, RunReader
from tres.runs.open_run import OpenRun
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.store.journal_file import Meta
from tres.store.journal_records import Begin
from tres.store.run_state import Doing

__all__ = ["run"]  # a fixture

NOW = 1_000_000.0
PAGE = PageRow(
    step=1, url="http://a.example/", asked="http://a.example/", parent=None, site="a.example",
    relevance=0.9, relevant=True, first_relevance=0.9, reward=True,
    q=None, leaf=None, explored=False, language="en", frontier=10, leaves=3,
    candidates=0, at=NOW - 30, seconds=0.2, status=200, size=1000, title="A", note="",
    features=(), rivals_json="[]", record=1,
)  # fmt: skip
LATE = FailureRow("http://b.example/", "timeout", False, NOW - 1, 30.5, None, "", record=2)


class Held(RunReader):
    """A reader that was given what it holds."""

    def __init__(
        self, pages: list[PageRow], failures: list[FailureRow], name: str = "bees"
    ) -> None:
        self.pages, self.failures, self.seconds = pages, failures, 12.5
        self.segments = [Begin(500, "model")]
        self.meta = Meta("", "live", ())
        self.config = TopicConfig(
            name=name,
            topic=TopicSection(keywords=("bee",)),
            training=TrainingSection(model="auto"),
            crawl=CrawlSection(),
        )


Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def read(text: str, run: str = "a") -> Values:
    """The samples of one run, as another program reads them."""
    return {
        (sample.name, tuple(sorted(sample.labels.items() - {("run", run)}))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels["run"] == run
    }


def told(
    *pages: PageRow, failures: tuple[FailureRow, ...] = (), state: Doing = Doing.CRAWLING
) -> Values:
    return read(exposition({"a": RunStatus(Held([*pages], [*failures]), state, NOW)}))


def test_the_numbers_are_those_of_the_run() -> None:
    other = replace(PAGE, site="b.example", reward=False, frontier=12, leaves=4, at=NOW - 2)
    values = told(PAGE, PAGE, other, failures=(LATE, replace(LATE, kind="http-404")))
    plain = {name: value for (name, labels), value in values.items() if not labels}
    assert plain == plain | {
        "tres_pages_total": 3,
        "tres_relevant_pages_total": 2,
        "tres_harvest_rate": 2 / 3,
        "tres_sites": 2,
        "tres_relevant_sites": 1,
        "tres_bytes_total": 3000,
        "tres_budget_pages": 500,
        "tres_frontier_links": 12,
        "tres_tree_leaves": 4,
        "tres_crawl_seconds_total": 12.5,
        "tres_last_page_timestamp_seconds": NOW - 2,
    }
    assert values["tres_failures_total", (("kind", "timeout"),)] == 1
    assert values["tres_failures_total", (("kind", "http-404"),)] == 1
    about = (("policy", "tres"), ("topic", "bees"), ("web", "live"))
    assert values["tres_run_info", about] == 1


@pytest.mark.parametrize("state", Doing)
def test_one_state_is_the_run_s(state: Doing) -> None:
    values = told(state=state)
    assert [values["tres_run_state", (("state", each),)] for each in Doing] == [
        float(each is state) for each in Doing
    ]


def test_response_times_are_counted_up_to_each_bound() -> None:
    waits = (0.05, 0.3, 0.3, 40.0)
    values = told(*(replace(PAGE, seconds=seconds) for seconds in waits), failures=(LATE,))
    counts = {
        dict(labels)["le"]: value
        for (name, labels), value in values.items()
        if name == "tres_response_seconds_bucket"
    }
    assert len(counts) == len(BUCKETS) + 1
    assert (counts["0.05"], counts["0.25"], counts["0.5"], counts["30.0"]) == (1, 1, 3, 3)
    assert counts["+Inf"] == values["tres_response_seconds_count", ()] == 5
    assert values["tres_response_seconds_sum", ()] == pytest.approx(sum(waits) + 30.5)


def test_the_speed_is_that_of_the_last_minute() -> None:
    def speed(*ago: float) -> float:
        pages = [replace(PAGE, at=NOW - seconds) for seconds in ago]
        return told(*pages)["tres_pages_per_second", ()]

    assert speed(300, 200, *[10] * 30) == 0.5
    assert speed(300) == 0.0
    assert speed(*[9.9] * 20, 10) == pytest.approx(2.0, rel=0.1)  # it has just begun


def test_values_that_an_offline_run_does_not_have_are_left_out() -> None:
    values = told(replace(PAGE, at=None, seconds=None, size=None, status=None))
    names = {name for name, _ in values}
    assert "tres_pages_total" in names
    assert not {name for name in names if re.search("bytes|response|last_page|per_second", name)}


def test_a_run_without_pages_has_metrics() -> None:
    assert told()["tres_harvest_rate", ()] == told()["tres_pages_total", ()] == 0


def test_several_runs_stand_side_by_side_and_each_metric_is_declared_once() -> None:
    text = exposition({
        "a": RunStatus(Held([PAGE], []), Doing.CRAWLING, NOW),
        "b": RunStatus(Held([PAGE, PAGE], []), Doing.PAUSED, NOW),
    })  # fmt: skip
    assert read(text, "a")["tres_pages_total", ()] == 1
    assert read(text, "b")["tres_pages_total", ()] == 2
    for metric in METRICS:
        assert text.count(f"# HELP {metric.name} ") == text.count(f"# TYPE {metric.name} ") == 1


HOSTILE = 'x"} 1\ntres_pages_total{run="y"} 9\\n\r\u2028\ud800'


def test_no_name_can_forge_a_sample() -> None:
    text = exposition({HOSTILE: RunStatus(Held([PAGE], [], HOSTILE), Doing.CRAWLING, NOW)})
    families = list(text_string_to_metric_families(text))
    runs = {sample.labels["run"] for family in families for sample in family.samples}
    assert runs == {HOSTILE.replace("\ud800", "\\ud800")}
    assert text.encode()


def test_every_metric_is_named_as_prometheus_asks() -> None:
    for metric in METRICS:
        assert re.fullmatch(r"tres_[a-z_]+", metric.name)
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert metric.help.endswith(".")
        assert "\n" not in metric.help


def test_every_metric_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    for metric in METRICS:
        assert f"| `{metric.name}` | {metric.kind} |" in page
    for state in Doing:
        assert f"`{state}`" in page


def test_a_real_run_can_be_watched_while_it_grows(run: OpenRun) -> None:
    reader = RunReader(run.directory)
    for _ in range(3):
        step(run)
    reader.refresh()
    values = read(exposition({"a": RunStatus(reader, Doing.CRAWLING, 12.0)}))
    assert values["tres_pages_total", ()] == len(reader.pages)
    assert values["tres_last_page_timestamp_seconds", ()] == 12.0
    assert values["tres_frontier_links", ()] == len(run.session.policy)
    assert values["tres_response_seconds_count", ()] == 3
