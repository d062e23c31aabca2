"""The hostile web as a process of its own: many loopback addresses, one port.

    python -m tests.hostile.server --port 0 --log FILE

prints a line with the port when all addresses listen. The log has a line per request, as that
of `tres serve`: time in seconds, host, method, path (in place of the URL), and `-` for the
status, which many answers here do not have.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from tests.hostile import good
from tests.hostile.case import Case, all_cases, no_robots
from tests.hostile.names import NAMES
from tests.hostile.wire import Wire

READY = "hostile web on port "
BACKLOG = 50


class HostileWeb:
    """All hosts. Without `mischief` the good ones do not link to the others."""

    def __init__(self, log: TextIO | None = None, mischief: bool = True) -> None:
        self.cases = {case.host: case for case in all_cases()}
        self._hostile = [*self.cases, *NAMES] if mischief else []
        self._log = log

    async def start(self, port: int = 0) -> int:
        """Listen everywhere; gives the port."""
        for host in (*good.hosts(), *self.cases):
            server = await asyncio.start_server(self._serve, host, port, backlog=BACKLOG)
            port = server.sockets[0].getsockname()[1]
        return port

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not await self._answered(reader, writer):
                pass
        except (OSError, EOFError, asyncio.LimitOverrunError):
            pass  # the client has gone, or talks nonsense: both are its right
        finally:
            writer.close()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; True if it was the last one of its connection."""
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ", 2)
        wire = Wire(reader, writer, target)
        self._note(wire.host, method, target)
        case = self.cases.get(wire.host)
        if case is not None:
            await case.answer(target)(wire)
        elif target == "/robots.txt":
            await no_robots(wire)
        else:
            await good.answer(wire, self._hostile)
        return wire.ended or b"\r\nconnection: close" in head.lower()

    def _note(self, host: str, method: str, target: str) -> None:
        if self._log is not None:
            self._log.write(f"{time.time():.6f}\t{host}\t{method}\t{target!a}\t-\n")


@contextmanager
def hostile_web(log: Path, *options: str) -> Iterator[int]:
    """The hostile web in a process of its own; gives its port."""
    command = [sys.executable, "-m", "tests.hostile.server", "--log", str(log), *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline().removeprefix(READY))
        finally:
            process.terminate()


def case_named(name: str) -> Case:
    """A case by the name of its file."""
    return next(case for case in all_cases() if case.name == name)


async def _run(port: int, log: TextIO | None, mischief: bool) -> None:
    stop = asyncio.Event()
    for kind in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(kind, stop.set)
    port = await HostileWeb(log, mischief).start(port)
    print(f"{READY}{port}", flush=True)
    await stop.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--only-good", action="store_true", help="link to no hostile host")
    options = parser.parse_args()
    log = options.log.open("a", buffering=1) if options.log else None
    asyncio.run(_run(options.port, log, not options.only_good))


if __name__ == "__main__":
    main()
