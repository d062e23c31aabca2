"""Worker processes beside the server: for jobs that take seconds or read pages of the Web.

    python -m tres.dashboard.job_worker frontier RUN     replays the journal of a run
    python -m tres.dashboard.job_worker learn RUN        retrains the model of a run
    python -m tres.dashboard.job_worker report RUN       writes the report of a run
    python -m tres.dashboard.job_worker export RUN FORMAT WHICH    writes its pages
    python -m tres.dashboard.job_worker answer           answers questions
    (`dashboard.query_process`)

The result of a job is its last line, as JSON. A large result follows a line that says that all is
well (`dashboard.downloads`). Jobs run at a low priority, so that crawls on this machine come first.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from io import BufferedWriter, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO

from threadpoolctl import threadpool_limits

from tres.dashboard.frontier_view import view_frontier
from tres.dashboard.query_worker import answer_queries
from tres.dashboard.run_counts import Json
from tres.dashboard.run_orders import train_model
from tres.errors import TresError
from tres.store.snapshot_files import SnapshotWarning

NICE = 10


def main(job: str, *what: str) -> None:
    """Do one job and print its result, or answer questions until nobody asks."""
    warnings.simplefilter("ignore", SnapshotWarning)  # resuming the run shows it
    with threadpool_limits(1):
        if job == "answer":
            answer_queries(sys.stdin.buffer, sys.stdout.buffer)
            return
        os.nice(NICE)
        run, *rest = what
        try:
            JOBS[job](Path(run), *rest)
        except TresError as problem:
            _print_json({"error": problem.message})
            sys.exit(1)


def _print_json(result: Json) -> None:
    sys.stdout.write(f"{json.dumps(result)}\n")
    sys.stdout.flush()


def _learn(run: Path) -> None:
    _print_json(train_model(run, lambda stage: _print_json({"progress": stage})))


def _report(run: Path) -> None:
    from tres.report.report_page import report_page
    from tres.report.run_reader import RunReader

    page = report_page(RunReader(run))
    with BufferedWriter(ReadyOutput(sys.stdout.buffer)) as out:
        out.write(page.encode("utf-8", "replace"))


def _export(run: Path, form: str, which: str) -> None:
    from tres.store.export_pages import Selection, export

    with BufferedWriter(ReadyOutput(sys.stdout.buffer)) as out:
        export(run, form, out, Selection(relevant=which == "relevant"))


class ReadyOutput(RawIOBase):
    """Writes that all is well before the first bytes, and not before there are any."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._unannounced = True

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Pass bytes on."""
        self._announce()
        return self._out.write(data)

    def close(self) -> None:
        """Announce an empty output, too, unless something went wrong."""
        if not self.closed and sys.exc_info()[0] is None:
            self._announce()
        super().close()

    def _announce(self) -> None:
        if self._unannounced:
            self._out.write(b'{"error": ""}\n')
            self._unannounced = False


JOBS: dict[str, Callable[..., None]] = {
    "frontier": lambda run: _print_json(view_frontier(run)),
    "learn": _learn,
    "report": _report,
    "export": _export,
}


if __name__ == "__main__":
    main(*sys.argv[1:])
