"""A judge that a program brings along: any object that gives probabilities for texts.

What a program judges by cannot be kept as files, so a run keeps its name only. Such a run is
taken up again by a program that gives the judge again; anybody else is told so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tres.errors import ModelError
from tres.relevance.model import RelevanceModel
from tres.relevance.model_files import ModelFiles

KIND = "own"
NAME = "judge"


class Judge(Protocol):
    """Says how probably a text is about the topic: of a page, or of a link.

    A page is its title on the first line, then its text; a link is its anchor and the words of
    its URL. From a probability of 0.5 on a page is relevant, which is the reward of the crawl.

        >>> class Mentions:
        ...     def probabilities(self, texts):
        ...         return [float("honey" in text) for text in texts]
        >>> OwnJudge(Mentions()).probabilities(["honey bees", "wasps"])
        array([1., 0.], dtype=float32)
    """

    def probabilities(self, texts: Sequence[str]) -> ArrayLike:
        """One probability per text, in order."""


class OwnJudge:
    """A judge as a relevance model, its answers checked."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name = type(judge).__qualname__

    @property
    def digest(self) -> str:
        """Identity of the judge, which is all that can be told of it: its class."""
        known_by = f"{KIND} {type(self._judge).__module__}.{self.name}"
        return hashlib.sha256(known_by.encode()).hexdigest()

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """What the judge says; `ModelError` if these are no probabilities."""
        said = np.asarray(self._judge.probabilities(texts), np.float32)
        if said.shape != (len(texts),) or not np.all((said >= 0) & (said <= 1)):
            raise ModelError(
                f"the judge {self.name} must give one number from 0 to 1 for each text; "
                f"for {len(texts)} it gave an array of shape {said.shape}, see its `probabilities`"
            )
        return said

    def save(self, directory: Path) -> None:
        """Keep the name: what judged here."""
        ModelFiles(KIND, (), {}, {NAME: self.name}).write(directory)


def as_model(judge: Judge | RelevanceModel) -> RelevanceModel:
    """What can be kept in a run as it is; any other judge by its name."""
    return judge if isinstance(judge, RelevanceModel) else OwnJudge(judge)


def refused(files: ModelFiles, directory: Path) -> ModelError:
    """Why a judge cannot be loaded from where its name is kept."""
    return ModelError(
        f"{directory}: pages were judged by {files.facts.get(NAME, '?')} of a program; "
        "give it again there: tres.resume_crawl(run, judge=...)"
    )
