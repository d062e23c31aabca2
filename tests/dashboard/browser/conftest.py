"""The dashboard as its users meet it: a process of its own, and the system's Chromium.

Every page that a test opens is watched: a request that leaves loopback, an error or a violation
of the content security policy fails the test.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.browser import opened_browser

PATIENCE = 60_000
"""Milliseconds that a busy machine may need for anything."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Closed after every module: as long as it is there, so is its event loop."""
    with opened_browser() as opened:
        yield opened


@contextmanager
def watched(browser: Any, **options: Any) -> Iterator[Any]:
    """A page that must neither complain nor ask anybody else."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("console", lambda message: message.type == "error" and problems.append(message.text))
    page.on("dialog", lambda shown: (problems.append(f"dialog: {shown.message}"), shown.dismiss()))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert problems == []
    assert {urlsplit(url).hostname for url in asked if not url.startswith("data:")} == {"127.0.0.1"}


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    with watched(browser, viewport={"width": 1280, "height": 900}) as opened:
        yield opened


@contextmanager
def dashboard(folder: Path, *options: str) -> Iterator[str]:
    """`tres dashboard` over the runs of a folder; its address."""
    command = [sys.executable, "-m", "tres", "dashboard", "--port", "0", *options]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().removeprefix("dashboard: ").strip()
        finally:
            process.terminate()
            assert "stopped" in process.stdout.read()
            assert process.wait(60) == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the dashboard was started; it finds what appears in `runs`."""
    return tmp_path_factory.mktemp("dashboard")


@pytest.fixture(scope="module")
def address(folder: Path, browser: Any) -> Iterator[str]:
    """Where the dashboard is; it is not started for tests that are skipped without a browser."""
    with dashboard(folder) as opened:
        yield opened
