"""The process that reads pages (`python -m tres.engines.reading.child`), a child of the pool.

The first message says how to make the reader: a function by name, its arguments, and the limits.
The answer is "ready", or what is wrong. Then an answer goes out for each task that comes in, with
the processor time that it took in front, until there are no more. A task that takes all memory or
more than its processor time ends the process, and so does one that takes far too long in any
other way, should nobody be left to see to it. Any other error costs that task only.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from tres.engines.reading.page_reader import PageReader
from tres.engines.reading.tasks import performed
from tres.engines.reading.wire import LENGTH_BYTES, framed, length_of
from tres.errors import TresError

GRACE = 5
"""Seconds beyond the parent's patience after which the process ends itself."""
COST_BYTES = 4
"""In front of each answer: the microseconds that it took."""
BUG = b"!"
"""An answer that begins with this names the error that was made instead."""


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
        signal.alarm(int(plan["patience"]) + GRACE)
        _send(readings, timed(reader, message, plan["seconds"]))
        signal.alarm(0)


def made(factory: str, arguments: dict[str, Any]) -> PageReader:
    """The reader that a function named `module:function` makes."""
    module, _, name = factory.partition(":")
    reader: PageReader = getattr(import_module(module), name)(**arguments)
    return reader


def timed(reader: PageReader, message: bytes, seconds: float) -> bytes:
    """The answer to one task, and what it took; past `seconds` of processor time all ends."""
    signal.setitimer(signal.ITIMER_PROF, seconds)  # nobody handles its signal
    began = time.process_time()
    result = answer(reader, message)
    spent = min(int((time.process_time() - began) * 1e6), (1 << 8 * COST_BYTES) - 1)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return spent.to_bytes(COST_BYTES, "big") + result


def answer(reader: PageReader, message: bytes) -> bytes:
    """What comes of one task, as it goes out."""
    try:
        return performed(reader, message)
    except MemoryError:
        raise
    except Exception as problem:  # a page that finds a bug must not end the crawl
        return BUG + type(problem).__name__.encode()


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
