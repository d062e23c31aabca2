"""A judge in somebody else's package: it crawls the Web, is killed, resumed, explained."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.plugins import EXAMPLES, Shell, install, kill_midway, pages_of

import tres
from tres.dashboard.run_orders import train_model
from tres.dashboard.topic_list import find_topics
from tres.offline.generated.generator import GeneratedWeb
from tres.offline.serving import serving_process
from tres.relevance.model_kinds import load_model

EXAMPLE = EXAMPLES / "mentions-judge"
BY_PATH = "mentions_judge:Mentions"
WEB = "generated:pages=1000,seed=1"
PAGES = 150
MOODY = """
class Moody:
    "Fails over some pages, in a way of its own."
    def probabilities(self, texts):
        if texts and "\\n" in texts[0] and len(texts[0]) % 5 == 0:
            raise LookupError("no \\x1b[31m word for this")
        return [0.9 if "star" in text else 0.1 for text in texts]

class Hopeless:
    "Fails over all pages."
    def probabilities(self, texts):
        return [0.5 / ("\\n" not in text) for text in texts]
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of installed packages with the example in it, and with worse judges."""
    place = install(EXAMPLE, tmp_path_factory.mktemp("packages"))
    (place / "moody.py").write_text(MOODY)
    return place


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    """A generated web on loopback."""
    with serving_process(WEB) as address:
        yield address


@pytest.fixture
def shell(tmp_path: Path, packages: Path) -> Shell:
    return Shell(tmp_path, packages)


@pytest.fixture
def bare(tmp_path: Path) -> Shell:
    """The same without the packages."""
    return Shell(tmp_path, None)


@pytest.fixture
def installed(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages are installed for this process, too."""
    monkeypatch.setenv("PYTHONPATH", str(packages), prepend=os.pathsep)
    monkeypatch.syspath_prepend(packages)


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    """A topic whose judge is named, and which has no examples at all."""
    web = GeneratedWeb(1000, 1)
    keywords, seeds = list(web.topics["astronomy"]), web.seeds("astronomy", 2)
    path = tmp_path / "topic.toml"
    path.write_text(
        f"[topic]\nkeywords = {json.dumps(keywords)}\nseeds = {json.dumps(seeds)}\n"
        f'[training]\nmodel = "mentions"\n[crawl]\npages = {PAGES}\n'
        "[live]\ndelay = 0.0\nthrottle = false\nper_site = 8\n"
    )
    return path


def judged_by(topic: Path, judge: str) -> Path:
    topic.write_text(topic.read_text().replace('model = "mentions"', f'model = "{judge}"'))
    return topic


def test_it_crawls_the_web_is_killed_resumed_and_explained(
    shell: Shell, bare: Shell, topic: Path, proxy: str, tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    kill_midway(shell, killed, "crawl", topic, "--proxy", proxy)
    assert pages_of(killed) < PAGES
    judged_by(topic, BY_PATH)
    for command in (("crawl", topic, "--proxy", proxy, "--run", whole), ("resume", killed)):
        code, said = shell(*command)
        assert (code, "stopped: budget" in said) == (0, True), said
    assert (killed / "pages.csv").read_bytes() == (whole / "pages.csv").read_bytes()
    assert tres.Run(killed).summary["model"] == tres.Run(whole).summary["model"] == BY_PATH
    assert tres.Run(killed).config.training.model == BY_PATH  # not the name in the topic file

    unsure = min(tres.Run(whole).pages, key=lambda page: abs(page.relevance - 0.6)).step
    code, said = shell("explain", killed, unsure)
    assert (code, "The words that made it relevant are" in said) == (0, True), said
    assert shell("report", killed, whole)[0] == 0
    assert shell("report", killed, "--out", tmp_path / "report.html")[0] == 0
    assert f"{BY_PATH} is a judge of your own" in (tmp_path / "report.html").read_text()

    # Where the package is missing, a run can be read; it cannot be resumed.
    assert bare("report", killed)[0] == 0
    code, said = bare("explain", killed, unsure)
    missing = "is in the package mentions_judge, which is not installed; install it with pip"
    assert (code, missing in " ".join(said.split())) == (0, True), said
    code, said = bare("resume", whole, "--pages", PAGES + 10)
    assert code == 2
    assert f"{whole / 'model'}: training.model: {BY_PATH} {missing}" in said


@pytest.mark.usefixtures("installed")
def test_the_relevance_of_a_page_is_what_it_says(
    shell: Shell, topic: Path, proxy: str, tmp_path: Path
) -> None:
    code, said = shell("crawl", topic, "--proxy", proxy, "--run", "run", "--concurrency", 4)
    assert code == 0, said
    run = tres.Run(tmp_path / "run")
    web, judge = run.web(), run.judge()
    kept = [web.fetch(page.url) for page in run.pages]
    texts = [page.content for page in kept if isinstance(page, tres.Page)]
    assert judge.probabilities(texts).tolist() == [page.relevance for page in run.pages]
    assert 0 < run.relevant < len(run.pages)


def test_judgements_are_kept_and_leave_it_as_it_is(
    shell: Shell, topic: Path, tmp_path: Path
) -> None:
    assert shell("crawl", topic, "--web", WEB, "--run", "run", "--pages", 40)[0] == 0
    code, said = shell("label", "run", typed="y\nn\nq\n")
    assert code == 0, said
    assert f"{BY_PATH} is a judge of your own, which tres cannot train; judgements are kept" in said
    assert len((tmp_path / "run" / "judgements.jsonl").read_text().splitlines()) == 2
    assert [path.name for path in (tmp_path / "run").glob("model*")] == ["model"]
    with pytest.raises(tres.errors.TrainingError, match="which tres cannot train"):
        train_model(tmp_path / "run")  # as the dashboard does
    code, said = shell("resume", "run", "--pages", 50)
    assert (code, pages_of(tmp_path / "run")) == (0, 50), said


def test_there_is_nothing_to_train(shell: Shell, topic: Path) -> None:
    code, said = shell("train", topic)
    assert code == 2
    expected = (
        f"tres: {topic}: training.model: mentions is a judge of your own, so there is nothing"
    )
    assert said.startswith(expected)


def test_an_experiment_compares_under_it(shell: Shell, topic: Path, tmp_path: Path) -> None:
    experiment = tmp_path / "experiment.toml"
    text = topic.read_text().partition("[live]")[0].replace(f"pages = {PAGES}", "pages = 30")
    text = text.replace("[crawl]", 'labels = ["astronomy"]\n[crawl]\nruns = 1')
    policies = '["tres", "random", "tres:model=tfidf", "tres:model=mentions_judge:Mentions"]'
    experiment.write_text(f'web = "{WEB}"\n{text}\npolicies = {policies}\n')
    code, said = shell("bench", experiment, "--out", tmp_path / "out")
    assert code == 0, said
    tres_, random, tfidf, again = json.loads((tmp_path / "out/results.json").read_text())["runs"]
    assert tres_["relevant"] == again["relevant"] > random["relevant"]
    assert again["options"] == {"model": BY_PATH}
    assert tfidf["model_harvest_rate"] != tres_["model_harvest_rate"]


def test_a_page_over_which_it_fails_is_unreadable_and_the_note_says_why(
    shell: Shell, topic: Path, proxy: str, tmp_path: Path
) -> None:
    judged_by(topic, "moody:Moody")
    code, said = shell("crawl", topic, "--proxy", proxy, "--run", "run", "--pages", 60)
    assert code == 0, said
    with (tmp_path / "run" / "failures.csv").open() as file:
        notes = {row["note"] for row in csv.DictReader(file) if row["kind"] == "unreadable"}
    escaped = r"the judge moody:Moody failed: LookupError: no \x1b[31m word for this; mend it"
    assert notes == {escaped}
    assert pages_of(tmp_path / "run") == 60

    code, said = shell("crawl", topic, "--web", WEB, "--run", "offline")
    assert code == 2
    assert f"tres: {escaped}\n" in said
    assert "Traceback" not in said


def test_if_it_fails_over_all_pages_the_message_says_so(
    shell: Shell, topic: Path, proxy: str
) -> None:
    judged_by(topic, "moody:Hopeless")
    code, said = shell("crawl", topic, "--proxy", proxy, "--run", "run")
    failed = "the judge moody:Hopeless failed: ZeroDivisionError: float division by zero; mend it"
    assert (code, said.count(f": unreadable: {failed}\n")) == (3, 2), said


def test_code_beside_a_topic_file_is_never_run(bare: Shell, topic: Path, tmp_path: Path) -> None:
    (tmp_path / "trap.py").write_text("open('it-ran', 'w')\nclass Mentions: ...\n")
    metadata = tmp_path / "trap-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: trap\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[tres.judges]\nmentions = trap:Mentions\n")
    for judge, where in (("mentions", "--web"), ("trap:Mentions", "--web"), ("trap:Mentions", "")):
        judged_by(topic, judge)
        options = (where, WEB) if where else ("--contact", "me@example.org")
        code, said = bare("crawl", topic, *options, "--run", "run")
        assert code == 2, said
        assert said.splitlines()[-1].startswith(
            f"tres: training.model: {judge} is in the package trap, which is not installed"
            if judge != "mentions"
            else f"tres: {topic}: training.model must be one of"
        )
    assert not (tmp_path / "it-ran").exists()
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("installed")
def test_the_dashboard_starts_a_named_judge_and_refuses_code_that_a_file_names(
    topic: Path,
) -> None:
    [found] = find_topics(topic.parent)
    assert found.problem == ""
    judged_by(topic, BY_PATH)
    [found] = find_topics(topic.parent)
    assert f"its judge is the code {BY_PATH}" in found.problem
    assert "start the crawl with tres crawl" in found.problem


def test_a_saved_model_cannot_smuggle_it_in(shell: Shell, topic: Path, tmp_path: Path) -> None:
    assert shell("crawl", topic, "--web", WEB, "--run", "run", "--pages", 10)[0] == 0
    topic.write_text(topic.read_text().replace('model = "mentions"', 'load = "run/model"'))
    code, said = shell("crawl", topic, "--web", WEB, "--run", "other")
    assert code == 2
    assert said.splitlines()[-1] == (
        f"tres: {tmp_path / 'run/model'}: is no model but names code; "
        f'write model = "{BY_PATH}" in [training]'
    )


@pytest.mark.usefixtures("installed")
def test_a_program_names_it_by_its_path_and_gets_it_back(tmp_path: Path) -> None:
    web = tres.GeneratedWeb(500, seed=1)
    topic = tres.new_topic(["star"], web.seeds("astronomy", 2), model=BY_PATH, pages=30)
    run = tres.run_crawl(topic, web, run=tmp_path / "run")
    assert run.summary["model"] == BY_PATH
    assert run.judge().probabilities(["a star", "a boat"]).tolist() == [1.0, 0.0]
    digests = {segment.model for segment in run.segments}
    assert digests == {run.judge().digest, load_model(tmp_path / "run/model").digest}
    assert len(tres.resume_crawl(run, pages=40).pages) == 40


def test_the_documentation_shows_the_package_as_it_is() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "write-a-judge.md").read_text(encoding="utf-8")
    for name in ("pyproject.toml", "mentions_judge.py"):
        assert (EXAMPLE / name).read_text(encoding="utf-8") in page
