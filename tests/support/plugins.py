"""Packages of other people: installed as pip leaves them, and commands that can see them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import tres
from tres.store.journal import JOURNAL, Journal

EXAMPLES = Path(__file__).parents[2] / "examples"


def install(example: Path, place: Path) -> Path:
    """Put the package of an example into a directory of installed packages."""
    project = tomllib.loads((example / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    module = name.replace("-", "_")
    shutil.copy(example / f"{module}.py", place)
    metadata = place / f"{module}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    )
    (metadata / "entry_points.txt").write_text("\n".join(groups))
    return place


class Shell:
    """Runs tres in a directory, with or without further packages installed."""

    def __init__(self, directory: Path, packages: Path | None) -> None:
        self.directory = directory
        path = os.environ.get("PYTHONPATH", "")
        installed = [path] if packages is None else [str(packages), path]
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, installed))}

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "tres", *map(str, arguments)],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: object, typed: str = "") -> tuple[int, str]:
        with self.start(*arguments) as process:
            out, err = process.communicate(typed, timeout=120)
        return process.returncode, out + err


def kill_midway(shell: Shell, run: Path, *arguments: object) -> None:
    """Start a crawl, and kill it once it has some pages."""
    with shell.start(*arguments, "--run", run) as process:
        deadline = time.monotonic() + 60
        while pages_of(run) < 30:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)


def pages_of(run: Path) -> int:
    """How many pages the journal of a run has."""
    try:
        with Journal.open(run / JOURNAL) as journal:
            return journal.steps()
    except tres.TresError:
        return 0
