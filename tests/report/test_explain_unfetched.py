"""URLs that are not pages of a run: what became of each, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.support.bees import bees_config, crawl_bees, write_bees

from tres.crawl.endorsement import LEAST
from tres.crawl.events import StopReason
from tres.engines.protocols import Fetched as How
from tres.report.explain.facts import Failed, Fetched, InFlight, NeverFetched, Waiting
from tres.report.explain.gather import explain
from tres.report.explain.layout import format_explanation
from tres.runs.open_run import OpenRun, start_run
from tres.settings.sections import CrawlSection, LiveSection, TopicSection, TrainingSection
from tres.settings.site_caps import SiteCap
from tres.settings.topic_file import TopicConfig
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.page import Failed as NoPage
from tres.web.page import FailureKind, Link, Page
from tres.web.percept import Perceiver

SEED = "http://a.example/"


class Bees:
    """Relevant is what mentions bees."""

    digest = "bees"

    def probabilities(self, texts: list[str]) -> np.ndarray:
        return np.array([0.9 if "bee" in text else 0.1 for text in texts], np.float32)

    def save(self, directory: Path) -> None:
        directory.mkdir(parents=True)


PERCEIVER = Perceiver(Bees(), KeywordMatcher(["bee"]))


@contextmanager
def crawling(
    run: Path, live: LiveSection | None = None, seeds: tuple[str, ...] = (SEED,), **crawl: object
) -> Iterator[OpenRun]:
    config = TopicConfig(
        name="bees",
        topic=TopicSection(keywords=("bee",), seeds=seeds),
        training=TrainingSection(labels=("bees",)),
        crawl=CrawlSection(**{"pages": 20, **crawl}),  # type: ignore[arg-type]
        live=live or LiveSection(),
    )
    with start_run(config, PERCEIVER, run) as opened:
        yield opened


def receive(run: OpenRun, url: str, *links: str | Link, text: str = "a bee", at: str = "") -> None:
    """A page at a URL, or wherever it leads, with these links."""
    targets = tuple(Link(each, "see") if isinstance(each, str) else each for each in links)
    page = Page(at or url, "Title", text, targets)
    run.recorded.receive(url, PERCEIVER.judge_page(page), How(at=1e9, seconds=0.1, title="Title"))


def take(run: OpenRun, count: int = 1) -> tuple[str, ...]:
    return run.recorded.next(count).urls  # type: ignore[union-attr,no-any-return]


def test_a_failure_says_what_can_be_done(tmp_path: Path) -> None:
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run), "http://b.example/late")
        (url,) = take(run)
        run.recorded.receive(
            url, NoPage(url, FailureKind.HTTP_ERROR, True), How(at=1e9, note="500 \x1b[1m")
        )
    explained = explain(tmp_path / "run", "b.example/late")
    assert isinstance(explained, Failed)
    assert (explained.kind, explained.retryable, explained.attempts, explained.after) == (
        "http-error",
        True,
        3,
        1,
    )
    assert [each.url for each in explained.citations] == [SEED]
    text = " ".join(format_explanation(explained).split())
    assert "on 2001-09-09 at 01:46:40 UTC, after 1 page, and got no page" in text
    assert "(http-error: 500 \\x1b[1m). The server answered with another error." in text
    assert "tried up to three times. What has failed is not tried again" in text


def test_a_url_of_a_site_that_is_down_is_postponed(tmp_path: Path) -> None:
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run), "http://b.example/late")
        (url,) = take(run)
        run.recorded.receive(
            url, NoPage(url, FailureKind.TIMEOUT, True), How(at=1e9, note="30 s \x1b[1m")
        )
    explained = explain(tmp_path / "run", "b.example/late")
    assert isinstance(explained, InFlight)
    text = " ".join(format_explanation(explained).split())
    assert "its site gave no answer (timeout: 30 s \\x1b[1m). It is" in text
    assert "`tres resume` continues with it" in text


def test_a_requested_url_is_in_flight(tmp_path: Path) -> None:
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run), "http://b.example/1", "http://b.example/2")
        asked, other = take(run, 2)
        receive(run, other)
        explained = explain(tmp_path / "run", asked)  # while the crawl is going on
        assert isinstance(explained, InFlight)
        assert "`tres resume` requests it first" in " ".join(format_explanation(explained).split())
        assert isinstance(explain(tmp_path / "run", other), Fetched)


def test_a_waiting_url_of_a_running_crawl_is_ranked(tmp_path: Path) -> None:
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run), Link("http://b.example/1", "the bee"), "http://b.example/2")
        explained = explain(tmp_path / "run", "http://b.example/1")
        assert isinstance(explained, Waiting)
        assert (explained.rank, explained.frontier, explained.is_seed) == (1, 2, False)
        assert [(each.url, each.anchor) for each in explained.citations] == [(SEED, "the bee")]
        assert 'one relevant page links to it with the words "the bee"' in " ".join(
            format_explanation(explained).split()
        )
        second = explain(tmp_path / "run", "http://b.example/2")
        assert isinstance(second, Waiting)
        assert second.rank == 2
        assert second.best[0].url == "http://b.example/1"


def test_a_seed_whose_turn_has_not_come_waits(tmp_path: Path) -> None:
    with crawling(tmp_path / "run", seeds=(SEED, "http://b.example/")) as run:
        receive(run, *take(run))
        explained = explain(tmp_path / "run", "b.example")
    assert isinstance(explained, Waiting)
    assert explained.is_seed
    assert "its turn has not come" in format_explanation(explained)


def test_a_redirected_page_is_found_under_both_names(tmp_path: Path) -> None:
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run), Link("http://old.example/", "bees, formerly"))
        receive(run, *take(run), at="http://new.example/")
    for name in ("old.example", "new.example"):
        explained = explain(tmp_path / "run", name)
        assert isinstance(explained, Fetched)
        assert (explained.asked, explained.url) == ("http://old.example/", "http://new.example/")
        assert explained.path[-1].anchor == "bees, formerly"
        assert explained.citations[0].anchor == "bees, formerly"


def test_a_link_of_a_full_site_names_the_cap(tmp_path: Path) -> None:
    with crawling(tmp_path / "run", max_per_site=SiteCap(2)) as run:
        receive(run, *take(run), "http://a.example/1", "http://a.example/2", "http://b.example/")
        while not (chosen := take(run))[0].startswith("http://a.example"):
            receive(run, *chosen)
        receive(run, *chosen)
        left = ({"http://a.example/1", "http://a.example/2"} - set(chosen)).pop()
    explained = explain(tmp_path / "run", left)
    assert isinstance(explained, NeverFetched)
    assert (explained.reason, explained.detail, explained.site_pages) == ("site-full", "2", 2)
    assert "its site has given 2 pages, and may give 2" in " ".join(
        format_explanation(explained).split()
    )


def test_a_link_that_is_too_deep_names_the_limit(tmp_path: Path) -> None:
    with crawling(tmp_path / "run", LiveSection(max_clicks=1)) as run:
        receive(run, *take(run), "http://b.example/")
        receive(run, *take(run), "http://c.example/")
    explained = explain(tmp_path / "run", "http://c.example/")
    assert isinstance(explained, NeverFetched)
    assert (explained.reason, explained.detail) == ("too-deep", "1")
    assert [each.url for each in explained.citations] == ["http://b.example/"]


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://a.example/report.pdf", "file"),
        ("http://a.example/private/x", "exclude"),
        ("http://a.example/a/b/a/b/a/b", "repetition"),
    ],
)
def test_a_rule_that_keeps_links_out_is_named(tmp_path: Path, url: str, rule: str) -> None:
    with crawling(tmp_path / "run", LiveSection(exclude=("/private/",))) as run:
        receive(run, *take(run))
    explained = explain(tmp_path / "run", url)
    assert isinstance(explained, NeverFetched)
    assert (explained.reason, explained.detail) == ("rule", rule)
    assert "links to it are not followed" in format_explanation(explained)


def test_a_link_of_a_blocked_site_names_the_site(tmp_path: Path) -> None:
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run), "http://b.example/1", "http://c.example/")
        run.recorded.block("b.example")
    for url in ("http://b.example/1", "http://b.example/unseen"):
        explained = explain(tmp_path / "run", url)
        assert isinstance(explained, NeverFetched)
        assert (explained.reason, explained.detail) == ("blocked", "b.example")
        assert "the site b.example was blocked" in " ".join(format_explanation(explained).split())
    assert isinstance(explain(tmp_path / "run", "c.example"), Waiting)


def test_an_unknown_url_gets_its_nearest_neighbours(tmp_path: Path) -> None:
    known = [f"http://b.example/bees/{n}" for n in range(5)]
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run), *known, "http://b.example/ants/1", "http://c.example/bees/1")
    explained = explain(tmp_path / "run", "https://www.b.example/bees/17")
    assert isinstance(explained, NeverFetched)
    assert explained.reason == "unseen"
    assert explained.near[0] == "http://b.example/bees/1"
    assert set(explained.near) <= set(known)
    assert explain(tmp_path / "run", "http://nowhere.example/").near == ()  # type: ignore[union-attr]


def test_tracking_parameters_do_not_hide_a_page(tmp_path: Path) -> None:
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run))
    assert isinstance(explain(tmp_path / "run", f"{SEED}?utm_source=mail"), Fetched)


def test_a_link_that_ache_dropped_names_the_policy(tmp_path: Path) -> None:
    with crawling(tmp_path / "run", policy="ache") as run:
        receive(run, *take(run), "http://b.example/")
        receive(run, *take(run), "http://c.example/", text="nothing")
    explained = explain(tmp_path / "run", "c.example")
    assert isinstance(explained, NeverFetched)
    assert explained.reason == "thrown-away"


def test_a_page_that_was_not_kept_is_explained_without_its_words(tmp_path: Path) -> None:
    with crawling(tmp_path / "run") as run:
        receive(run, *take(run))
    explained = explain(tmp_path / "run", SEED)
    assert isinstance(explained, Fetched)
    assert explained.verdict.telling is None
    assert "has not kept its pages" in format_explanation(explained)


def test_an_archive_that_has_moved_may_be_named(tmp_path: Path) -> None:
    archive = write_bees(tmp_path / "bees.jsonl")
    run = crawl_bees(tmp_path / "run", archive, bees_config(pages=3))
    moved = archive.rename(tmp_path / "moved.jsonl")
    without = explain(run, "2")
    assert isinstance(without, Fetched)
    assert without.verdict.telling is None
    assert "bees.jsonl" in without.verdict.note
    found = explain(run, "2", str(moved))
    assert isinstance(found, Fetched)
    assert found.verdict.telling is not None


def test_links_of_other_sites_come_before_a_site_that_used_up_its_share(tmp_path: Path) -> None:
    spam = [f"http://spam.example/{number}" for number in range(LEAST + 5)]
    good = [f"http://a.example/{number}" for number in range(30)]
    with crawling(tmp_path / "run", pages=100) as run:
        receive(run, *take(run), spam[0], *good)
        while len(run.session.held_sites) == 0:
            (url,) = take(run)
            receive(run, url, *(spam[1:] if url == spam[0] else ()))
        asked = set(run.session.awaited)
        left = next(url for url in spam if url not in asked and _waits(run, url))
    explained = explain(tmp_path / "run", left)
    assert isinstance(explained, Waiting)
    assert explained.held
    assert "links of other sites come first" in format_explanation(explained).replace("\n", " ")


def _waits(run: OpenRun, url: str) -> bool:
    return len(run.session.policy.rows.of_url(run.session.crawl.urls.id(url))) > 0  # type: ignore[attr-defined]


def test_a_link_that_a_limit_dropped_names_the_limit(tmp_path: Path) -> None:
    with crawling(tmp_path / "run", links_per_page=2) as run:
        receive(run, *take(run), Link("http://b.example/", "bee"), Link("http://c.example/", "bee"))
        receive(run, take(run)[0], *(f"http://d.example/{number}" for number in range(3)))
        run.finish(StopReason.INTERRUPTED)
    explained = explain(tmp_path / "run", "http://d.example/2")
    assert isinstance(explained, NeverFetched)
    assert (explained.reason, explained.detail) == ("limited", "crawl.links_per_page")
    assert "(crawl.links_per_page). Another link to it may" in format_explanation(
        explained
    ).replace("\n", " ")
