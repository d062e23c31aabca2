"""What can go wrong before or around a crawl, by whose fault it is.

Every error carries one message, made to be read on its own: a single line that names
the thing that is wrong and says what to do next (where several things failed, `details`
has a line for each). The command line prints that line and
leaves with `exit_code`; a traceback is only ever shown for a bug in tres itself. As
messages quote names and values from outside, control characters in them are escaped.

Pages that cannot be fetched are no errors: they are values (`tres.web.page.Failed`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

LONGEST_MESSAGE = 4_000
"""Characters; a name or a value from outside may have millions."""


class TresError(Exception):
    """Anything that a user of tres can put right. Catch this one to catch them all."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, details: Iterable[str] = ()) -> None:
        self.message = _one_line(message)
        self.details = tuple(_one_line(detail) for detail in details)
        super().__init__(self.message)


class ConfigError(TresError):
    """The topic file or an option is wrong: its author's fault, nothing was started."""

    exit_code = 2


class ArchiveError(TresError):
    """A web archive is missing, damaged or of an unknown kind: the fault of the archive."""

    exit_code = 2


class ModelError(TresError):
    """A saved model is missing, damaged or from another version: the fault of its files."""

    exit_code = 2


class TrainingError(TresError):
    """The examples cannot train a model: too few of a class, or none to be found."""

    exit_code = 2


class VectorsError(TresError):
    """Word vectors are missing, damaged or no word vectors: the fault of their files."""

    exit_code = 2


class SeedError(TresError):
    """No seed gave a page: the fault of the seeds, or of the network to them."""

    exit_code = 3


class RunError(TresError):
    """A run directory is damaged or is not one: the fault of the path or of its files."""

    exit_code = 2


def _one_line(message: str) -> str:
    """What matters stands at both ends: whose fault it is, and what to do next."""
    line = " ".join(message.split())
    if len(line) > LONGEST_MESSAGE:
        half = LONGEST_MESSAGE // 2
        line = f"{line[:half]} ... {line[-half:]}"
    return printable(line)


def printable(text: str) -> str:
    """Text that cannot steer a terminal: what is not printable appears as an escape."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
