"""A reader follows a run: it reads every line once, in order, while the crawl goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.models import Half
from tests.support.webs import page, web_of

from tres.engines.protocols import Fetched
from tres.report.run_reader import RunReader
from tres.runs.open_run import OpenRun, start_run
from tres.settings.sections import AgentSection, CrawlSection, TopicSection
from tres.settings.topic_file import TopicConfig, TrainingSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.page import Failed, FailureKind
from tres.web.percept import Perceiver

WEB = web_of(
    page("http://a.example/0", 0.9, *(f"http://a.example/{n}" for n in range(1, 9))),
    *(page(f"http://a.example/{n}", 0.9 if n % 2 else 0.1) for n in range(1, 8)),
)


@pytest.fixture
def run(tmp_path: Path):
    config = TopicConfig(
        name="letters",
        topic=TopicSection(keywords=("a",), seeds=("http://a.example/0",)),
        training=TrainingSection(labels=("a",)),
        crawl=CrawlSection(pages=20),
        agent=AgentSection(guided=0, epsilon=0.0),
    )
    perceiver = Perceiver(Half(), KeywordMatcher(["a"]))
    with start_run(config, perceiver, tmp_path / "run") as opened:
        yield opened


def step(run: OpenRun) -> str:
    (url,) = run.recorded.next().urls  # type: ignore[union-attr]
    outcome = WEB.get(url) or Failed(url, FailureKind.NOT_FOUND)
    run.recorded.receive(url, outcome, Fetched(at=12.0, seconds=0.5, title="A page"))
    return url


def test_a_reader_reads_on_where_it_was(run: OpenRun) -> None:
    fetched = [step(run) for _ in range(3)]
    reader = RunReader(run.directory)
    assert reader.refresh() == 0
    fetched += [step(run) for _ in range(6)]
    assert reader.refresh() == 6
    assert [page.url for page in reader.pages] == [url for url in fetched if url in WEB]
    assert [failure.url for failure in reader.failures] == ["http://a.example/8"]
    assert reader.failures[0].kind == "http-404"
    assert reader.relevant == sum(WEB[url].relevant for url in fetched if url in WEB)


def test_a_page_has_the_runners_up_of_its_choice(run: OpenRun) -> None:
    for _ in range(4):
        step(run)
    reader = RunReader(run.directory)
    seed, second, *_ = reader.pages
    assert seed.rivals == ()
    assert seed.q is None
    others = {f"http://a.example/{n}" for n in range(1, 9)} - {second.url}
    assert {rival.url for rival in second.rivals} <= others
    assert len(second.rivals) == 3
    assert second.q is not None
    values = [second.q, *(rival.q for rival in second.rivals)]
    assert values == sorted(values, reverse=True)
    assert second.candidates >= 4


def test_a_page_has_the_size_of_the_frontier_after_it(run: OpenRun) -> None:
    for _ in range(9):
        step(run)
    first, second, *_, last = RunReader(run.directory).pages
    assert (first.frontier, second.frontier, last.frontier) in ((8, 7, 0), (8, 6, 0), (8, 7, 1))
    assert first.leaves == 1
    assert second.title == "A page"
    assert second.seconds == 0.5
    assert RunReader(run.directory).page(second.url) == second
