"""The metrics of the newest runs, served at `/metrics`.

Metrics are computed from all rows of a run. Readers are kept between scrapes, so that each scrape
reads only the rows that are new.
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

MAX_RUNS = 20


@dataclass(slots=True)
class MetricsEndpoint:
    """Readers of the runs that are served, by key and edition."""

    clock: Callable[[], float] = time.time
    _readers: dict[tuple[str, int], RunReader] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def text(self, runs: Iterable[FollowedRun]) -> str:
        """Return all metrics of the first runs."""
        with self._lock:
            served = {run.key: self._status(run) for run in list(runs)[:MAX_RUNS]}
            self._readers = {key: kept for key, kept in self._readers.items() if key[0] in served}
            return exposition({key: run for key, run in served.items() if run is not None})

    def _status(self, run: FollowedRun) -> RunStatus | None:
        run.listed()  # finds out which edition it is
        key = run.key, run.edition
        try:
            if key in self._readers:
                self._readers[key].refresh()
            else:
                self._readers = {k: kept for k, kept in self._readers.items() if k[0] != run.key}
                self._readers[key] = RunReader(run.directory)
        except TresError:  # the dashboard shows what is wrong
            return None
        return RunStatus(self._readers[key], run_state(run.directory).doing, self.clock())
