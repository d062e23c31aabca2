"""The run directory: the files of a crawl, most of them readable by people.

    journal.db      the crawl itself: every choice, every page, every failure (`store.journal`)
    journal.mark    how far the journal must reach (`store.high_water_mark`)
    snapshot.bin    a shortcut through a long journal (`store.snapshot_files`); may be deleted
    config.toml     the resolved configuration: the crawl can be repeated from it; its last line
                    is a checksum of the others
    model/          the relevance model, the newest if there are several (`store.model_versions`)
    keywords.csv    the keywords, given and found, if the topic asks for expansion
    judgements.jsonl  what people or a teacher said about pages, if `tres label` was used
    verdicts.json   what the newest model says of the pages, if they were judged again
    teacher.jsonl   every answer of a teacher, so that none is paid for twice
    pages-NNNNN.warc.gz  the raw pages of a live crawl (`tres.store.warc_writer`)
    orders/         orders to a crawl that is running (`store.orders`)
    state.json      what a crawl that is running does now (`store.run_state`)

and, derived from the journal whenever a crawl ends in an orderly way, and again when its pages are
judged (`store.run_results`):

    pages.csv       one line per step: what was fetched, what it earned, why it was chosen
    failures.csv    one line per URL that gave no page
    tree.json       the decision tree, if the policy has one
    summary.json    the result in numbers, written last: a crawl without it is not at its end
    report.html     the report of `tres report`

One process writes to a run directory at a time. It locks the directory itself, so that the lock
ends with the process, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import sqlite3
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path

from tres.engines.scrapy.logs import LOG
from tres.errors import RunError, SeedError, printable
from tres.files import opening as files
from tres.files.durable import UNFINISHED, replace_file
from tres.store.high_water_mark import MARK
from tres.store.journal import JOURNAL
from tres.store.judgements import JUDGEMENTS
from tres.store.model_versions import MODEL
from tres.store.orders import ORDERS
from tres.store.snapshot_files import SNAPSHOT
from tres.store.teacher_cache import TEACHER
from tres.store.verdicts import VERDICTS
from tres.store.warc_writer import PARTS, parts_of

CONFIG, PAGES, FAILURES = "config.toml", "pages.csv", "failures.csv"
TREE, SUMMARY, KEYWORDS = "tree.json", "summary.json", "keywords.csv"
STATE, REPORT = "state.json", "report.html"
_OWN_FILES = (
    *(CONFIG, PAGES, FAILURES, KEYWORDS, TREE, SUMMARY, JUDGEMENTS, SNAPSHOT),
    *(STATE, REPORT, LOG, TEACHER, VERDICTS),
    *(JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", f"{JOURNAL}-journal", MARK),
    *("examples.jsonl.gz", "exploration.jsonl"),  # of earlier versions
)
_CHECKSUM = "# checksum: "
_MOST_BYTES = 100_000_000
"""The maximum size of a file that is read as a whole; the largest is the tree."""
PATIENCE = 0.5
"""Seconds for which a lock is tried: another process may just be testing it."""
_BETWEEN_TRIES = 0.02


def is_run(path: Path) -> bool:
    """Whether a directory holds a run, by the names of its files."""
    return (path / CONFIG).is_file() and (path / JOURNAL).is_file()


def refuse_taken(path: Path, overwrite: bool) -> None:
    """Refuse a directory that cannot take a new run; nothing is changed."""
    if path.exists() and not path.is_dir():
        raise RunError(f"{path}: is a file; name a directory for the run")
    if not path.exists() or not any(path.iterdir()):
        return
    if not (path / CONFIG).exists() and not all(map(_is_own, path.iterdir())):
        raise RunError(f"{path}: holds other files; name a new directory for the run")
    if not overwrite:
        raise RunError(f"{path}: holds a run already; name another --run, or add --overwrite")
    with lock_run(path):
        pass


def prepare(path: Path, overwrite: bool) -> None:
    """Make an empty directory for a new run; an earlier run is deleted only with `overwrite`."""
    refuse_taken(path, overwrite)
    if path.exists():
        with lock_run(path):
            _clear(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{path}: cannot be made ({error.strerror}); name another --run") from error


def _is_own(entry: Path) -> bool:
    """Whether a crawl writes such a file, and may leave it if it is killed at its start."""
    name = entry.name.removesuffix(UNFINISHED)
    patterns = (*_OWN_FILES, PARTS, MODEL, f"{MODEL}-*", ORDERS)
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _clear(path: Path) -> None:
    for name in _OWN_FILES:
        (path / name).unlink(missing_ok=True)
    for old_file in (*path.glob(f"*{UNFINISHED}"), *parts_of(path)):
        old_file.unlink()
    for old in path.glob(f"{MODEL}-*"):
        shutil.rmtree(old)
    shutil.rmtree(path / ORDERS, ignore_errors=True)


def write_config(run: Path, toml: str) -> None:
    """Write the resolved configuration, with its checksum."""
    write_text(run / CONFIG, f"{toml}{_CHECKSUM}{text_checksum(toml)}\n")


def config_of(path: Path) -> Path:
    """Return the path of a run's configuration; `RunError` if it was altered."""
    text = read_text(path, CONFIG, "run the crawl again")
    toml, sign, checksum = text.rpartition(_CHECKSUM)
    if not sign:
        toml = text
    if checksum != f"{text_checksum(toml)}\n" or not sign:
        raise RunError(
            f"{path / CONFIG}: damaged, or changed by hand; put back a copy of it, or, if it is as "
            f"it should be, end it with the line '{_CHECKSUM}{text_checksum(toml)}'"
        )
    return path / CONFIG


def write_text(file: Path, text: str) -> None:
    """Replace a text file in one piece."""
    replace_file(file, text.encode())


def read_text(run: Path, name: str, remedy: str) -> str:
    """Return the text of a file of a run; `RunError` with the remedy if it is missing."""
    if not run.is_dir():
        raise RunError(f"{run}: no such run directory; name one that 'tres crawl' has written")
    if not (run / CONFIG).exists() and not (run / SUMMARY).exists():
        raise RunError(f"{run}: not a run directory; name one that 'tres crawl' has written")
    try:
        return files.content(run / name, _MOST_BYTES).decode()
    except FileNotFoundError as error:
        raise RunError(f"{run}: there is no {name}: {remedy}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise damaged_file(run / name, error) from error


def damaged_file(file: Path, reason: object) -> RunError:
    """Return the error for a file that differs from what was written."""
    return RunError(f"{file}: damaged ({reason}); run the crawl again")


def text_checksum(text: str) -> str:
    """The checksum of a text, in hexadecimal digits."""
    return f"{zlib.crc32(text.encode()):08x}"


class LockedError(RunError):
    """Another process writes to this run."""


@contextmanager
def lock_run(path: Path) -> Iterator[None]:
    """Hold the lock of a run; `LockedError` if another process has it."""
    directory = os.open(path, os.O_RDONLY)
    try:
        if not _try_lock(directory, time.monotonic() + PATIENCE):
            raise LockedError(
                f"{path}: another tres is crawling there; wait until it has ended, or stop it"
            )
        yield
    finally:
        os.close(directory)


def is_locked(path: Path) -> bool:
    """Whether a process writes to this run; the test is too brief to stop another from locking."""
    try:
        directory = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(directory, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(directory)
    return False


def _try_lock(directory: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_BETWEEN_TRIES)
        else:
            return True


def command_to_resume(run: Path) -> str:
    """Return the command that resumes a run."""
    return f"tres resume {shlex.quote(str(run))}"


@contextmanager
def resume_hint(run: Path) -> Iterator[None]:
    """Add to any error that ends a crawl how to resume it: its journal is intact."""
    try:
        yield
    except (RunError, SeedError):
        raise  # these say themselves what to do
    except Exception as error:
        again = command_to_resume(run)
        error.add_note(printable(f"the pages fetched so far are kept; continue: {again}"))
        raise


@contextmanager
def write_errors(run: Path, remedy: str = "") -> Iterator[None]:
    """Turn a failed write into a `RunError` that says what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        reason = getattr(error, "strerror", None) or error
        go_on = f"free some space, then: {command_to_resume(run)}"
        raise RunError(f"{run}: cannot be written ({reason}); {remedy or go_on}") from error
