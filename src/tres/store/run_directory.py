"""The run directory: what a crawl leaves behind, in files that anybody can read.

    journal.db      the crawl itself: every choice, every page, every failure (`store.journal`)
    journal.mark    how far the journal must reach (`store.high_water_mark`)
    snapshot.bin    a shortcut through a long journal (`store.snapshot_files`); may be deleted
    config.toml     the resolved configuration: the crawl can be repeated from it; its last line
                    is a checksum of the others
    model/          the relevance model, the newest if there are several (`store.model_versions`)
    examples.jsonl.gz  what a model without labels has learnt from
    keywords.csv    the keywords, given and found, if the topic asks for expansion
    judgements.jsonl  what a person said about pages, if `tres label` was used
    pages-NNNNN.warc.gz  the raw pages of a live crawl (`tres.store.warc_writer`)
    orders/         what a crawl is told while it is going on (`store.orders`)
    state.json      what a crawl that is going on does now (`store.run_state`)
    exploration.jsonl  what was fetched to learn the topic, until the crawl begins

and, derived from the journal whenever a crawl comes to an orderly end:

    pages.csv       one line per step: what was fetched, what it earned, why it was chosen
    failures.csv    one line per URL that gave no page
    tree.json       the decision tree, if the policy has one
    summary.json    the result in numbers, written last: a crawl without it is not at its end
    report.html     what `tres report` made of it

`pages.csv` holds nothing that changes from run to run: one seed, one file, byte for byte.
"""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import shutil
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tres.crawl.page_record import CSV, FIELDS
from tres.engines.scrapy.logs import LOG
from tres.errors import RunError
from tres.files import opening as files
from tres.files.checksummed import signed, verified
from tres.files.durable import UNFINISHED, replace_file
from tres.frontier.leaf_rules import TreeView
from tres.store.exploration_log import EXPLORATION
from tres.store.guessed_examples import EXAMPLES
from tres.store.high_water_mark import MARK
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_tables import Row
from tres.store.judgements import JUDGEMENTS
from tres.store.model_versions import MODEL
from tres.store.orders import ORDERS
from tres.store.snapshot_files import SNAPSHOT
from tres.store.warc_writer import PARTS, parts_of
from tres.topic.expansion import Expansion

CONFIG, PAGES, FAILURES = "config.toml", "pages.csv", "failures.csv"
TREE, SUMMARY, KEYWORDS = "tree.json", "summary.json", "keywords.csv"
STATE, REPORT = "state.json", "report.html"
KEYWORD_COLUMNS = ("keyword", "origin", "score", "relevant", "other")
STEP_COLUMNS = tuple(FIELDS[name].encode_name for name in CSV)
FAILURE_COLUMNS = ("url", "kind", "note")
_OWN_FILES = (
    *(CONFIG, PAGES, FAILURES, KEYWORDS, TREE, SUMMARY, JUDGEMENTS, EXAMPLES, SNAPSHOT),
    *(STATE, REPORT, LOG, EXPLORATION),
    *(JOURNAL, f"{JOURNAL}-wal", f"{JOURNAL}-shm", f"{JOURNAL}-journal", MARK),
)
_CHECKSUM = "# checksum: "
_MOST_BYTES = 100_000_000
"""Of a file that is read as a whole; the largest is the tree."""
PATIENCE = 0.5
"""Seconds that a claim is tried for: somebody may just be looking whether there is one."""
_BETWEEN_TRIES = 0.02


class TakenError(RunError):
    """Somebody else writes to this run just now."""


def is_run(path: Path) -> bool:
    """Does a directory hold a run, as far as its files tell?"""
    return (path / CONFIG).is_file() and (path / JOURNAL).is_file()


def is_exploring(path: Path) -> bool:
    """Has a run begun to learn its topic, and got no further?"""
    return (path / CONFIG).is_file() and _has_exploration(path)


def _has_exploration(path: Path) -> bool:
    """The configuration comes second: a kill in between leaves an exploration without one."""
    return (path / EXPLORATION).is_file() and not (path / JOURNAL).exists()


def refuse_taken(path: Path, overwrite: bool, explored: bool = False) -> None:
    """`RunError` if no new run can be written there; nothing is touched.

    With `explored`, an exploration that was stopped there may be gone on with.
    """
    if path.exists() and not path.is_dir():
        raise RunError(f"{path}: is a file; name a directory for the run")
    if not path.exists() or not any(path.iterdir()):
        return
    if explored and _has_exploration(path):
        with claimed(path):
            return
    if not (path / CONFIG).exists() and not all(map(_is_own, path.iterdir())):
        raise RunError(f"{path}: holds other files; name a new directory for the run")
    if not overwrite:
        raise RunError(f"{path}: holds a run already; name another --run, or add --overwrite")
    with claimed(path):
        pass


def prepare(path: Path, overwrite: bool, explored: bool = False) -> None:
    """An empty directory for a new run; an earlier run there goes only if that was said.

    With `explored`, what an exploration has fetched there stays.
    """
    refuse_taken(path, overwrite, explored)
    goes_on = explored and not overwrite and _has_exploration(path)
    if path.exists() and not goes_on:
        with claimed(path):
            _clear(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{path}: cannot be made ({error.strerror}); name another --run") from error


def forget_exploration(path: Path) -> None:
    """Leave nothing of an exploration from which nothing can be learnt."""
    for name in (EXPLORATION, CONFIG):
        (path / name).unlink(missing_ok=True)
    with suppress(OSError):  # it holds other files
        path.rmdir()


def _is_own(entry: Path) -> bool:
    """Is it something that a crawl writes, and may leave if it is killed while it begins?"""
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


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Nobody else writes to this run meanwhile; the end of the process ends the claim."""
    directory = os.open(path, os.O_RDONLY)
    try:
        if not _locked(directory, time.monotonic() + PATIENCE):
            raise TakenError(
                f"{path}: another tres is crawling there; wait until it has ended, or stop it"
            )
        yield
    finally:
        os.close(directory)


def is_claimed(path: Path) -> bool:
    """Does somebody write to this run? Asking disturbs nobody who tries for some moments."""
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


def _locked(directory: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_BETWEEN_TRIES)
        else:
            return True


def write_config(run: Path, toml: str) -> None:
    """Keep the resolved configuration."""
    _write(run / CONFIG, f"{toml}{_CHECKSUM}{_checksum(toml)}\n")


def write_keywords(run: Path, expansion: Expansion) -> None:
    """Keep the keywords: score, and mean count in relevant and in other examples."""
    given = [(word, "given", _number(own), "", "") for word, own in expansion.given]
    unknown = [(word, "given", "", "", "") for word in expansion.without_vector]
    found = [
        (new.word, "found", *map(_number, (new.score, new.relevant, new.other)))
        for new in expansion.found
    ]
    _write(run / KEYWORDS, _csv(KEYWORD_COLUMNS, [*given, *unknown, *found]))


def write_result(
    run: Path, journal: Journal, tree: TreeView | None, summary: dict[str, Any]
) -> None:
    """All that is derived from a crawl at its end; the summary comes last."""
    columns = (*STEP_COLUMNS, *journal.meta.features)
    pages = _csv(columns, (_step(journal, row).values() for row in journal.pages()))
    failures = ([row[name] or "" for name in FAILURE_COLUMNS] for row in journal.failures())
    texts = {PAGES: pages, FAILURES: _csv(FAILURE_COLUMNS, failures)}
    if tree is not None:
        texts[TREE] = tree.to_json()
    for name, text in texts.items():
        _write(run / name, text)
    checksums = {name: _checksum(text) for name, text in texts.items()}
    whole = signed({**summary, "checksums": checksums})
    _write(run / SUMMARY, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")


def config_of(path: Path) -> Path:
    """The configuration of a run, finished or not; `RunError` if it is not what was written."""
    text = _read(path, CONFIG, "run the crawl again")
    toml, sign, checksum = text.rpartition(_CHECKSUM)
    if not sign:
        toml = text
    if checksum != f"{_checksum(toml)}\n" or not sign:
        raise RunError(
            f"{path / CONFIG}: damaged, or changed by hand; put back a copy of it, or, if it is as "
            f"it should be, end it with the line '{_CHECKSUM}{_checksum(toml)}'"
        )
    return path / CONFIG


def read_summary(path: Path) -> dict[str, Any]:
    """The result of a finished run."""
    summary = _read(path, SUMMARY, "the run has not finished; go on with 'tres resume'")
    try:
        loaded = json.loads(summary)
        if not isinstance(loaded, dict):
            raise ValueError("it is not an object")
        return verified(loaded, by_hand=False)
    except ValueError as error:
        raise _damaged(path / SUMMARY, error) from error


def read_pages(path: Path) -> list[dict[str, str]]:
    """One row per step of a run, finished or not: the columns of `pages.csv` by name."""
    config_of(path)
    with Journal.open(path / JOURNAL) as journal:
        return [_step(journal, row) for row in journal.pages()]


def read_tree(path: Path) -> TreeView:
    """The decision tree of a finished run."""
    summary = read_summary(path)
    text = _read(path, TREE, f"the policy {summary.get('policy', '?')!r} has no tree; try 'tres'")
    try:
        if summary.get("checksums", {}).get(TREE) not in (None, _checksum(text)):
            raise ValueError("it is not what was written")
        return TreeView.from_json(text)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path / TREE, error) from error


def _step(journal: Journal, row: Row) -> dict[str, str]:
    return {name: _shown(row[name]) for name in (*STEP_COLUMNS, *journal.meta.features)}


def _shown(value: object) -> str:
    if value is None:
        return ""
    return _number(value) if isinstance(value, float) else str(value)


def _csv(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _write(file: Path, text: str) -> None:
    """Replace a file in one piece: neither a reader nor a power cut meets half of it."""
    replace_file(file, text.encode())


def _read(run: Path, name: str, remedy: str) -> str:
    if not run.is_dir():
        raise RunError(f"{run}: no such run directory; name one that 'tres crawl' has written")
    if not (run / CONFIG).exists() and not (run / SUMMARY).exists():
        raise RunError(f"{run}: not a run directory; name one that 'tres crawl' has written")
    try:
        return files.content(run / name, _MOST_BYTES).decode()
    except FileNotFoundError as error:
        raise RunError(f"{run}: there is no {name}: {remedy}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(run / name, error) from error


def _damaged(file: Path, reason: object) -> RunError:
    return RunError(f"{file}: damaged ({reason}); run the crawl again")


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _number(value: float) -> str:
    """Six digits: enough to check and plot, few enough to read."""
    return f"{value:.6g}"
