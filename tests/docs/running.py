"""A place to run examples in, with the `tres` and `python` of the tests and without the Internet.

Commands run in a shell in their own directory. Port 8080 of the pages is replaced by a free port. A
program that resolves or connects to anything but this machine fails, so no example reaches the
Internet by accident.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep
from typing import Self

SECONDS = 600
PORT = "8080"
SQLITE = """
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print(*row, sep="|")
"""
GUARD = """
import sys

def _refuse_other_machines(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    elif event == "socket.getaddrinfo":
        host = arguments[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else str(host or "")
    if host not in ("", "localhost", "::1") and not host.startswith("127."):
        raise PermissionError(f"an example of the documentation wants to reach {host}")

sys.addaudithook(_refuse_other_machines)
"""


class Workplace:
    """A directory in which blocks run; processes they leave behind are killed with it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._reserved = _free_port()
        self._port = str(self._reserved.getsockname()[1])
        self._groups: list[int] = []
        self._tools = directory / ".tools"
        self._output = self._tools / "output.txt"

    def __enter__(self) -> Self:
        self._tools.mkdir(parents=True, exist_ok=True)
        (self._tools / "sitecustomize.py").write_text(GUARD)
        self._tool("tres", f"{shlex.quote(sys.executable)} -m tres")
        self._tool("python", shlex.quote(sys.executable))
        if shutil.which("sqlite3") is None:
            self._tool("sqlite3", f"{shlex.quote(sys.executable)} -c {shlex.quote(SQLITE)}")
        return self

    def __exit__(self, *_: object) -> None:
        self._reserved.close()
        for group in self._groups:
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(PORT, self._port) + "\n", encoding="utf-8")

    def shell(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run commands up to the first that fails; wait for a server that they start."""
        done = self._run(["bash", "-eu", "-c", text.replace(PORT, self._port)])
        if text.rstrip().endswith("&") and PORT in text:
            self._wait_for_server()
        return done

    def python(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run a Python program."""
        script = self.directory / ".block.py"  # beside what it may import
        script.write_text(text.replace(PORT, self._port))
        return self._run([str(self._tools / "python"), str(script)])

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Send output to a file: a server left running would keep a pipe open."""
        with self._output.open("w", encoding="utf-8") as output:
            process = subprocess.Popen(
                command,
                cwd=self.directory,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._groups.append(process.pid)
            code = process.wait(SECONDS)
        text = self._output.read_text(encoding="utf-8").replace(self._port, PORT)
        return subprocess.CompletedProcess(command, code, text)

    def _wait_for_server(self) -> None:
        end = monotonic() + SECONDS
        while monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", int(self._port))) == 0:
                    return
            sleep(0.1)
        raise TimeoutError(f"nothing listens: {self._output.read_text()}")

    def _environment(self) -> dict[str, str]:
        ours = Path(sys.executable).parent
        paths = [str(self._tools), *filter(None, [os.environ.get("PYTHONPATH")])]
        return os.environ | {
            "PATH": os.pathsep.join((str(self._tools), str(ours), os.environ["PATH"])),
            "PYTHONPATH": os.pathsep.join(paths),
            "COLUMNS": "100",
            "NO_COLOR": "1",
        }

    def _tool(self, name: str, command: str) -> None:
        path = self._tools / name
        path.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        path.chmod(0o755)


def _free_port() -> socket.socket:
    """Reserve a port: nobody else gets it while this socket is open, but a server can listen there,
    because both reuse the address."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved
