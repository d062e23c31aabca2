"""The models of a run: `model/` is the newest; earlier ones are `model-1/`, `model-2/`, ...

The fold of a journal needs no model: percepts are kept as they were. Pages to come are judged
by the newest; segments of the journal say by its digest which one judged from where on.
"""

from __future__ import annotations

from pathlib import Path

from tres.errors import RunError
from tres.relevance.base import RelevanceModel
from tres.relevance.store import load_model

MODEL, NEXT = "model", "model-next"


def newest_model(run: Path) -> RelevanceModel:
    """The model that judges from now on; a change that was cut off half-way is completed."""
    if not (run / MODEL).exists() and (run / NEXT).exists():
        (run / NEXT).rename(run / MODEL)
    return load_model(run / MODEL)


def model_of(run: Path, digest: str) -> RelevanceModel:
    """The model that a segment names."""
    for directory in sorted(run.glob(f"{MODEL}*")):
        if directory.is_dir() and (model := load_model(directory)).digest == digest:
            return model
    raise RunError(
        f"{run}: the model {digest[:12]} that judged some of its pages is gone; "
        "put its directory back or run the crawl again"
    )


def replace_model(run: Path, model: RelevanceModel) -> None:
    """Make this the newest model; earlier ones are kept. Killed half-way, nothing is lost."""
    model.save(run / NEXT)
    number = 1
    while (run / f"{MODEL}-{number}").exists():
        number += 1
    if (run / MODEL).exists():
        (run / MODEL).rename(run / f"{MODEL}-{number}")
    (run / NEXT).rename(run / MODEL)
