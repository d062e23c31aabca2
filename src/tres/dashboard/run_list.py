"""The list of runs: the directories given by name, or all below `./runs`.

A run has a *key* by which a browser asks for it. Keys are made here, from directories that were
found here, and a request can only look one up; so no text of a request ever becomes a path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.run_files import modification_times
from tres.errors import RunError
from tres.store.journal import JOURNAL
from tres.store.run_directory import is_run

DEPTH = 3
"""How far below the directory of all runs to look."""
SEARCH_INTERVAL = 2.0
"""Seconds between two searches for new runs."""
MOST = 500
"""Runs that are shown: the newest."""


@dataclass(slots=True)
class Runs:
    """The runs by key; new ones below `home` are found as they appear."""

    clock: Callable[[], float]
    named: tuple[Path, ...] = ()
    home: Path | None = None
    _runs: dict[str, FollowedRun] = field(default_factory=dict)
    _looked: float = float("-inf")
    _lock: Lock = field(default_factory=Lock)

    def all(self) -> list[FollowedRun]:
        """Return all runs, the last changed first."""
        with self._lock:
            if self.clock() - self._looked >= SEARCH_INTERVAL:
                self._search()
            return sorted(self._runs.values(), key=lambda run: run.changed, reverse=True)

    def get(self, key: str) -> FollowedRun | None:
        """Return the run of a key, if there is one."""
        if key not in self._runs:
            self.all()
        return self._runs.get(key)

    def _search(self) -> None:
        """Add new runs and drop those that are gone."""
        self._looked = self.clock()
        known = {run.directory: run for run in self._runs.values()}
        here = [directory for directory in self._directories() if is_run(directory)]
        self._runs = {key: run for key, run in self._runs.items() if run.directory in set(here)}
        for directory in here:
            if directory not in known:
                key = _free_key(directory.name, self._runs)
                self._runs[key] = FollowedRun(key, directory, self.clock, self._name(directory))

    def _name(self, directory: Path) -> str:
        """The path of a run below the directory of all runs, or the name of its directory."""
        if self.home is None or directory == self.home.absolute():
            return directory.name
        return str(directory.relative_to(self.home.absolute()))

    def _directories(self) -> Iterable[Path]:
        if self.home is None:
            return self.named
        return sorted(_below(self.home, DEPTH), key=_age)[:MOST]


def named_runs(directories: Iterable[Path]) -> tuple[Path, ...]:
    """Return the directories that the user has named; `RunError` if one is not a run."""
    found = []
    for directory in directories:
        if not is_run(directory):
            raise RunError(
                f"{directory}: holds no run; name a directory that 'tres crawl' has written, or "
                "start 'tres dashboard' without one to see all below ./runs"
            )
        found.append(directory.absolute())
    return tuple(dict.fromkeys(found))


def _below(home: Path, depth: int) -> Iterator[Path]:
    """Run directories; symbolic links are not followed, and a run contains no other runs."""
    if is_run(home):
        yield home.absolute()
        return
    try:
        entries = [entry for entry in os.scandir(home) if entry.is_dir(follow_symlinks=False)]
    except OSError:  # missing, or not readable
        return
    for entry in entries if depth else ():
        yield from _below(Path(entry.path), depth - 1)


def _age(directory: Path) -> float:
    return -max(modification_times(directory / JOURNAL), default=0.0)


def _free_key(name: str, taken: dict[str, FollowedRun]) -> str:
    """A new key that needs no quoting in a URL."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name)
    number, key = 1, plain or "run"
    while key in taken:
        number += 1
        key = f"{plain or 'run'}~{number}"
    return key
