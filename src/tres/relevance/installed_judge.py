"""A judge of an installed package, named by a topic file: `model = "package.module:Name"`.

The name stands for a judge (`tres.Judge`: anything with a method `probabilities(texts)`), or for a
class or a function that makes one. A maker that has a parameter `topic` gets the topic's words;
any other is called without arguments.

A judge is code, so it is not saved: `judge.json` holds what makes it again, in the process that
reads pages, when the run is resumed and when a page is explained. A judge with parameters of its
own can have a `digest`, a text that identifies them. If it is another one when the judge is made
again, the judge is refused: one crawl must not be judged by two different ones unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from inspect import signature
from typing import cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from tres.errors import ConfigError, ModelError
from tres.relevance.custom_model import KIND, NAME, CustomModel, Judge
from tres.relevance.model_files import ModelFiles, SavedModel
from tres.relevance.training import TopicWords
from tres.settings.sections import MODEL_NAMES

RECORD = "judge.json"


class JudgeRecord(msgspec.Struct, frozen=True):
    """What makes a judge again, as `judge.json` holds it."""

    path: str
    topic: dict[str, str | tuple[str, ...]]
    digest: str = ""


class InstalledJudge(SavedModel, CustomModel):
    """A judge of an installed package as a relevance model; whatever it does wrong is named."""

    def __init__(self, path: str, topic: TopicWords) -> None:
        super().__init__(_make_judge(path, topic))
        self.name = path
        self.record = JudgeRecord(path, _as_plain(topic), _digest_of(self._judge, path))

    def _files(self) -> ModelFiles:
        return ModelFiles(
            KIND, (), {}, {NAME: self.name}, {RECORD: msgspec.json.encode(self.record)}
        )

    def probabilities(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The judge's answers; `ModelError` if it fails, or if they are not probabilities."""
        try:
            return super().probabilities(texts)
        except (ModelError, MemoryError):
            raise
        except Exception as problem:
            reason = f"{type(problem).__name__}: {problem}"
            raise ModelError(f"the judge {self.name} failed: {reason}; mend it") from problem


def load_judge(files: ModelFiles) -> InstalledJudge:
    """Make the judge of saved files again; `ModelError` if it is gone or has changed."""
    record = read_record(files)
    try:
        judge = InstalledJudge(record.path, TopicWords(**record.topic))  # type: ignore[arg-type]
    except ConfigError as problem:
        raise ModelError(problem.message) from problem
    except TypeError:
        raise ModelError(f"{RECORD} is of another version of tres; start a new run") from None
    if judge.record.digest != record.digest:
        raise ModelError(
            f"the judge {record.path} has changed: its digest was {record.digest or 'missing'}, "
            f"and is {judge.record.digest or 'missing'} now; install it as it was, or start a "
            "new run"
        )
    return judge


def read_record(files: ModelFiles) -> JudgeRecord:
    """Return which judge saved files stand for; `ModelError` if only a program has it."""
    if RECORD not in files.parts:
        raise ModelError(
            f"pages were judged by {files.facts.get(NAME, '?')} of a program; "
            "give it again there: tres.resume_crawl(run, judge=...)"
        )
    try:
        record = msgspec.json.decode(files.parts[RECORD], type=JudgeRecord)
        MODEL_NAMES.check(record.path)
    except ValueError as problem:
        raise ModelError(f"{RECORD} is damaged ({problem}); copy the run again") from None
    return record


def _make_judge(path: str, topic: TopicWords) -> Judge:
    """Import a judge, or what makes one; `ConfigError` says why there is none."""
    found = MODEL_NAMES.load(path)
    if isinstance(found, type) or not hasattr(found, "probabilities"):
        if not callable(found):
            raise _no_judge(path, "is neither a judge nor a class or function that makes one")
        found = _call(path, found, topic)
    if not callable(getattr(found, "probabilities", None)):
        raise _no_judge(path, "has no method probabilities")
    return cast(Judge, found)


def _call(path: str, make: Callable[..., object], topic: TopicWords) -> object:
    try:
        return make(topic=topic) if _takes_topic(make) else make()
    except Exception as problem:
        reason = f"cannot be made: {type(problem).__name__}: {problem}"
        raise MODEL_NAMES.problem(
            path, f"{reason}; let it do without arguments, or with `topic`"
        ) from problem


def _takes_topic(make: Callable[..., object]) -> bool:
    try:
        return "topic" in signature(make).parameters
    except (TypeError, ValueError):  # written in C
        return False


def _digest_of(judge: Judge, path: str) -> str:
    digest = getattr(judge, "digest", "")
    if not isinstance(digest, str):
        raise MODEL_NAMES.problem(path, "has a digest that is no text; make it a text")
    return digest


def _no_judge(path: str, text: str) -> ConfigError:
    return MODEL_NAMES.problem(path, f"{text}; give it probabilities(texts), as tres.Judge has")


def _as_plain(topic: TopicWords) -> dict[str, str | tuple[str, ...]]:
    """The topic's words; word vectors are a file, and no business of a judge."""
    return {key: value for key, value in asdict(topic).items() if key != "vectors"}
