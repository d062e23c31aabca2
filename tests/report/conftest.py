"""One finished run for all tests that only look at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.runs import finished

from tres.report.report_page import report_page
from tres.report.run_reader import RunReader


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished(tmp_path_factory.mktemp("runs") / "done")


@pytest.fixture(scope="session")
def reader(done: Path) -> RunReader:
    return RunReader(done)


@pytest.fixture(scope="session")
def page(reader: RunReader) -> str:
    return report_page(reader)
