"""Orders reach the crawl, judgements its file; what waits is what the crawl itself has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from starlette.types import ASGIApp
from tests.support.dashboard import get, open_run, post, step

from tres.dashboard.frontier_view import view_frontier
from tres.policies.policy import FrontierPolicy
from tres.runs.open_run import OpenRun
from tres.store.judgements import read_judgements
from tres.store.orders import Block, Budget, Continue, Order, Pause, Stop, take


@pytest.mark.parametrize(
    ("wanted", "order"),
    [
        ({"order": "pause"}, Pause()),
        ({"order": "continue"}, Continue()),
        ({"order": "stop"}, Stop()),
        ({"order": "budget", "pages": 77}, Budget(77)),
        ({"order": "block", "site": "a.example"}, Block("a.example")),
    ],
)
def test_an_order_lies_in_the_inbox(app: ASGIApp, run: OpenRun, wanted: dict, order: Order) -> None:
    step(run)
    assert post(app, "/api/runs/letters/orders", wanted).status == 200
    assert [letter.order for letter in take(run.directory)] == [order]


@pytest.mark.parametrize(
    "wanted",
    [
        {"order": "dance"},
        {"order": "budget"},
        {"order": "budget", "pages": "7"},
        {"order": "budget", "pages": -1},
        {"order": "block", "site": ""},
        {"order": "block", "site": "x" * 400},
        {"order": "block", "site": 5},
        {"order": "block", "site": "\ud800"},
        {"order": "adopt", "model": "0" * 64},
        {"order": []},
        {"order": "pause", "site": "a.example"},
        {"order": "budget", "pages": 7, "more": 1},
        {},
    ],
)
def test_what_is_not_an_order_is_refused(app: ASGIApp, run: OpenRun, wanted: dict) -> None:
    step(run)
    assert post(app, "/api/runs/letters/orders", wanted).status == 409
    assert list(take(run.directory)) == []


def test_a_run_that_is_not_being_crawled_takes_no_orders(app: ASGIApp, tmp_path: Path) -> None:
    with open_run(tmp_path / "runs" / "letters") as run:
        step(run)
    answer = post(app, "/api/runs/letters/orders", {"order": "pause"})
    assert answer.status == 409
    assert "not being crawled" in answer.json["error"]


def test_a_judgement_is_about_the_page_of_the_journal(app: ASGIApp, run: OpenRun) -> None:
    fetched = [step(run) for _ in range(3)]
    get(app, "/api/runs/letters")
    judgement = {"step": 2, "relevant": False, "url": "http://evil.example/"}
    assert post(app, "/api/runs/letters/judgements", judgement).status == 200
    assert read_judgements(run.directory) == {fetched[1]: False}
    judgements = get(app, "/api/runs/letters").json["judgements"]
    assert judgements["total"] == 1


@pytest.mark.parametrize(
    "wanted", [{"step": 99, "relevant": True}, {"step": "1", "relevant": True}, {"step": 1}, {}]
)
def test_what_is_not_a_judgement_is_refused(app: ASGIApp, run: OpenRun, wanted: dict) -> None:
    step(run)
    get(app, "/api/runs/letters")
    assert post(app, "/api/runs/letters/judgements", wanted).status == 409
    assert read_judgements(run.directory) == {}


def test_a_run_that_is_crawled_is_not_taken_up_again(app: ASGIApp, run: OpenRun) -> None:
    step(run)
    assert post(app, "/api/runs/letters/resume", {}).status == 409
    assert post(app, "/api/runs/letters/resume", {"pages": "; rm"}).status == 409


def test_what_waits_is_what_the_crawl_itself_has(run: OpenRun) -> None:
    for _ in range(60):
        step(run)
    frontier, policy = view_frontier(run.directory), run.session.policy
    assert isinstance(policy, FrontierPolicy)
    assert frontier["step"] == run.session.steps
    assert frontier["waiting"] == len(policy) > 0
    assert sum(leaf["waiting"] for leaf in frontier["leaves"]) == len(policy)
    sites = np.unique(policy.rows.site(policy.rows.waiting), return_counts=True)
    expected = {run.session.site_name(int(site)): int(n) for site, n in zip(*sites, strict=True)}
    assert {line["site"]: line["waiting"] for line in frontier["sites"]} == expected
