"""A policy in somebody else's package: installed, crawled with, killed, resumed, explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.plugins import EXAMPLES, Shell, install, kill_midway, pages_of

import tres
from tres.crawl.session_state import capture, restore
from tres.dashboard.topic_list import find_topics
from tres.offline.generated.generator import GeneratedWeb
from tres.runs.resume_run import session_of

EXAMPLE = EXAMPLES / "odds-policy"
WEB = "generated:pages=1000,seed=1"
PAGES = 150
MEANING = "the log-odds that it leads to a relevant page"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of installed packages with the example in it."""
    return install(EXAMPLE, tmp_path_factory.mktemp("packages"))


@pytest.fixture
def shell(tmp_path: Path, packages: Path) -> Shell:
    return Shell(tmp_path, packages)


@pytest.fixture
def bare(tmp_path: Path) -> Shell:
    """The same without the package."""
    return Shell(tmp_path, None)


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    path = tmp_path / "topic.toml"
    seeds = GeneratedWeb(1000, 1).seeds("astronomy", 2)
    path.write_text(
        f'[topic]\nkeywords = ["star", "telescope"]\nseeds = {seeds!r}\n'
        f'[training]\nlabels = ["astronomy"]\n[crawl]\npages = {PAGES}\npolicy = "odds"\n'
    )
    return path


def test_a_crawl_is_killed_resumed_and_explained(
    shell: Shell, bare: Shell, topic: Path, tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    by_path = "odds_policy:Odds"
    kill_midway(shell, killed, "crawl", topic, "--web", WEB)
    assert pages_of(killed) < PAGES
    for command in (
        ("crawl", topic, "--web", WEB, "--policy", by_path, "--run", whole),
        ("resume", killed),
    ):
        code, said = shell(*command)
        assert (code, "stopped: budget" in said) == (0, True), said
    assert (killed / "pages.csv").read_bytes() == (whole / "pages.csv").read_bytes()

    code, said = shell("explain", killed, "100")
    assert code == 0, said
    assert MEANING in " ".join(said.split())
    for command in (("report", killed, whole), ("tree", killed)):
        assert shell(*command)[0] == 0
    assert tres.Run(killed).summary["policy"] == tres.Run(whole).summary["policy"] == by_path

    # Where the package is missing, a run can be read; it cannot be resumed.
    assert bare("report", killed)[0] == 0
    said = " ".join(bare("explain", killed, "100")[1].split())
    assert "because its score was the highest" in said
    assert MEANING not in said
    code, said = bare("resume", whole, "--pages", PAGES + 10)
    assert code == 2
    assert "is in the package odds_policy, which is not installed; install it with pip" in said


def test_help_lists_what_is_installed(shell: Shell, bare: Shell) -> None:
    assert "Installed here: odds." in " ".join(shell("crawl", "--help")[1].split())
    assert "Installed here" not in bare("crawl", "--help")[1]


def test_an_experiment_compares_it_with_others(shell: Shell, topic: Path, tmp_path: Path) -> None:
    text = topic.read_text().replace('policy = "odds"', "runs = 1")
    text = text.replace(f"pages = {PAGES}", "pages = 30")
    policies = '["odds_policy:Odds", "odds:seed=3", "odds_policy:Odds:seed=3", "random"]'
    experiment = tmp_path / "experiment.toml"
    experiment.write_text(f'web = "{WEB}"\n{text}\npolicies = {policies}\n')
    code, said = shell("bench", experiment, "--out", tmp_path / "out")
    assert code == 0, said
    runs = json.loads((tmp_path / "out" / "results.json").read_text())["runs"]
    assert [run["policy"] for run in runs] == [
        "odds_policy:Odds",
        "odds",
        "odds_policy:Odds",
        "random",
    ]
    assert [run["options"] for run in runs] == [{}, {"seed": 3}, {"seed": 3}, {}]
    assert runs[1]["relevant"] == runs[2]["relevant"]


def test_code_beside_a_topic_file_is_never_run(bare: Shell, topic: Path, tmp_path: Path) -> None:
    (tmp_path / "trap.py").write_text("open('it-ran', 'w')\nclass Odds: ...\n")
    metadata = tmp_path / "trap-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: trap\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[tres.policies]\nodds = trap:Odds\n")
    for policy in ("trap:Odds", "odds"):
        topic.write_text(topic.read_text().replace('policy = "odds"', f'policy = "{policy}"'))
        code, said = bare("crawl", topic, "--web", WEB)
        assert code == 2, said
        assert said.startswith("tres: ")
        topic.write_text(topic.read_text().replace(f'policy = "{policy}"', 'policy = "odds"'))
    assert not (tmp_path / "it-ran").exists()


def test_the_dashboard_refuses_to_start_code_that_a_file_names(topic: Path) -> None:
    topic.write_text(topic.read_text().replace('policy = "odds"', 'policy = "odds_policy:Odds"'))
    [found] = find_topics(topic.parent)
    assert "its policy is the code odds_policy:Odds" in found.problem
    assert "start the crawl with tres crawl" in found.problem


def test_a_program_names_it_by_its_path_and_a_snapshot_holds_it(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(packages))
    monkeypatch.syspath_prepend(packages)
    web = tres.GeneratedWeb(500, seed=1)
    topic = tres.new_topic(["star"], web.seeds("astronomy", 2), labels=["astronomy"], pages=60)
    run = tres.run_crawl(topic, web, run=tmp_path / "run", policy="odds_policy:Odds")
    assert run.summary["policy"] == "odds_policy:Odds"
    assert len(run.pages) == 60

    session = session_of(run.path)
    again = session_of(run.path)
    state = capture(session)
    again.policy.bias = 7.0  # type: ignore[attr-defined]
    restore(again, state)
    assert again.policy.bias == session.policy.bias  # type: ignore[attr-defined]
    assert capture(again).keys() == state.keys()


def test_the_documentation_shows_the_package_as_it_is() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "write-a-policy.md").read_text(encoding="utf-8")
    assert (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8") in page
