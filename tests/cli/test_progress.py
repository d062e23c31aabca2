"""What is seen of a crawl while it runs: one line on a terminal, lines now and then elsewhere."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.support.crawls import session_of

from tres.cli import progress as progress_module
from tres.cli.progress import LINE, CrawlProgress
from tres.crawl.events import FetchFailed
from tres.crawl.session import CrawlSession
from tres.web.page import FailureKind

from .conftest import Tres

EVENT = FetchFailed("http://a.example/", FailureKind.TIMEOUT, False)


@pytest.fixture
def session() -> CrawlSession:
    return session_of(["http://a.example/"], pages=10)


def a_file() -> Console:
    return Console(file=io.StringIO(), width=40)


def a_terminal(width: int = 120) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_file_gets_a_line_now_and_then(session: CrawlSession) -> None:
    console, now = a_file(), [0.0]
    with CrawlProgress(console, "tres", 10, every=1, clock=lambda: now[0]) as progress:
        for second in range(100):
            now[0] = second
            progress(session, EVENT)
    lines = shown(console).splitlines()
    assert len(lines) == 99 // LINE
    assert set(lines) == {"tres: 0/10 pages, 0% relevant, no sites, 0 waiting, 1 leaf"}


def test_a_crawl_that_takes_no_time_leaves_no_lines_in_a_file(session: CrawlSession) -> None:
    console = a_file()
    with CrawlProgress(console, "tres", 10, every=1, clock=lambda: 0.0) as progress:
        for _ in range(100):
            progress(session, EVENT)
    assert shown(console) == ""


def test_a_run_that_is_taken_up_says_that_its_journal_is_read(session: CrawlSession) -> None:
    file, terminal = a_file(), a_terminal()
    for console in (file, terminal):
        with CrawlProgress(console, "tres", 2_500) as progress:
            progress.replaying(1_900)
    assert shown(file) == "tres: 1,900/2,500 pages, reading the journal of 1,900 pages\n"
    assert "1,900/2,500 pages reading the journal of 1,900 pages" in shown(terminal)


def test_resume_says_it_before_the_crawl_goes_on(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_module, "LONG", 5)
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 5)
    assert "reading the journal of 5 pages" in tres("resume", run, "--pages", 8).err


def test_what_a_narrower_terminal_made_of_the_line_is_wiped() -> None:
    """A line of 50 cells stands on three lines of a terminal with 20 columns."""
    console = a_terminal(100)
    with CrawlProgress(console, "tres", 10) as progress:
        progress.replaying(1)
        cells = max(cell_len(line) for line in plain(shown(console)).splitlines())
        assert 40 < cells <= 60
        before = len(shown(console))
        console.width = 20
        progress.replaying(2)
        painted = shown(console)[before:]
        assert painted.startswith("\x1b[2K\x1b[1A" * 2)
        before = len(shown(console))
        progress.replaying(3)
        assert not shown(console)[before:].startswith("\x1b[2K\x1b[1A")


def plain(painted: str) -> str:
    """Without what steers the terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", painted)
