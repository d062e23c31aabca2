"""What a run is bounded by, and what it closes behind itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.crawls import perceiver
from tests.support.reading import model

from tres.crawl.frontier_limits import LinkLimits
from tres.engines.protocols import Exchange
from tres.runs.live_run import start_or_resume
from tres.runs.open_run import open_archive, start_run
from tres.runs.topic_session import new_session, session_digest
from tres.settings.sections import CrawlSection, LiveSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig


class Archive:
    closed = False

    def append(self, exchange: Exchange, asked: str = "", page: str = "") -> int:
        return 0

    def truncate(self, end: int) -> None:
        pass

    def sync(self) -> None:
        pass

    def is_whole(self, start: int, end: int) -> bool:
        return True

    def surplus(self, end: int) -> int:
        return 0

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize("clicks", [0, 3])
def test_the_limit_of_clicks_is_that_of_the_topic_file(clicks: int) -> None:
    config = TopicConfig(
        name="limits",
        topic=TopicSection(keywords=["biology"]),
        training=TrainingSection(model="auto"),
        live=LiveSection(max_clicks=clicks),
    )
    session = new_session(config, perceiver().describe_seeds(["http://a.example/"]))
    assert session._actions._max_clicks == (clicks or float("inf"))


def test_the_archive_is_closed_however_the_crawl_ends(tmp_path: Path) -> None:
    archive = Archive()
    with pytest.raises(KeyboardInterrupt), open_archive(lambda directory: archive, tmp_path):
        raise KeyboardInterrupt
    assert archive.closed


def test_a_run_that_keeps_no_pages_has_no_archive(tmp_path: Path) -> None:
    with open_archive(None, tmp_path) as archive:
        assert archive is None


def test_the_limits_on_links_are_those_of_the_topic_file() -> None:
    config = TopicConfig(
        name="limits",
        topic=TopicSection(keywords=["biology"]),
        training=TrainingSection(model="auto"),
        crawl=CrawlSection(links_per_page=7, frontier_per_site=8, frontier_size=9),
    )
    session = new_session(config, perceiver().describe_seeds(["http://a.example/"]))
    assert session._actions.waiting._limits == LinkLimits(7, 8, 9)


def test_dead_links_have_a_price_on_the_live_web_only() -> None:
    config = TopicConfig(
        name="limits",
        topic=TopicSection(keywords=["biology"]),
        training=TrainingSection(model="auto"),
    )
    seeds = perceiver().describe_seeds(["http://a.example/"])
    for live, price in ((True, config.agent.dead_links), (False, 0.0)):
        session = new_session(config, seeds, live=live)
        learner = session.policy.learner  # type: ignore[attr-defined]
        assert learner._settings.dead_links == price


@pytest.mark.parametrize(("live", "share", "expected"), [(True, 0.1, 0.1), (False, 0.1, 1.0)])
def test_only_live_crawls_hold_sites_back(live: bool, share: float, expected: float) -> None:
    config = TopicConfig(
        name="limits",
        topic=TopicSection(keywords=["biology"]),
        training=TrainingSection(model="auto"),
        live=LiveSection(self_cited=share),
    )
    session = new_session(config, perceiver().describe_seeds(["http://a.example/"]), live=live)
    assert session._endorsements._share == expected
    assert session_digest(config) != session_digest(config.override(self_cited=0.2))


def test_a_project_that_goes_on_has_the_budgets_of_its_topic_file(tmp_path: Path) -> None:
    config = TopicConfig(
        name="limits",
        topic=TopicSection(keywords=["biology"], seeds=["http://a.example/"]),
        training=TrainingSection(model="auto"),
        crawl=CrawlSection(pages=20, requests=30),
    )
    with start_run(config, replace(perceiver(), model=model()), tmp_path / "run"):
        pass
    with start_or_resume(config.override(pages=40, requests=60), tmp_path / "run") as (run, _):
        assert (run.config.crawl.pages, run.config.crawl.requests) == (40, 60)
        assert run.recorded._requests_left == 60
