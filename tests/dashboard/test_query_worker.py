"""What the API says about runs: the list, the metrics, the reasons."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.types import ASGIApp
from tests.dashboard.conftest import Clock
from tests.support.dashboard import get, open_run, step

import tres
from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.query_process import RETRY_AFTER, WAITING, QueryProcess
from tres.dashboard.query_worker import QueryHandler, harmless_piece
from tres.dashboard.security import RefusedError
from tres.offline.generated.generator import GeneratedWeb
from tres.report.palette import PALETTE
from tres.report.run_reader import RunReader
from tres.runs.open_run import OpenRun


def test_the_list_has_a_line_per_run(app: ASGIApp, run: OpenRun) -> None:
    for _ in range(10):
        step(run)
    (line,) = get(app, "/api/runs").json["runs"]
    assert line["key"] == line["name"] == "letters"
    assert line["state"] == "crawling"
    assert line["pages"] == run.session.steps == len(line["spark"])


def test_metrics_grow_with_the_run(app: ASGIApp, run: OpenRun) -> None:
    for _ in range(2):
        step(run)
        answer = get(app, "/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        lines = answer.body.decode().splitlines()
        assert f'tres_pages_total{{run="letters"}} {float(run.session.steps)}' in lines
        assert 'tres_run_state{run="letters",state="crawling"} 1.0' in lines


def test_a_page_can_be_explained(app: ASGIApp, run: OpenRun) -> None:
    fetched = [step(run) for _ in range(3)]
    answer = get(app, "/api/runs/letters/explain?step=2").json
    assert answer["url"] == fetched[1]
    assert answer["summary"].startswith("tres fetched it as page 2 of 3 so far")
    assert [page["url"] for page in answer["path"]] == fetched[:2]
    assert {len(feature) for feature in answer["features"]} == {3}
    assert "The page has 4 links" in answer["outcome"]
    nothing = get(app, "/api/runs/letters/explain?step=99")
    assert nothing.status == 404
    assert "has fetched 3 pages" in nothing.json["error"]


@pytest.mark.parametrize("query", ["", "?step=", "?step=abc", "?step=0", "?step=-1", "?step=1,2"])
def test_what_is_not_a_page_is_not_explained(app: ASGIApp, run: OpenRun, query: str) -> None:
    step(run)
    answer = get(app, f"/api/runs/letters/explain{query}")
    assert answer.status == 400
    assert "number of a page" in answer.json["error"]


def test_the_tree_of_a_running_crawl_is_grown_only_for_who_waits(tmp_path: Path) -> None:
    with open_run(tmp_path / "run") as run:
        for _ in range(60):
            step(run)
        chosen = next(p.step for p in RunReader(run.directory).pages if (p.leaf or 0) > 0)
        desk = QueryHandler()
        asked = {"ask": "explain", "run": str(run.directory), "edition": 1, "step": chosen}
        quick = desk.answer(asked | {"wait": False})
        assert (quick["pending"], quick["leaf"]) == (True, None)
        whole = desk.answer(asked | {"wait": True})
        assert whole["leaf"]["conditions"]
        assert desk.answer(asked | {"wait": False}) == whole  # it is kept


def test_too_many_questions_are_refused_at_once(run: OpenRun, clock: Clock) -> None:
    answers = QueryProcess(_waiting=WAITING)
    with pytest.raises(RefusedError, match="too many questions") as refused:
        answers.ask("explain", FollowedRun("letters", run.directory, clock), step=1, wait=False)
    assert (refused.value.status, refused.value.wait) == (503, RETRY_AFTER)


def test_a_process_that_has_gone_is_started_anew(run: OpenRun, clock: Clock) -> None:
    step(run)
    answers, followed = QueryProcess(), FollowedRun("letters", run.directory, clock)
    before = answers.ask("explain", followed, step=1, wait=False)
    assert answers._process is not None
    answers._process.kill()
    answers._process.wait()
    assert answers.ask("explain", followed, step=1, wait=False) == before
    answers.close()


def test_pages_are_shown_by_their_text(tmp_path: Path) -> None:
    """The generated web is opened again, and a page read from it."""
    web = GeneratedWeb(300, seed=1)
    topic = tres.new_topic(web.topics["sailing"], web.seeds("sailing"), labels=["sailing"])
    run = tmp_path / "run"
    for _ in tres.crawl_pages(topic, "generated:pages=300,seed=1", run=run, pages=10):
        pass
    answer = QueryHandler().answer({"ask": "texts", "run": str(run), "edition": 1, "steps": [1, 9]})
    pieces = answer["texts"][1]["pieces"]
    assert len(pieces) > 1
    assert all(pieces[1::2])
    assert 200 < len("".join(pieces)) < 500
    long = harmless_piece(f" {'word ' * 200}")
    assert (long[:2], long[-2:], len(long)) == (" w", "d ", 1001)


def test_what_waits_is_worked_out_elsewhere(app: ASGIApp, run: OpenRun) -> None:
    for _ in range(10):
        step(run)
    get(app, "/api/runs/letters")
    answer = get(app, "/api/runs/letters/frontier").json
    assert answer["busy"]
    assert sum(site["fetched"] for site in answer["gave"]) == run.session.steps


def test_the_colours_are_those_of_the_report(app: ASGIApp) -> None:
    palette = get(app, "/static/palette.css")
    assert palette.headers["content-type"].startswith("text/css")
    for name, colour in PALETTE.items():
        assert f"--{name}:light-dark({colour.light},{colour.dark})" in palette.body.decode()
    own = get(app, "/static/style.css").body.decode()
    assert set(re.findall("#[0-9a-f]{3,8}\\b", own)) <= {"#0008"}  # the shade behind a dialog
    assert set(re.findall(r"var\(--(\w+)\)", own)) <= {*PALETTE, "shade", "share"}


def test_charts_come_from_an_installed_package(app: ASGIApp) -> None:
    answer = get(app, "/static/chart.js")
    assert answer.status == 200
    assert "javascript" in answer.headers["content-type"]
    assert b"Chart.js v4" in answer.body
