"""Crawls that were begun or taken up from the browser.

Each is a process of its own in a session of its own (`tres crawl`, `tres resume`), as if somebody
had started it in a terminal: it lives on when the dashboard ends. What it says is kept for as long
as the dashboard is there, so that a crawl that came to nothing can say why.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT
from tempfile import TemporaryFile
from threading import Lock
from typing import IO

from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.run_counts import Json, harmless
from tres.dashboard.run_files import without_path
from tres.dashboard.topic_list import TopicFile
from tres.errors import RunError
from tres.store.orders import Budget
from tres.store.run_state import run_state

COMMAND = (sys.executable, "-P", "-m", "tres")
TAIL = 2_000
"""Bytes of what a crawl has said that are looked at."""
MOST = 8
"""Crawls that may have been begun from here and run at the same time."""
REMEMBERED = 20
"""Crawls that have ended and can still say why."""


@dataclass(slots=True)
class Begun:
    """A crawl that was started here."""

    process: subprocess.Popen[bytes]
    said: IO[bytes]
    stopped: bool = False
    """Was it told to end? Then nothing is wrong when it does."""

    @property
    def runs(self) -> bool:
        """Has it not ended?"""
        return self.process.poll() is None

    def problem(self) -> str:
        """Why it has ended, if not well: its last line."""
        if self.stopped or self.process.poll() in (None, 0):
            return ""
        lines = self._tail().splitlines()
        return harmless(lines[-1].removeprefix("tres: ")) if lines else "it ended without a word"

    def _tail(self) -> str:
        file = self.said.fileno()
        end = os.fstat(file).st_size
        return os.pread(file, TAIL, max(0, end - TAIL)).decode("utf-8", "replace").strip()


@dataclass(slots=True)
class Crawls:
    """Crawls that were started here, by their directory; any thread may ask."""

    _begun: dict[Path, Begun] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def begin(self, topic: TopicFile, home: Path) -> str:
        """Crawl a topic into a new directory below `home`; what is said back to the user."""
        if topic.problem:
            raise RunError(topic.problem)
        with self._lock:  # two who ask at once get a directory each
            directory = _free_directory(home, topic.path.stem, set(self._begun))
            self._start(directory, "crawl", str(topic.path), "--run", str(directory))
        return f"The crawl begins as {directory.name}; it no longer needs the dashboard."

    def resume(self, run: FollowedRun, wanted: Json) -> str:
        """Go on with a run; with a larger budget if one is given."""
        pages = wanted.get("pages")
        if pages is not None:
            Budget(pages)  # refuses what is none
        budget = [] if pages is None else ["--pages", str(pages)]
        with self._lock:
            if run_state(run.directory).is_crawled or self.runs_here(run):
                raise RunError("this run is being crawled already")
            self._start(run.directory, "resume", str(run.directory), *budget)
        return "The crawl is being taken up."

    def runs_here(self, run: FollowedRun) -> bool:
        """Is this run being crawled by a process that was started here?"""
        begun = self._begun.get(run.directory)
        return begun is not None and begun.runs

    def stop(self, run: FollowedRun) -> str:
        """End a crawl that was started here, as Ctrl-C in a terminal would; what it has is kept.

        A crawl that still learns its topic does not look for orders, so it is told like this.
        """
        if not self.runs_here(run):
            raise RunError(
                "the crawl is still learning its topic and was not started here; "
                "stop it where it was started, or wait until it begins"
            )
        begun = self._begun[run.directory]
        begun.stopped = True
        begun.process.send_signal(SIGINT)
        return "The crawl is told to stop; what it has fetched is kept."

    def problem(self, run: FollowedRun) -> str:
        """Why a crawl that was started here did not go on; empty if it did."""
        with self._lock:
            begun = self._begun.get(run.directory)
            return "" if begun is None else begun.problem()

    def without_run(self, known: set[Path]) -> list[Json]:
        """Crawls that have not shown up as runs: they start, or came to nothing."""
        with self._lock:
            lines = [
                (directory, begun.problem())
                for directory, begun in self._begun.items()
                if directory not in known and (begun.runs or begun.problem())
            ]
        return [
            {"name": harmless(directory.name), "problem": without_path(problem, directory)}
            for directory, problem in lines
        ]

    def _start(self, directory: Path, *arguments: str) -> None:
        if sum(begun.runs for begun in self._begun.values()) >= MOST:
            raise RunError(f"{MOST} crawls that were started here are going on; wait for one")
        said = TemporaryFile()  # noqa: SIM115 -- the crawl may outlive this, and write on
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._forget(directory)
        self._begun[directory] = Begun(process, said)
        ended = [known for known, begun in self._begun.items() if not begun.runs]
        for old in ended[:-REMEMBERED]:
            self._forget(old)

    def _forget(self, directory: Path) -> None:
        begun = self._begun.pop(directory, None)
        if begun is not None:
            begun.said.close()


def _free_directory(home: Path, name: str, taken: set[Path]) -> Path:
    """A directory that is not there yet: bees, bees-2, bees-3, ..."""
    plain = re.sub(r"[^\w.-]", "-", name).lstrip(".-") or "crawl"
    number, directory = 1, home.absolute() / plain
    while directory.exists() or directory in taken:
        number += 1
        directory = home.absolute() / f"{plain}-{number}"
    return directory
