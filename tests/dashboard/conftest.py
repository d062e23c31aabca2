"""A run that is being crawled, and the dashboard that shows it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import ASGIApp
from tests.support.dashboard import open_run

from tres.dashboard.app import Dashboard
from tres.dashboard.run_list import Runs
from tres.dashboard.security import AccessRules
from tres.runs.open_run import OpenRun


class Clock:
    """Time that passes when the test says so, and a little whenever somebody looks."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[OpenRun]:
    with open_run(tmp_path / "runs" / "letters") as opened:
        yield opened


@pytest.fixture
def app(tmp_path: Path) -> ASGIApp:
    return Dashboard(Runs(time.monotonic, home=tmp_path / "runs"), AccessRules({"127.0.0.1"})).app()
