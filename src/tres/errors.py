"""The errors that users of tres can meet, by cause.

Every error has a message of one line that names what is wrong and says what to do next; if several
things failed, `details` has a line for each. The command line prints the message and exits with
`exit_code`; only a bug in tres shows a traceback. Messages quote names and values from outside, so
their control characters are escaped.

A page that cannot be fetched is not an error, but a value (`tres.web.page.Failed`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

LONGEST_MESSAGE = 4_000
"""Characters of a message; a name from outside may have millions."""


class TresError(Exception):
    """A problem that a user of tres can solve: the base class of all errors here."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, details: Iterable[str] = ()) -> None:
        self.message = _one_line(message)
        self.details = tuple(_one_line(detail) for detail in details)
        super().__init__(self.message)


class ConfigError(TresError):
    """The topic file or an option is wrong; nothing was started."""

    exit_code = 2


class ArchiveError(TresError):
    """A web archive is missing, damaged or of an unknown kind."""

    exit_code = 2


class ModelError(TresError):
    """A saved model is missing, damaged or from another version."""

    exit_code = 2


class TrainingError(TresError):
    """The examples cannot train a model: too few of a class, or none at all."""

    exit_code = 2


class VectorsError(TresError):
    """A file of word vectors is missing, damaged or something else."""

    exit_code = 2


class SeedError(TresError):
    """No seed gave a page: the seeds or the network are at fault."""

    exit_code = 3


class TeacherError(TresError):
    """A language model that was asked to judge pages refuses, or does not answer."""

    exit_code = 3


class RunError(TresError):
    """A run directory is missing, damaged or something else."""

    exit_code = 2


def _one_line(message: str) -> str:
    """Return a message as one line; of a long one, both ends, as the advice is at the end."""
    line = " ".join(message.split())
    if len(line) > LONGEST_MESSAGE:
        half = LONGEST_MESSAGE // 2
        line = f"{line[:half]} ... {line[-half:]}"
    return printable(line)


def printable(text: str) -> str:
    """Return text that cannot control a terminal: unprintable characters are escaped."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
