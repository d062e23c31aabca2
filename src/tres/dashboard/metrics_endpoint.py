"""The metrics of all runs, for whoever scrapes `/metrics`.

Metrics are read off whole runs, so their rows are kept here as long as somebody scrapes; a run
is read on, not anew. Only the newest runs are told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Lock

from tres.dashboard.followed_run import FollowedRun
from tres.errors import TresError
from tres.report.metrics import RunStatus, exposition
from tres.report.run_reader import RunReader
from tres.store.run_state import run_state

MOST = 20


@dataclass(slots=True)
class Scraped:
    """Readers of the runs that are told, by key and edition."""

    clock: Callable[[], float] = time.time
    _readers: dict[tuple[str, int], RunReader] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def text(self, runs: Iterable[FollowedRun]) -> str:
        """All metrics of the first runs."""
        with self._lock:
            watched = {run.key: self._watched(run) for run in list(runs)[:MOST]}
            self._readers = {key: kept for key, kept in self._readers.items() if key[0] in watched}
            return exposition({key: run for key, run in watched.items() if run is not None})

    def _watched(self, run: FollowedRun) -> RunStatus | None:
        run.listed()  # knows by then which edition it is
        key = run.key, run.edition
        try:
            if key in self._readers:
                self._readers[key].refresh()
            else:
                self._forget(run.key)
                self._readers[key] = RunReader(run.directory)
        except TresError:  # the dashboard itself says what is wrong
            return None
        return RunStatus(self._readers[key], run_state(run.directory).doing, self.clock())

    def _forget(self, run: str) -> None:
        for key in [key for key in self._readers if key[0] == run]:
            del self._readers[key]
