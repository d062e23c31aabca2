"""The models of a run: `model/` is the newest; earlier ones are `model-1/`, `model-2/`, ...

A model that is made while the run is crawled is kept as `model-DIGEST/` until the crawl has
adopted it: whoever crawls a run decides when its newest model changes.

The fold of a journal needs no model: percepts are kept as they were. Pages to come are judged
by the newest; segments of the journal say by its digest which one judged from where on.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from tres.errors import RunError
from tres.files import opening as files
from tres.files.durable import sync_directory
from tres.relevance.model import RelevanceModel
from tres.relevance.model_files import MANIFEST
from tres.relevance.model_kinds import load_model

MODEL, NEXT = "model", "model-next"
DIGITS = 12
"""Digits of a digest that tell a model from others."""


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
    raise _gone(run, digest)


def place_of(run: Path, digest: str) -> Path:
    """Where a model of the run lies now, by what its manifest says; it is not loaded."""
    if (place := _found(run, digest)) is None:
        raise _gone(run, digest)
    return place


def keep_model(run: Path, model: RelevanceModel) -> None:
    """Lay a model beside those of the run; the newest stays the newest."""
    if _found(run, model.digest) is None:
        model.save(run / f"{MODEL}-{model.digest[:DIGITS]}")


def replace_model(run: Path, model: RelevanceModel) -> None:
    """Make this the newest model of a run that nobody else writes to."""
    keep_model(run, model)
    adopt_model(run, model.digest)


def adopt_model(run: Path, digest: str) -> None:
    """Make a model that lies in the run its newest; earlier ones are kept.

    Killed half-way, nothing is lost. Only the holder of the claim of a run may do this.
    """
    place = place_of(run, digest)
    if place == run / MODEL:
        return
    if place != run / NEXT:
        _shelve(run, NEXT)  # of a change that was cut off
        place.rename(run / NEXT)
    _shelve(run, MODEL)
    with suppress(FileNotFoundError):  # who looks for the newest model may have completed it
        (run / NEXT).rename(run / MODEL)
    sync_directory(run)


def _shelve(run: Path, name: str) -> None:
    """Put a model with the earlier ones, if it is there."""
    number = 1
    while (run / f"{MODEL}-{number}").exists():
        number += 1
    with suppress(FileNotFoundError):
        (run / name).rename(run / f"{MODEL}-{number}")


def _found(run: Path, digest: str) -> Path | None:
    for directory in (run / MODEL, *sorted(run.glob(f"{MODEL}-*"))):
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):  # no model
            if json.loads(files.content(directory / MANIFEST))["digest"] == digest:
                return directory
    return None


def _gone(run: Path, digest: str) -> RunError:
    return RunError(
        f"{run}: the model {digest[:DIGITS]} that judged some of its pages is gone; "
        "put its directory back or run the crawl again"
    )
