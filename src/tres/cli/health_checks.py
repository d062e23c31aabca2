"""Is everything here that tres needs? One check per thing, each with what to do about it.

What is missing is of two kinds: without the one tres does not work (`MISSING`), without the
other some part of it does not (`OPTIONAL`). A check looks and changes nothing.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from tres.bench.comparison import cores
from tres.cli.installed import (
    Check,
    State,
    chromium,
    first_line,
    judged,
    packages,
    requirements,
    word_vectors,
)
from tres.distribution import DISTRIBUTION
from tres.topic.vectors.cache import vectors_directory

OLDEST_PYTHON = (3, 11)
ENOUGH_DISK = 1_000_000_000
ENOUGH_FILES = 256
SOMEWHERE = "http://example.org/"
PATIENCE = 4.0
"""Seconds to wait for the network."""


def examine(runs: Path, reach: Callable[[], str]) -> Iterator[Check]:
    """All checks. `reach` says how the network answers, or raises OSError."""
    yield python_version(sys.version_info[:2])
    yield from packages(requirements(DISTRIBUTION))
    yield word_vectors()
    yield chromium()
    yield disk(runs, shutil.disk_usage(_there(runs)).free)
    yield cache(vectors_directory())
    yield network(reach)
    yield open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    yield Check("processors", State.OK, f"{cores()} (`tres bench` uses all)")


def well(checks: Iterable[Check]) -> bool:
    """Is all there that must be?"""
    return all(check.state is not State.MISSING for check in checks)


def python_version(version: tuple[int, ...]) -> Check:
    """Is the interpreter new enough?"""
    remedy = f"install Python {'.'.join(map(str, OLDEST_PYTHON))} or newer"
    found = f"{platform.python_implementation()} {platform.python_version()}"
    return judged("python", version >= OLDEST_PYTHON, found, remedy, State.MISSING)


def disk(runs: Path, free: int) -> Check:
    """Is there room for runs, and may we write there?"""
    found = f"{free / 1e9:.1f} GB free for {runs.absolute()}"
    if not os.access(_there(runs), os.W_OK):
        return Check(
            "disk", State.MISSING, f"{runs.absolute()} cannot be written to", "cd elsewhere"
        )
    remedy = "free some space, or crawl with --run on another disk"
    return judged("disk", free >= ENOUGH_DISK, found, remedy, State.MISSING)


def cache(directory: Path) -> Check:
    """May we keep converted word vectors?"""
    writable = os.access(_there(directory), os.W_OK)
    remedy = "name a directory that you may write to in the environment variable TRES_CACHE"
    return judged("cache", writable, str(directory), remedy)


def open_files(limit: int) -> Check:
    """May enough files and connections be open at once?"""
    return judged("open files", limit >= ENOUGH_FILES, f"{limit:,} at once", "ulimit -n 1024")


def network(reach: Callable[[], str]) -> Check:
    """Does the Web answer? Offline is no fault: a web that is here needs none."""
    try:
        return Check("network", State.OK, reach())
    except OSError as problem:
        remedy = "live crawls need it; webs that are here (--web) do not"
        return Check("network", State.OPTIONAL, f"offline ({first_line(problem)})", remedy)


def reach_web(url: str = SOMEWHERE, patience: float = PATIENCE) -> str:
    """Ask for a page as a crawl does, without the proxies of the environment."""
    ended: list[str | OSError] = []

    def ask() -> None:
        began = time.monotonic()
        try:
            build_opener(ProxyHandler({})).open(url, timeout=patience).close()
        except HTTPError as refusal:  # an answer as well
            refusal.close()
        except (OSError, HTTPException) as problem:
            ended.append(OSError(str(problem)))
        ended.append(f"{url} answers in {time.monotonic() - began:.1f} s")

    asking = threading.Thread(target=ask, daemon=True)  # looking a name up knows no timeout
    asking.start()
    asking.join(patience + 1)
    answer = ended[0] if ended else TimeoutError("no answer")
    if isinstance(answer, OSError):
        raise answer
    return answer


def _there(path: Path) -> Path:
    """The path itself, or the directory above it that exists."""
    whole = path.absolute()
    return next(each for each in (whole, *whole.parents) if each.exists())
