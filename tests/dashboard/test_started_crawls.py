"""A crawl is started from the browser: of a topic file of the folder, as that file says."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.types import ASGIApp
from tests.support.dashboard import CHANGING, ask, get, post

from tres.dashboard import job_queue as jobs
from tres.dashboard import started_crawls as crawls
from tres.dashboard.app import Dashboard
from tres.dashboard.run_files import hide_path
from tres.dashboard.run_list import Runs
from tres.dashboard.security import AccessRules
from tres.dashboard.topic_list import find_topics

TOPIC = """
name = "bees"
[topic]
keywords = ["bee", "honey"]
seeds = ["http://bees.example/"]
[training]
model = "auto"
[live]
contact = "you@example.org"
"""
PROGRAM = f"""#!{sys.executable}
import sys, time
from pathlib import Path

with open("called", "a") as file:
    file.write("\\n".join(sys.argv[1:]) + "\\n")
if Path("fail").exists():
    sys.stderr.write(Path("fail").read_text())
    sys.exit(2)
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Topic files and others; a program in place of tres says how it was called, and waits."""
    (tmp_path / "bees.toml").write_text(TOPIC)
    (tmp_path / "broken.toml").write_text(TOPIC.replace("keywords", "keyword"))
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.toml").write_text(TOPIC)
    (tmp_path / "link.toml").symlink_to(tmp_path / "elsewhere" / "secret.toml")
    os.mkfifo(tmp_path / "pipe.toml")
    program = tmp_path / "tres"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setattr(crawls, "COMMAND", (str(program),))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def dashboard(folder: Path) -> Iterator[Dashboard]:
    made = Dashboard(Runs(time.monotonic, home=folder / "runs"), AccessRules({"127.0.0.1"}))
    yield made
    for crawl in made.crawls._crawls.values():
        crawl.process.kill()
        crawl.process.wait()
        crawl.output.close()


def called(folder: Path) -> list[str]:
    """How the program was called, as soon as it was."""
    file = folder / "called"
    while not file.exists() or not file.read_text().endswith("bees\n"):
        time.sleep(0.01)
    return file.read_text().splitlines()


def test_topic_files_of_the_folder_are_listed_and_nothing_else(dashboard: Dashboard) -> None:
    bees, broken = get(dashboard.app(), "/api/topics").json["topics"]
    assert (bees["key"], bees["name"], bees["about"]) == ("bees.toml", "bees", "bee, honey")
    assert bees["problem"] == ""
    assert broken["key"] == "broken.toml"
    assert "keyword" in broken["problem"]


def test_a_crawl_does_what_its_file_says_and_lives_on(dashboard: Dashboard, folder: Path) -> None:
    app = dashboard.app()
    wanted = {"topic": "bees.toml", "pages": 10**9, "run": "/tmp/evil", "proxy": "http://evil/"}
    answer = post(app, "/api/crawls", wanted)
    assert answer.status == 200
    assert "starts as bees" in answer.json["said"]
    (crawl,) = dashboard.crawls._crawls.values()
    run = folder / "runs" / "bees"
    assert called(folder) == ["crawl", str(folder / "bees.toml"), "--run", str(run)]
    assert os.getsid(crawl.process.pid) == crawl.process.pid  # no signal of ours reaches it
    assert get(app, "/api/runs").json["begun"] == [{"name": "bees", "problem": ""}]
    post(app, "/api/crawls", {"topic": "bees.toml"})  # a second one has a place of its own
    assert folder / "runs" / "bees-2" in dashboard.crawls._crawls


def test_a_topic_without_keywords_is_listed_by_what_describes_it(folder: Path) -> None:
    described = TOPIC.replace('keywords = ["bee", "honey"]', 'description = "All about bees."')
    (folder / "bees.toml").write_text(described)
    assert find_topics(folder)[0].about == "All about bees."


@pytest.mark.parametrize(
    "topic",
    [
        *("link.toml", "pipe.toml", "pyproject.toml", "elsewhere/secret.toml", "../bees.toml"),
        *("nothing.toml", "", "/etc/passwd", None, ["bees.toml"], "--help"),
    ],
)
def test_nothing_else_can_be_crawls(dashboard: Dashboard, folder: Path, topic: object) -> None:
    assert post(dashboard.app(), "/api/crawls", {"topic": topic}).status == 404
    assert dashboard.crawls._crawls == {}


def test_a_file_that_is_wrong_is_refused(dashboard: Dashboard) -> None:
    refused = post(dashboard.app(), "/api/crawls", {"topic": "broken.toml"})
    assert refused.status == 409
    assert "keyword" in refused.json["error"]


def test_other_sites_begin_nothing(dashboard: Dashboard) -> None:
    app = dashboard.app()
    forged = {name: value for name, value in CHANGING.items() if name != "x-tres"}
    assert ask(app, "POST", "/api/crawls", forged, b'{"topic": "bees.toml"}').status == 403
    other = {"topic": "bees.toml"}
    assert post(app, "/api/crawls", other, origin="http://evil.example").status == 403
    assert get(app, "/api/crawls").status == 405
    assert dashboard.crawls._crawls == {}


def test_a_crawl_that_fails_says_why(dashboard: Dashboard, folder: Path) -> None:
    app = dashboard.app()
    (folder / "fail").write_text("warning: x\ntres: no seed gave a page\x1b[2J\n")
    post(app, "/api/crawls", {"topic": "bees.toml"})
    (crawl,) = dashboard.crawls._crawls.values()
    assert crawl.process.wait() == 2
    (line,) = get(app, "/api/runs").json["begun"]
    assert line["problem"] == "no seed gave a page\\x1b[2J"


def test_only_so_many_are_crawls(dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawls, "MOST", 0)
    assert post(dashboard.app(), "/api/crawls", {"topic": "bees.toml"}).status == 409


def test_a_dashboard_of_a_few_runs_begins_none(folder: Path) -> None:
    app: ASGIApp = Dashboard(Runs(time.monotonic), AccessRules({"127.0.0.1"})).app()
    assert get(app, "/api/runs").json["can_begin"] is False
    assert get(app, "/api/topics").status == 409
    assert post(app, "/api/crawls", {"topic": "bees.toml"}).status == 409


def test_crawls_started_at_once_get_a_directory_each(dashboard: Dashboard, folder: Path) -> None:
    bees = find_topics(folder)[0]
    with ThreadPoolExecutor(crawls.MOST) as people:
        asked = [
            people.submit(dashboard.crawls.start, bees, folder / "runs") for _ in range(crawls.MOST)
        ]
    assert len({each.result() for each in asked}) == len(dashboard.crawls._crawls) == crawls.MOST


def test_those_that_have_ended_are_forgotten_in_time(
    dashboard: Dashboard, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawls, "REMEMBERED", 1)
    (folder / "fail").write_text("tres: no seed gave a page\n")
    for _ in range(3):
        post(dashboard.app(), "/api/crawls", {"topic": "bees.toml"})
        list(dashboard.crawls._crawls.values())[-1].process.wait()
    assert len(dashboard.crawls._crawls) == 2  # the last one ran when it was started


@pytest.mark.parametrize("command", [crawls.COMMAND, jobs.COMMAND])
def test_files_of_the_folder_are_not_imported(tmp_path: Path, command: tuple[str, ...]) -> None:
    for name in ("json.py", "click.py"):
        (tmp_path / name).write_text("raise SystemExit('taken over')")
    arguments = ["--version"] if command[-1] == "tres" else ["answer"]
    ran = subprocess.run(
        [*command, *arguments],
        check=False,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_a_message_about_a_folder_below_the_root_stays_legible() -> None:
    message = "/data/bees.toml: topic.seeds: http://bees.example/ is no seed"
    shown = "data/bees.toml: topic.seeds: http://bees.example/ is no seed"
    assert hide_path(message, Path("/data")) == shown
    assert hide_path(message, Path("/")) == message
