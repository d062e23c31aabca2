"""Work for other processes than the server: what takes seconds, and what reads strangers' pages.

    python -m tres.dashboard.worker frontier RUN     folds the journal of a run
    python -m tres.dashboard.worker learn RUN        trains the model of a run anew
    python -m tres.dashboard.worker answer           answers questions (`dashboard.answering`)

What comes of a job is one line of JSON. Such a process gives way to every crawl of the machine,
and when it is gone so is all that it needed. The server only waits for it.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

from threadpoolctl import threadpool_limits

from tres.dashboard.answers import answer_all
from tres.dashboard.counts import Json
from tres.dashboard.frontier import what_waits
from tres.dashboard.steering import learn
from tres.errors import TresError
from tres.store.snapshots import SnapshotWarning

NICE = 10


JOBS: dict[str, Callable[[Path], Json]] = {"frontier": what_waits, "learn": learn}


def main(job: str, run: str = "") -> None:
    """Do one job and say what came of it, or answer questions until nobody asks."""
    warnings.simplefilter("ignore", SnapshotWarning)  # whoever resumes the run is told
    with threadpool_limits(1):
        if job == "answer":
            answer_all(sys.stdin.buffer, sys.stdout.buffer)
            return
        os.nice(NICE)
        sys.stdout.write(json.dumps(_done(job, Path(run))))


def _done(job: str, run: Path) -> Json:
    try:
        return JOBS[job](run)
    except TresError as problem:
        return {"error": problem.message}


if __name__ == "__main__":
    main(*sys.argv[1:])
