"""Crawls that were started or resumed from the browser.

Each is a process in a session of its own (`tres crawl`, `tres resume`), as if started in a
terminal: it goes on when the dashboard ends. Its output is kept as long as the dashboard runs, to
say why a crawl could not start.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO

from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.run_counts import Json, harmless
from tres.dashboard.run_files import hide_path
from tres.dashboard.topic_list import TopicFile
from tres.errors import RunError
from tres.store.orders import Budget
from tres.store.run_state import run_state

COMMAND = (sys.executable, "-P", "-m", "tres")
TAIL = 2_000
"""Bytes at the end of a crawl's output that are read."""
MOST = 8
"""Crawls started here that may run at the same time."""
REMEMBERED = 20
"""Ended crawls whose output is kept."""


@dataclass(slots=True)
class StartedCrawl:
    """A crawl that was started here."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def problem(self) -> str:
        """Return its last line if it failed, else an empty text."""
        if self.process.poll() in (None, 0):
            return ""
        lines = self._tail().splitlines()
        return harmless(lines[-1].removeprefix("tres: ")) if lines else "it ended without a message"

    def _tail(self) -> str:
        file = self.output.fileno()
        end = os.fstat(file).st_size
        return os.pread(file, TAIL, max(0, end - TAIL)).decode("utf-8", "replace").strip()


@dataclass(slots=True)
class StartedCrawls:
    """The crawls that were started here, by directory; safe to use from any thread."""

    _crawls: dict[Path, StartedCrawl] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def start(self, topic: TopicFile, home: Path) -> str:
        """Crawl a topic into a new directory below `home`; return the confirmation."""
        if topic.problem:
            raise RunError(topic.problem)
        with self._lock:  # two requests at once get a directory each
            directory = _free_directory(home, topic.path.stem, set(self._crawls))
            self._start(directory, "crawl", str(topic.path), "--run", str(directory))
        return f"The crawl starts as {directory.name}; it does not need the dashboard."

    def resume(self, run: FollowedRun, wanted: Json) -> str:
        """Resume a run, with a larger budget if one is given; return the confirmation."""
        pages = wanted.get("pages")
        budget = [] if pages is None else ["--pages", str(Budget(pages).pages)]
        with self._lock:
            if run_state(run.directory).is_crawled or self.is_running_here(run):
                raise RunError("this run is being crawled already")
            self._start(run.directory, "resume", str(run.directory), *budget)
        return "The crawl resumes."

    def is_running_here(self, run: FollowedRun) -> bool:
        """Return whether a process that was started here is crawling this run."""
        crawl = self._crawls.get(run.directory)
        return crawl is not None and crawl.is_running

    def problem(self, run: FollowedRun) -> str:
        """Return why a crawl that was started here failed; empty if it did not."""
        with self._lock:
            crawl = self._crawls.get(run.directory)
            return "" if crawl is None else crawl.problem()

    def not_yet_runs(self, known: set[Path]) -> list[Json]:
        """Return the crawls without a run directory: they are starting, or have failed."""
        with self._lock:
            return [
                {"name": harmless(directory.name), "problem": hide_path(crawl.problem(), directory)}
                for directory, crawl in self._crawls.items()
                if directory not in known and (crawl.is_running or crawl.problem())
            ]

    def _start(self, directory: Path, *arguments: str) -> None:
        if sum(crawl.is_running for crawl in self._crawls.values()) >= MOST:
            raise RunError(f"{MOST} crawls that were started here are running; wait for one to end")
        output = TemporaryFile()  # noqa: SIM115 -- the crawl may outlive this and go on writing
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._forget(directory)
        self._crawls[directory] = StartedCrawl(process, output)
        ended = [known for known, crawl in self._crawls.items() if not crawl.is_running]
        for old in ended[:-REMEMBERED]:
            self._forget(old)

    def _forget(self, directory: Path) -> None:
        crawl = self._crawls.pop(directory, None)
        if crawl is not None:
            crawl.output.close()


def _free_directory(home: Path, name: str, taken: set[Path]) -> Path:
    """A directory that does not exist yet: bees, bees-2, bees-3, ..."""
    plain = re.sub(r"[^\w.-]", "-", name).lstrip(".-") or "crawl"
    number, directory = 1, home.absolute() / plain
    while directory.exists() or directory in taken:
        number += 1
        directory = home.absolute() / f"{plain}-{number}"
    return directory
