"""What all tests share: a cache of their own, profiles for Hypothesis, a word on what was skipped.

Those are quick and repeatable by default; `HYPOTHESIS_PROFILE=thorough` digs deeper.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.support.missing import summary

settings.register_profile(
    "quick",
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", max_examples=1000, stateful_step_count=80, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache: no test reads or writes that of the user."""
    monkeypatch.setenv("TRES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "vectors"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end what was skipped for want of what; `-rs` says where."""
    skipped = terminalreporter.getreports("skipped")
    if skipped:
        terminalreporter.section("skipped for want of")
        for line in summary(report.longrepr[2] for report in skipped):
            terminalreporter.line(line)
