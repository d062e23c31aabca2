"""A relevance model that a program supplies: any object that returns probabilities for texts.

It cannot be saved as files, so a run keeps its name only. Only a program that provides the object
again can resume such a run. A judge that a topic file names can be made again:
`tres.relevance.installed_judge`.
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
"""As manifests of saved models call it."""
NAME = "judge"


class Judge(Protocol):
    """Gives the probability that a text, of a page or of a link, is about the topic.

    A page is its title on the first line, then its text; a link is its anchor and the words of
    its URL. A page with a probability of 0.5 or more is relevant, which is the reward of the crawl.

        >>> class Mentions:
        ...     def probabilities(self, texts):
        ...         return [float("honey" in text) for text in texts]
        >>> CustomModel(Mentions()).probabilities(["honey bees", "wasps"])
        array([1., 0.], dtype=float32)
    """

    def probabilities(self, texts: Sequence[str]) -> ArrayLike:
        """One probability per text, in order."""


class CustomModel:
    """A judge as a relevance model; its answers are checked."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.name = type(judge).__qualname__

    @property
    def digest(self) -> str:
        """Identity of the judge's class; nothing more is known about it."""
        class_name = f"{KIND} {type(self._judge).__module__}.{self.name}"
        return hashlib.sha256(class_name.encode()).hexdigest()

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The judge's answers; `ModelError` if they are not probabilities."""
        answers = np.asarray(self._judge.probabilities(texts), np.float32)
        if answers.shape != (len(texts),) or not np.all((answers >= 0) & (answers <= 1)):
            raise ModelError(
                f"the judge {self.name} must give one number from 0 to 1 for each text; for "
                f"{len(texts)} it gave an array of shape {answers.shape}, see its `probabilities`"
            )
        return answers

    def save(self, directory: Path) -> None:
        """Save the judge's name."""
        ModelFiles(KIND, (), {}, {NAME: self.name}).write(directory)


def as_model(judge: Judge | RelevanceModel) -> RelevanceModel:
    """Return a model that can be saved as it is; wrap any other judge."""
    return judge if isinstance(judge, RelevanceModel) else CustomModel(judge)
