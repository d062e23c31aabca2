"""The models of a run: `model/` is the newest; earlier ones are `model-1/`, `model-2/`, ...

A model that is trained during the crawl is kept as `model-DIGEST/` until the crawl has adopted it:
the process that crawls a run decides when its newest model changes.

The fold of a journal needs no model, as percepts are kept as they were. The newest model judges the
pages to come; each segment of the journal names the model that judged its pages by its digest.
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
"""Digits of a digest that identify a model."""


def newest_model(run: Path) -> RelevanceModel:
    """Load the newest model, after completing a change that was interrupted."""
    if not (run / MODEL).exists() and (run / NEXT).exists():
        (run / NEXT).rename(run / MODEL)
    return load_model(run / MODEL)


def model_of(run: Path, digest: str) -> RelevanceModel:
    """Load the model that a segment of the journal names."""
    return load_model(place_of(run, digest))


def place_of(run: Path, digest: str) -> Path:
    """Return the directory of a model of the run, by its manifest, without loading it."""
    if (place := _find_model(run, digest)) is None:
        raise RunError(
            f"{run}: the model {digest[:DIGITS]} that judged some of its pages is gone; "
            "put its directory back or run the crawl again"
        )
    return place


def keep_model(run: Path, model: RelevanceModel) -> None:
    """Save a model beside those of the run, without making it the newest."""
    if _find_model(run, model.digest) is None:
        model.save(run / f"{MODEL}-{model.digest[:DIGITS]}")


def replace_model(run: Path, model: RelevanceModel) -> None:
    """Save a model as the newest of a run whose lock is held."""
    keep_model(run, model)
    adopt_model(run, model.digest)


def adopt_model(run: Path, digest: str) -> None:
    """Make a saved model of the run its newest; earlier ones are kept.

    A kill half-way loses nothing. Only the holder of the run's lock may do this.
    """
    place = place_of(run, digest)
    if place == run / MODEL:
        return
    if place != run / NEXT:
        _shelve(run, NEXT)  # of a change that was interrupted
        place.rename(run / NEXT)
    _shelve(run, MODEL)
    with suppress(FileNotFoundError):  # `newest_model` may have completed it
        (run / NEXT).rename(run / MODEL)
    sync_directory(run)


def _shelve(run: Path, name: str) -> None:
    """Rename a model to the next free number, if it exists."""
    number = 1
    while (run / f"{MODEL}-{number}").exists():
        number += 1
    with suppress(FileNotFoundError):
        (run / name).rename(run / f"{MODEL}-{number}")


def _find_model(run: Path, digest: str) -> Path | None:
    for directory in (run / MODEL, *sorted(run.glob(f"{MODEL}-*"))):
        with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):  # no model
            if json.loads(files.content(directory / MANIFEST))["digest"] == digest:
                return directory
    return None
