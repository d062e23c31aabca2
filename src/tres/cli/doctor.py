"""`tres doctor`: check this machine, item by item, and say how to fix what is missing.

Without what is `MISSING` tres does not work; without what is `OPTIONAL` some part of it does not.
A check changes nothing. This module and `install_checks` import only what a broken installation
still has: a missing package is a result, not a traceback.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import click

from tres.cli.console import messages
from tres.cli.install_checks import (
    Check,
    State,
    check_chromium,
    check_packages,
    check_scrapy,
    check_word_vectors,
    first_line,
    make_check,
    requirements,
)
from tres.distribution import DISTRIBUTION
from tres.errors import printable

OLDEST_PYTHON = (3, 11)
ENOUGH_DISK = 1_000_000_000
ENOUGH_FILES = 256
SOMEWHERE = "http://example.org/"
PATIENCE = 4.0
"""Seconds to wait for the network."""


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check this machine for everything that tres needs.

    Print one line per item: what was found, and how to fix what is missing. `optional` items are
    needed by some part of tres; if an item that all of it needs is `missing`, the exit code is 1.
    Being offline is not an error.

    Example: tres doctor
    """
    checks: list[Check] = []
    with messages().status("checking") as status:
        for check in check_machine(Path("runs"), reach_web):
            checks.append(check)
            status.update(f"checking ({printable(check.name)})")
    if as_json:
        result = {"ok": is_healthy(checks), "checks": [asdict(check) for check in checks]}
        click.echo(json.dumps(result, indent=2))
    else:
        click.echo("\n".join(map(_format, checks)))
    ctx.exit(0 if is_healthy(checks) else 1)


def _format(check: Check) -> str:
    remedy = "" if check.state is State.OK or not check.remedy else f" -> {check.remedy}"
    return printable(f"{check.state:8}  {check.name:10}  {check.found}{remedy}")


def check_machine(runs: Path, reach: Callable[[], str]) -> Iterator[Check]:
    """Run all checks. `reach` says how the network answers, or raises OSError."""
    yield check_python(sys.version_info[:2])
    packages = list(check_packages(requirements(DISTRIBUTION)))
    yield from packages
    if is_healthy(packages):  # these need tres's own packages
        from tres.topic.vectors.cache import vectors_directory

        yield from check_scrapy()
        yield check_word_vectors()
        yield check_chromium()
        yield check_cache(vectors_directory())
    yield check_disk(runs, shutil.disk_usage(_existing(runs)).free)
    yield check_network(reach)
    yield check_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    cores = len(os.sched_getaffinity(0))
    yield Check("processors", State.OK, f"{cores} (`tres bench` uses all)")


def is_healthy(checks: Iterable[Check]) -> bool:
    """Is nothing missing that tres cannot do without?"""
    return all(check.state is not State.MISSING for check in checks)


def check_python(version: tuple[int, ...]) -> Check:
    """Is the interpreter new enough?"""
    remedy = f"install Python {'.'.join(map(str, OLDEST_PYTHON))} or newer"
    found = f"{platform.python_implementation()} {platform.python_version()}"
    return make_check("python", version >= OLDEST_PYTHON, found, remedy, State.MISSING)


def check_disk(runs: Path, free: int) -> Check:
    """Is there room for runs, and may they be written?"""
    found = f"{free / 1e9:.1f} GB free for {runs.absolute()}"
    if not os.access(_existing(runs), os.W_OK):
        problem = f"{runs.absolute()} cannot be written to"
        return Check("disk", State.MISSING, problem, "change to another directory")
    remedy = "free some space, or crawl with --run on another disk"
    return make_check("disk", free >= ENOUGH_DISK, found, remedy, State.MISSING)


def check_cache(directory: Path) -> Check:
    """May converted word vectors be kept?"""
    writable = os.access(_existing(directory), os.W_OK)
    remedy = "set the environment variable TRES_CACHE to a directory that you may write to"
    return make_check("cache", writable, str(directory), remedy)


def check_open_files(limit: int) -> Check:
    """May enough files and connections be open at once?"""
    return make_check("open files", limit >= ENOUGH_FILES, f"{limit:,} at once", "ulimit -n 1024")


def check_network(reach: Callable[[], str]) -> Check:
    """Does the Web answer? Being offline is not an error: offline webs need no network."""
    try:
        return Check("network", State.OK, reach())
    except OSError as problem:
        remedy = "live crawls need it; offline webs (--web) do not"
        return Check("network", State.OPTIONAL, f"offline ({first_line(problem)})", remedy)


def reach_web(url: str = SOMEWHERE, patience: float = PATIENCE) -> str:
    """Fetch a page as a crawl does, without the proxies of the environment."""
    ended: list[str | OSError] = []

    def ask() -> None:
        began = time.monotonic()
        try:
            build_opener(ProxyHandler({})).open(url, timeout=patience).close()
        except HTTPError as refusal:  # an answer as well
            refusal.close()
        except (OSError, HTTPException) as problem:
            reason = getattr(problem, "reason", problem)
            ended.append(OSError(getattr(reason, "strerror", None) or str(reason)))
        ended.append(f"{url} answers in {time.monotonic() - began:.1f} s")

    asking = threading.Thread(target=ask, daemon=True)  # a name lookup has no timeout
    asking.start()
    asking.join(patience + 1)
    answer = ended[0] if ended else TimeoutError("no answer")
    if isinstance(answer, OSError):
        raise answer
    return answer


def _existing(path: Path) -> Path:
    """Return the path itself, or the nearest directory above it that exists."""
    whole = path.absolute()
    return next(each for each in (whole, *whole.parents) if each.exists())
