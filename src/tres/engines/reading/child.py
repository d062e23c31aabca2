"""The child process that reads pages (`python -m tres.engines.reading.child`).

The first message is the plan of the reader and the limits. The child answers with `{}`, or with
what is wrong. Then it answers each task, with the processor time that it took in front, until
there are no more. A task that takes all memory or more than its processor time ends the process,
and so does one that takes far too long on the clock, should the parent be gone. Any other error
costs that task only.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import BinaryIO

from tres.engines.reading.page_reader import PageReader
from tres.engines.reading.reader_plan import make_reader
from tres.engines.reading.tasks import perform
from tres.engines.reading.wire import LENGTH_BYTES, framed, length_of
from tres.errors import TresError

GRACE = 5
"""Seconds after the parent's patience when the process ends itself."""
COST_BYTES = 4
"""Length of the processor time in front of each answer, in microseconds."""
BUG = b"\xff\xff\xff\xff"
"""An answer that begins with this says what went wrong in the reader: a bug, or a judge's failure.

No other answer does: a reading begins with a length, in little-endian order, that is far smaller.
"""


def serve(pages: BinaryIO, readings: BinaryIO) -> None:
    """Do tasks until there are no more."""
    plan = json.loads(_receive(pages) or b"null")
    if plan is None:
        return
    try:
        reader = make_reader(plan["factory"], plan["arguments"])
    except TresError as problem:
        _send(readings, json.dumps({"error": problem.message}).encode())
        return
    limit_memory(plan["memory"])
    _send(readings, b"{}")
    while (message := _receive(pages)) is not None:
        signal.alarm(int(plan["patience"]) + GRACE)
        _send(readings, answer_in_time(reader, message, plan["seconds"]))
        signal.alarm(0)


def answer_in_time(reader: PageReader, message: bytes, seconds: float) -> bytes:
    """The answer to a task, and its cost; after `seconds` of processor time the process ends."""
    signal.setitimer(signal.ITIMER_PROF, seconds)  # its signal is not handled, so it kills
    began = time.process_time()
    try:
        result = perform(reader, message)
    except MemoryError:
        raise
    except TresError as problem:  # of a judge of one's own, over this page
        result = BUG + problem.message.encode()
    except Exception as problem:  # a page that triggers a bug must not end the crawl
        result = BUG + type(problem).__name__.encode()
    spent = min(int((time.process_time() - began) * 1e6), (1 << 8 * COST_BYTES) - 1)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return spent.to_bytes(COST_BYTES, "big") + result


def limit_memory(headroom: int) -> None:
    """Let the process grow by `headroom` bytes, on systems that tell its present size."""
    sizes = Path("/proc/self/statm")
    if sizes.exists():
        used = int(sizes.read_text().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = used + headroom if hard == resource.RLIM_INFINITY else min(used + headroom, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _receive(pages: BinaryIO) -> bytes | None:
    prefix = pages.read(LENGTH_BYTES)
    return pages.read(length_of(prefix)) if len(prefix) == LENGTH_BYTES else None


def _send(readings: BinaryIO, message: bytes) -> None:
    readings.write(framed(message))
    readings.flush()


def main() -> None:
    """Talk over the standard streams; what libraries print goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    readings = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, readings)


if __name__ == "__main__":
    main()
