"""Work for other processes than the server: what takes seconds, and what reads strangers' pages.

    python -m tres.dashboard.job_worker frontier RUN     folds the journal of a run
    python -m tres.dashboard.job_worker learn RUN        trains the model of a run anew
    python -m tres.dashboard.job_worker report RUN       makes the report of a run
    python -m tres.dashboard.job_worker export RUN FORMAT WHICH    writes its pages
    python -m tres.dashboard.job_worker answer           answers questions
    (`dashboard.query_process`)

What comes of a job is the last line, as JSON. What is large comes behind a line that says that it
does (`dashboard.downloads`). Such a process gives way to every crawl of the machine,
and when it is gone so is all that it needed. The server only waits for it.
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

from tres.dashboard.frontier_view import what_waits
from tres.dashboard.query_worker import answer_all
from tres.dashboard.run_counts import Json
from tres.dashboard.run_orders import learn
from tres.errors import TresError
from tres.store.snapshot_files import SnapshotWarning

NICE = 10


def main(job: str, *what: str) -> None:
    """Do one job and say what came of it, or answer questions until nobody asks."""
    warnings.simplefilter("ignore", SnapshotWarning)  # whoever resumes the run is told
    with threadpool_limits(1):
        if job == "answer":
            answer_all(sys.stdin.buffer, sys.stdout.buffer)
            return
        os.nice(NICE)
        run, *rest = what
        try:
            JOBS[job](Path(run), *rest)
        except TresError as problem:
            _say({"error": problem.message})
            sys.exit(1)


def _say(told: Json) -> None:
    sys.stdout.write(f"{json.dumps(told)}\n")
    sys.stdout.flush()


def _frontier(run: Path) -> None:
    _say(what_waits(run))


def _learn(run: Path) -> None:
    _say(learn(run, lambda stage: _say({"progress": stage})))


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
    """Says that all is well before the first bytes, and not before there are any."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._silent = True

    def writable(self) -> bool:
        """It is there for nothing else."""
        return True

    def write(self, data: Any, /) -> int:
        """Pass on what comes."""
        self._announce()
        return self._out.write(data)

    def close(self) -> None:
        """The end, of nothing as well, unless something went wrong."""
        if not self.closed and sys.exc_info()[0] is None:
            self._announce()
        super().close()

    def _announce(self) -> None:
        if self._silent:
            self._out.write(b'{"error": ""}\n')
            self._silent = False


JOBS: dict[str, Callable[..., None]] = {
    "frontier": _frontier,
    "learn": _learn,
    "report": _report,
    "export": _export,
}


if __name__ == "__main__":
    main(*sys.argv[1:])
