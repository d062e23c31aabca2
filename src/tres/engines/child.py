"""The process that reads pages: `python -m tres.engines.child`, started by `tres.engines.reader`.

The first message says how to make the reader: a function by name, its arguments, and the limits.
The answer is "ready", or what is wrong. Then a reading goes out for each page that comes in,
until there is no more. A page that takes all memory ends the process, and so does one that takes
far too long, should nobody be left to see to it. Any other error costs that page only.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from tres.engines.reading import PageReader, Reading
from tres.engines.wire import LENGTH_BYTES, framed, length_of, reading_message, received_page
from tres.errors import TresError
from tres.web.page import Failed, FailureKind
from tres.web.parse import well_formed

GRACE = 5
"""Seconds beyond the limit after which the process ends itself."""


def serve(pages: BinaryIO, readings: BinaryIO) -> None:
    """Read pages until there are no more."""
    plan = json.loads(_message(pages) or b"null")
    if plan is None:
        return
    try:
        reader = made(plan["factory"], plan["arguments"])
    except TresError as problem:
        _send(readings, json.dumps({"error": problem.message}).encode())
        return
    limit_memory(plan["memory"])
    _send(readings, b"{}")
    while (message := _message(pages)) is not None:
        signal.alarm(int(plan["seconds"]) + GRACE)
        _send(readings, answer(reader, message))
        signal.alarm(0)


def made(factory: str, arguments: dict[str, Any]) -> PageReader:
    """The reader that a function named `module:function` makes."""
    module, _, name = factory.partition(":")
    reader: PageReader = getattr(import_module(module), name)(**arguments)
    return reader


def answer(reader: PageReader, message: bytes) -> bytes:
    """The reading of one page, as it goes out."""
    received = received_page(message)
    try:
        return reading_message(reader.read(received))
    except MemoryError:
        raise
    except Exception as problem:  # a page that finds a bug must not end the crawl
        failed = Failed(well_formed(received.url), FailureKind.UNREADABLE)
        return reading_message(Reading(failed, note=type(problem).__name__))


def limit_memory(headroom: int) -> None:
    """Let the process grow by `headroom` bytes and no more, where the system can tell its size."""
    sizes = Path("/proc/self/statm")
    if sizes.exists():
        used = int(sizes.read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = used + headroom if hard == resource.RLIM_INFINITY else min(used + headroom, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _message(pages: BinaryIO) -> bytes | None:
    prefix = pages.read(LENGTH_BYTES)
    return pages.read(length_of(prefix)) if len(prefix) == LENGTH_BYTES else None


def _send(readings: BinaryIO, message: bytes) -> None:
    readings.write(framed(message))
    readings.flush()


def main() -> None:
    """Talk over the standard streams; what libraries print must not get in between."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    readings = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, readings)


if __name__ == "__main__":
    main()
