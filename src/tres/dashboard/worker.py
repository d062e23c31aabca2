"""Work that takes seconds, in a process of its own: to fold a journal, to train a model.

    python -m tres.dashboard.worker frontier RUN
    python -m tres.dashboard.worker learn RUN
    python -m tres.dashboard.worker explain RUN STEP

What comes of it is one line of JSON. Such a process gives way to every crawl of the machine,
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

from tres.dashboard.counts import Json
from tres.dashboard.frontier import what_waits
from tres.dashboard.steering import learn
from tres.errors import TresError
from tres.store.snapshots import SnapshotWarning

NICE = 10


def explain(run: Path, step: str) -> Json:
    """Why a page was fetched, in prose."""
    from tres.report.explain.explain import explain as explanation_of
    from tres.report.explain.prose import prose

    return {"prose": prose(explanation_of(run, step))}


JOBS: dict[str, Callable[..., Json]] = {"frontier": what_waits, "learn": learn, "explain": explain}


def main(job: str, run: str, *what: str) -> None:
    """Do one job, and say what came of it."""
    os.nice(NICE)
    warnings.simplefilter("ignore", SnapshotWarning)  # whoever resumes the run is told
    try:
        with threadpool_limits(1):
            result = JOBS[job](Path(run), *what)
    except TresError as problem:
        result = {"error": problem.message}
    sys.stdout.write(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
