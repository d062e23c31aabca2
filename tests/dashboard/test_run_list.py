"""Runs are found as they appear; a request can only look one up."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.dashboard import get, open_run, step

from tres.dashboard.run_list import Runs, named_runs
from tres.errors import RunError


def keys(runs: Runs) -> set[str]:
    return {run.key for run in runs.all()}


def test_new_runs_appear_and_old_ones_go(tmp_path: Path, clock) -> None:
    runs = Runs(clock, home=tmp_path / "runs")
    assert keys(runs) == set()
    for name in ("one", "deep/er/two"):
        with open_run(tmp_path / "runs" / name):
            pass
    clock.now += 10
    assert keys(runs) == {"one", "two"}
    assert {run.name for run in runs.all()} == {"one", "deep/er/two"}
    (tmp_path / "runs" / "one" / "journal.db").unlink()
    clock.now += 10
    assert keys(runs) == {"two"}


def test_two_runs_of_one_name_have_two_keys(tmp_path: Path, clock) -> None:
    for name in ("a/run", "b/run", "c/r ü/"):
        with open_run(tmp_path / name):
            pass
    assert keys(Runs(clock, home=tmp_path)) == {"run", "run~2", "r--"}


def test_links_to_elsewhere_are_not_followed(tmp_path: Path, clock) -> None:
    with open_run(tmp_path / "elsewhere" / "run"):
        pass
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "elsewhere")
    assert keys(Runs(clock, home=tmp_path / "runs")) == set()


def test_a_named_directory_that_is_not_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no run"):
        named_runs([tmp_path])


@pytest.mark.parametrize(
    "key", ["..", "%2e%2e", "../letters", "..%2fletters", "/etc/passwd", "letters%00", "no"]
)
def test_no_text_of_a_request_becomes_a_path(app, run, key: str) -> None:
    step(run)
    assert get(app, "/api/runs/letters").status == 200
    assert get(app, f"/api/runs/{key}").status == 404
    assert get(app, f"/static/{key}").status == 404


def test_a_run_that_is_gone_says_where_to_go(app) -> None:
    answer = get(app, "/api/runs/gone")
    assert answer.json["error"] == "there is no such run; go back to the list of runs"
