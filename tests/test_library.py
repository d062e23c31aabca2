"""tres as a library: a small surface, typed, documented, and cheap to import."""

from __future__ import annotations

import doctest
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import tres
from tres.api import crawls, results
from tres.frontier.decision_tree import Tree

HEAVY = ("numpy", "torch", "scrapy", "twisted", "sklearn", "scipy", "rich", "gymnasium")


@pytest.fixture(scope="module")
def web() -> tres.GeneratedWeb:
    return tres.GeneratedWeb(600, seed=4)


@pytest.fixture(scope="module")
def topic(web: tres.GeneratedWeb) -> tres.TopicConfig:
    words = web.topics["chess"]
    return tres.new_topic(words, web.seeds("chess", 2), name="chess", pages=30)


class Mentions:
    """Relevant is what says one of the words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def probabilities(self, texts: Sequence[str]) -> list[float]:
        return [float(any(word in text.lower() for word in self.words)) for text in texts]


@pytest.fixture(scope="module")
def judge(web: tres.GeneratedWeb) -> Mentions:
    return Mentions(web.topics["chess"])


class Longest(tres.ValuePolicy):
    """Prefers links that many pages cite; counts what it is told."""

    def __init__(self, crawl: tres.Crawl, rng: np.random.Generator) -> None:
        super().__init__(crawl, rng)
        self.told: list[float] = []

    def values(self, links: np.ndarray) -> np.ndarray:
        return links[:, self.schema.column("citations")]

    def observe(self, link: np.ndarray, reward: float) -> None:
        self.told.append(reward)


# The surface


def test_every_name_of_the_surface_is_there_and_says_what_it_is() -> None:
    for name in set(tres.__all__) - {"__version__"}:
        assert (getattr(tres, name).__doc__ or "").strip(), name


def test_the_surface_is_small_and_known_to_dir_and_star_imports() -> None:
    assert len(tres.__all__) <= 25
    assert tres.__all__ == sorted(tres.__all__)
    assert set(tres.__all__) <= set(dir(tres))
    scope: dict[str, object] = {}
    exec("from tres import *", scope)
    assert set(tres.__all__) <= scope.keys()


def test_what_type_checkers_are_told_is_what_programs_get() -> None:
    told = Path(tres.__file__ or "").read_text().split("if TYPE_CHECKING:")[1].split("\n\n")[0]
    for line in told.strip().splitlines():
        _, module, _, names = line.split(maxsplit=3)
        for name in names.split(", "):
            if module != "tres":
                assert getattr(tres, name) is getattr(import_module(module), name)
            assert name in tres.__all__


def test_a_name_that_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'craw'"):
        tres.craw  # noqa: B018


def test_importing_tres_imports_nothing_heavy() -> None:
    script = f"import sys, tres; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert _output(script) == "[]"


def test_a_topic_needs_no_library_at_all() -> None:
    script = (
        "import sys, tres; tres.new_topic(['bee'], ['http://bees.example/']);"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    assert _output(script) == "[]"


def _output(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    "module",
    [
        "settings.topic_file",
        "api.crawls",
        "api.results",
        "policies.value_policy",
        "relevance.custom_model",
        "offline.pages",
    ],
)
def test_the_examples_in_the_docstrings_are_true(module: str) -> None:
    names = {name: getattr(tres, name) for name in tres.__all__}
    tests = doctest.DocTestFinder().find(import_module(f"tres.{module}"), extraglobs=names)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in tests:
        runner.run(test)
    assert runner.tries > 0
    assert runner.failures == 0


# Topics


def test_a_topic_from_a_program_is_the_topic_of_a_file(tmp_path: Path) -> None:
    made = tres.new_topic(
        ["bee"], ["http://bees.example/"], name="bees", max_per_site="5..2", preset="paper"
    )
    (tmp_path / "bees.toml").write_text(made.to_toml())
    assert tres.load_topic(tmp_path / "bees.toml") == made
    assert made.agent.warmup == 100  # the preset's


def test_a_topic_with_examples_trains_on_them_and_one_without_learns_from_its_crawl() -> None:
    assert tres.new_topic(["bee"]).training.learns
    assert tres.new_topic(description="All about bees.").training.learns
    assert not tres.new_topic(["bee"], labels=["Bees"]).training.learns
    assert tres.new_topic(["bee"], labels=["Bees"], model="svm").training.model == "svm"


def test_a_wrong_setting_is_refused_with_the_right_one() -> None:
    with pytest.raises(tres.errors.ConfigError, match=r"did you mean crawl\.pages"):
        tres.new_topic(["bee"], page=5)
    with pytest.raises(tres.errors.ConfigError, match=r"topic\.keywords must be a list"):
        tres.new_topic("bee")


def test_a_relative_path_means_the_same_file_from_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "yes.jsonl").touch()
    monkeypatch.chdir(tmp_path)
    topic = tres.new_topic(["bee"], positives="yes.jsonl", negatives="yes.jsonl")
    assert topic.training.positives == tmp_path / "yes.jsonl"


# Webs


def test_pages_are_a_web(topic: tres.TopicConfig) -> None:
    page = tres.Page("HTTP://A.example:80/x", "Chess", "a  king", (tres.Link("y#top", "queen"),))
    web = tres.PagesWeb([page, tres.Page("http://a.example/x", "second", "")])
    assert len(web) == len(list(web.pages())) == 1
    found = web.fetch("http://a.example/x")
    assert isinstance(found, tres.Page)
    assert found.text == "a king"
    assert found.links == (tres.Link("http://a.example/y", "queen"),)
    assert isinstance(web.fetch("http://a.example/y"), tres.Failed)


@pytest.mark.parametrize("pages", [[], [tres.Page("no address", "", "")]])
def test_a_web_of_nothing_is_refused(pages: list[tres.Page]) -> None:
    with pytest.raises(tres.errors.ArchiveError):
        tres.PagesWeb(pages)


# Crawls


def test_a_crawl_page_by_page_is_the_crawl_to_its_end(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions, tmp_path: Path
) -> None:
    seen: list[tres.Stepped] = []
    run = tres.run_crawl(topic, web, run=tmp_path / "run", judge=judge, on_page=seen.append)
    assert len(seen) == len(run.pages) == 30
    assert list(tres.crawl_pages(topic, web, judge=judge)) == seen
    assert [page.url for page in run.pages] == [page.url for page in seen]


def test_settings_hold_for_one_crawl_only(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions
) -> None:
    by_breadth = tres.crawl_pages(topic, web, judge=judge, policy="breadth-first", pages=9)
    assert len(list(by_breadth)) == 9
    assert topic.crawl.pages == 30


def test_a_crawl_that_nobody_asks_for_more_is_kept_and_goes_on(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions, tmp_path: Path
) -> None:
    for page in tres.crawl_pages(topic, web, judge=judge, run=tmp_path / "run"):
        if page.step == 10:
            break
    del page
    left = tres.Run(tmp_path / "run")
    assert len(left.pages) == 10
    assert left.summary is not None
    assert left.summary["stopped"] == "interrupted"
    whole = tres.resume_crawl(left, judge=judge)
    undisturbed = tres.crawl_pages(topic, web, judge=judge)
    assert [page.url for page in whole.pages] == [page.url for page in undisturbed]


def test_a_callback_may_end_the_crawl(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions, tmp_path: Path
) -> None:
    def enough(page: tres.Stepped) -> bool:
        return page.step < 7

    run = tres.run_crawl(topic, web, run=tmp_path / "run", judge=judge, on_page=enough)
    assert len(run.pages) == 7


def test_a_crawl_without_an_answer_says_so_page_by_page_as_well(
    web: tres.GeneratedWeb, judge: Mentions
) -> None:
    nowhere = tres.new_topic(["chess"], ["http://nowhere.example/"])
    with pytest.raises(tres.errors.SeedError, match="the seed gave no page"):
        next(tres.crawl_pages(nowhere, web, judge=judge))


def test_what_cannot_begin_is_refused_before_the_first_page(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions
) -> None:
    with pytest.raises(tres.errors.ConfigError):
        tres.crawl_pages(topic, web, judge=judge, pages=0)


def test_the_live_web_refuses_a_judge_of_ones_own(
    topic: tres.TopicConfig, judge: Mentions, tmp_path: Path
) -> None:
    with pytest.raises(tres.errors.ConfigError, match="process of its own"):
        tres.run_crawl(topic, run=tmp_path / "run", judge=judge, contact="me@example.org")
    assert not (tmp_path / "run").exists()


LIVE = """
import sys, tres
from tres.offline.serving import serving_process
from tests.test_library import Longest

web = tres.GeneratedWeb(600, seed=4)
with serving_process(web.name) as proxy:
    topic = tres.new_topic(
        web.topics["chess"], web.seeds("chess", 2), proxy=proxy, delay=0.0, pages=30
    )
    run = tres.run_crawl(topic, run=sys.argv[1], policy=Longest, on_page=lambda p: p.step < 12)
print(len(run.pages), run.policy, run.summary["web"], run.summary["stopped"])
"""


@pytest.mark.slow
def test_the_live_web_is_crawled_by_ones_own_policy_too(tmp_path: Path) -> None:
    """In a process of its own, since that can be done only once in one."""
    command = [sys.executable, "-c", LIVE, str(tmp_path / "run")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1]
    )
    assert done.stdout.strip() == "12 Longest live interrupted", done.stderr


# Policies and judges


def test_a_policy_of_ones_own_chooses_and_is_told_what_came_of_it(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions, tmp_path: Path
) -> None:
    made: list[Longest] = []

    def policy(crawl: tres.Crawl, rng: np.random.Generator) -> Longest:
        made.append(Longest(crawl, rng))
        return made[-1]

    run = tres.run_crawl(topic, web, run=tmp_path / "run", policy=policy, judge=judge)
    seeds = sum(page.parent is None for page in run.pages)
    assert made[0].told[seeds:] == [float(page.relevant) for page in run.pages[seeds:]]
    chosen = [page for page in run.pages if page.q is not None]
    assert len(chosen) == 30 - seeds
    for page in chosen:
        assert page.q == pytest.approx(run.named(page)["citations"])
        assert all(rival.q <= page.q for rival in page.rivals)
    assert isinstance(made[0].tree, Tree)
    assert len(run.tree().leaves) > 1


def test_a_crawl_by_ones_own_policy_goes_on_with_it_and_with_no_other(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions, tmp_path: Path
) -> None:
    plan = {"policy": Longest, "judge": judge}
    whole = tres.run_crawl(topic, web, run=tmp_path / "whole", **plan)  # type: ignore[arg-type]
    half = tres.run_crawl(topic, web, run=tmp_path / "half", pages=15, **plan)  # type: ignore[arg-type]
    assert half.summary is not None
    assert half.summary["policy"] == "Longest"
    with pytest.raises(tres.errors.RunError, match=r"Longest, a policy of another program"):
        tres.resume_crawl(half, pages=30, judge=judge)
    done = tres.resume_crawl(half, pages=30, **plan)  # type: ignore[arg-type]
    assert [page.url for page in done.pages] == [page.url for page in whole.pages]


def test_a_run_of_ours_goes_on_without_a_policy(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions, tmp_path: Path
) -> None:
    run = tres.run_crawl(topic, web, run=tmp_path / "run", judge=judge, pages=5)
    with pytest.raises(tres.errors.RunError, match="'tres'; resume it without a policy"):
        tres.resume_crawl(run, pages=9, policy=Longest, judge=judge)


def test_a_long_crawl_by_ones_own_policy_writes_no_snapshot(
    web: tres.GeneratedWeb, judge: Mentions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tres.store.recorded_session.is_due", lambda steps, last: True)
    topic = tres.new_topic(["chess"], web.seeds("chess", 2), pages=12)
    tres.run_crawl(topic, web, run=tmp_path / "own", policy=Longest, judge=judge)
    tres.run_crawl(topic, web, run=tmp_path / "ours", judge=judge)
    assert not (tmp_path / "own" / "snapshot.bin").exists()
    assert (tmp_path / "ours" / "snapshot.bin").exists()


def test_values_that_are_none_are_refused(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions
) -> None:
    class Lost(tres.ValuePolicy):
        """Has one answer for all links."""

        def values(self, links: np.ndarray) -> np.ndarray:
            return links[0]

    with pytest.raises(ValueError, match=r"Lost\.values must return a number for each"):
        list(tres.crawl_pages(topic, web, judge=judge, policy=Lost))


def test_a_judge_of_ones_own_decides_what_is_relevant(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions
) -> None:
    for page in tres.crawl_pages(topic, web, judge=judge):
        found = web.fetch(page.url)
        assert isinstance(found, tres.Page)
        assert page.relevance == judge.probabilities([found.content])[0]


def test_a_run_that_was_judged_by_a_program_asks_for_its_judge(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, judge: Mentions, tmp_path: Path
) -> None:
    run = tres.run_crawl(topic, web, run=tmp_path / "run", judge=judge, pages=5)
    assert run.summary is not None
    assert run.summary["model"] == "Mentions"
    for attempt in (run.judge, lambda: tres.resume_crawl(run, pages=9)):
        with pytest.raises(tres.errors.ModelError, match=r"by Mentions of a program; .*judge="):
            attempt()


@pytest.mark.parametrize("answer", [[2.0], [float("nan")], [], [0.1, 0.2]])
def test_answers_that_are_no_probabilities_are_refused(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, answer: list[float]
) -> None:
    class Odd:
        """Says something else."""

        def probabilities(self, texts: Sequence[str]) -> list[float]:
            return answer

    with pytest.raises(tres.errors.ModelError, match="one number from 0 to 1"):
        next(iter(tres.crawl_pages(topic.override(seeds=topic.topic.seeds[:1]), web, judge=Odd())))


# Runs


@pytest.fixture(scope="module")
def run(
    topic: tres.TopicConfig, web: tres.GeneratedWeb, tmp_path_factory: pytest.TempPathFactory
) -> tres.Run:
    where = tmp_path_factory.mktemp("runs") / "chess"
    labelled = tres.new_topic(topic.topic.keywords, topic.topic.seeds, labels=["chess"], pages=40)
    return tres.run_crawl(labelled, web, run=where)


def test_a_run_tells_what_its_summary_tells(run: tres.Run) -> None:
    assert run.summary is not None
    assert run.relevant == run.summary["relevant"] > 0
    assert run.harvest_curve()[-1] == run.harvest_rate == run.summary["harvest_rate"]
    assert len(run.harvest_curve()) == len(run.pages) == 40
    assert str(run) == f"Run('{run.path}'): 40 pages, {run.relevant} relevant"


def test_a_run_without_a_summary_is_read_all_the_same(run: tres.Run, tmp_path: Path) -> None:
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("config.toml", "journal.db"):
        (killed / name).write_bytes((run.path / name).read_bytes())
    again = tres.Run(killed)
    assert again.summary is None
    assert again.pages == run.pages
    assert again.tree() == run.tree()


def test_the_pages_of_a_run_can_be_read_again_and_judged(run: tres.Run) -> None:
    pages = [run.web().fetch(row.url) for row in run.pages]
    texts = [page.content for page in pages if isinstance(page, tres.Page)]
    assert run.judge().probabilities(texts).tolist() == pytest.approx(
        [row.relevance for row in run.pages]
    )


def test_chosen_pages_are_exported_as_a_web(run: tres.Run, tmp_path: Path) -> None:
    file = tmp_path / "chess.jsonl"
    assert run.export(file, relevant=True) == run.relevant
    assert {page.url for page in tres.open_web(str(file)).pages()} == {
        page.url for page in run.pages if page.relevant
    }
    with pytest.raises(tres.errors.RunError, match="exists already"):
        run.export(file)
    with pytest.raises(tres.errors.ConfigError, match="valid are jsonl"):
        run.export(tmp_path / "x", to="xlsx")


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tres.TresError, match="not a run directory"):
        tres.Run(tmp_path)


def test_modules_of_the_library_are_where_they_are_looked_for() -> None:
    assert tres.run_crawl is crawls.run_crawl
    assert tres.Run is results.Run
