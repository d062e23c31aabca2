"""What the API tells of runs: the list, the metrics, the reasons."""

from __future__ import annotations

from starlette.types import ASGIApp
from tests.support.dashboard import get, step

from tres.experiment.run import OpenRun


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
        assert f'tres_pages_total{{run="letters"}} {run.session.steps}' in lines
        assert 'tres_run_state{run="letters",state="crawling"} 1.0' in lines


def test_a_page_can_be_explained(app: ASGIApp, run: OpenRun) -> None:
    fetched = [step(run) for _ in range(3)]
    told = get(app, "/api/runs/letters/explain?step=2").json
    assert fetched[1].removeprefix("http://") in told["prose"]
    nothing = get(app, "/api/runs/letters/explain?step=99").json
    assert "has fetched 3 pages" in nothing["error"]


def test_what_waits_is_worked_out_elsewhere(app: ASGIApp, run: OpenRun) -> None:
    for _ in range(10):
        step(run)
    get(app, "/api/runs/letters")
    told = get(app, "/api/runs/letters/frontier").json
    assert told["busy"]
    assert sum(site["fetched"] for site in told["gave"]) == run.session.steps


def test_charts_come_from_an_installed_package(app: ASGIApp) -> None:
    answer = get(app, "/static/chart.js")
    assert answer.status == 200
    assert "javascript" in answer.headers["content-type"]
    assert b"Chart.js v4" in answer.body
