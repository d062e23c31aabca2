"""Fixtures made once for all tests: the files that pages start from, and the built site."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.given import Given
from tests.docs.pages import DOCS, ROOT
from tests.support.missing import need_package


@pytest.fixture(scope="session")
def given(tmp_path_factory: pytest.TempPathFactory) -> Given:
    return Given(tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site in a temporary directory."""
    need_package("zensical")
    place = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "zensical.toml", place)
    shutil.copytree(DOCS, place / "docs")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return place / "site"
