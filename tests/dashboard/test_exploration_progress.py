"""A crawl that still learns its topic is shown with its progress."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.types import ASGIApp
from tests.dashboard.conftest import Clock
from tests.support.dashboard import get, open_run, post, step

from tres.dashboard.app import Dashboard
from tres.dashboard.run_list import Runs
from tres.dashboard.security import AccessRules
from tres.settings.sections import TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.store.exploration_log import EXPLORATION, ExplorationLog
from tres.store.run_directory import lock_run, write_config
from tres.web.page import Failed, FailureKind, Page

URL = "http://a.example/{}"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    config = TopicConfig(
        name="bees",
        topic=TopicSection(keywords=("bee",), seeds=(URL.format(0),)),
        training=TrainingSection(model="auto", explore=300),
    )
    directory = tmp_path / "runs" / "bees"
    directory.mkdir(parents=True)
    write_config(directory, config.to_toml())
    return directory


def test_it_is_shown_with_its_progress(run: Path, app: ASGIApp) -> None:
    with ExplorationLog(run, "settings") as log, lock_run(run):
        for number in range(3):
            log.add(URL.format(number), Page(URL.format(number), "title", "text \n { [", ()))
        log.add(URL.format(8), Failed(URL.format(8), FailureKind.NOT_FOUND))
        (line,) = get(app, "/api/runs").json["runs"]
        assert line["exploring"] == {"pages": 3, "of": 300}
        assert (line["name"], line["topic"], line["state"]) == ("bees", "bees", "crawling")
        assert line["changed"] > 0
        log.add(URL.format(9), Page(URL.format(9), "", "more", ()))
        shown = get(app, "/api/runs/bees").json
        assert shown["exploring"]["pages"] == 4
        assert shown["problem"] == ""
        refused = post(app, "/api/runs/bees/orders", {"order": "pause"})
        assert refused.status == 409
        assert "still learning its topic" in refused.json["error"]
    (line,) = get(app, "/api/runs").json["runs"]
    assert line["state"] == "stopped"


def test_half_a_line_is_not_counted(run: Path, app: ASGIApp) -> None:
    with ExplorationLog(run, "settings") as log:
        log.add(URL.format(1), Page(URL.format(1), "", "text", ()))
    whole = (run / EXPLORATION).read_bytes()
    (run / EXPLORATION).write_bytes(whole + whole.splitlines()[1][:20])
    assert get(app, "/api/runs/bees").json["exploring"]["pages"] == 1


def test_the_crawl_takes_its_place(run: Path, clock: Clock) -> None:
    app = Dashboard(Runs(clock, home=run.parent), AccessRules({"127.0.0.1"})).app()
    ExplorationLog(run, "settings").__exit__()
    assert "exploring" in get(app, "/api/runs/bees").json
    (run / EXPLORATION).unlink()
    (run / "config.toml").unlink()
    with open_run(run) as crawl:
        step(crawl)
        shown = get(app, "/api/runs/bees").json
    assert shown["pages"] == 1
    assert "exploring" not in shown


def test_a_run_that_is_started_again_is_shown_as_it_is_now(run: Path, clock: Clock) -> None:
    app = Dashboard(Runs(clock, home=run.parent), AccessRules({"127.0.0.1"})).app()
    config = (run / "config.toml").read_bytes()
    (run / "config.toml").unlink()
    with open_run(run) as crawl:
        step(crawl)
        assert get(app, "/api/runs/bees").json["pages"] == 1
    for file in run.glob("journal.*"):
        file.unlink()
    (run / "config.toml").write_bytes(config)
    _explore(run, 3)
    shown = get(app, "/api/runs/bees").json
    assert (shown["pages"], shown["last_pages"], shown["exploring"]["pages"]) == (0, [], 3)
    (run / EXPLORATION).unlink()
    _explore(run, 1)
    assert get(app, "/api/runs/bees").json["exploring"]["pages"] == 1


def _explore(run: Path, pages: int) -> None:
    with ExplorationLog(run, "settings") as log:
        for number in range(pages):
            log.add(URL.format(number), Page(URL.format(number), "", "text", ()))
