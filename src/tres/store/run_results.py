"""The result of a run in files: `pages.csv`, `failures.csv`, `tree.json`, `summary.json`.

They are derived from the journal whenever a crawl ends in an orderly way. `pages.csv` holds nothing
that differs between equal crawls: one seed, one file, byte for byte.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tres.crawl.page_record import CSV, FIELDS
from tres.files.checksummed import signed, verified
from tres.frontier.leaf_rules import TreeView
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_tables import Row
from tres.store.run_directory import (
    FAILURES,
    KEYWORDS,
    PAGES,
    SUMMARY,
    TREE,
    config_of,
    damaged_file,
    read_text,
    text_checksum,
    write_text,
)
from tres.topic.expansion import Expansion

KEYWORD_COLUMNS = ("keyword", "origin", "score", "relevant", "other")
STEP_COLUMNS = tuple(FIELDS[name].encode_name for name in CSV)
FAILURE_COLUMNS = ("url", "kind", "note")


def write_keywords(run: Path, expansion: Expansion) -> None:
    """Write the keywords: score, and mean count in relevant and in other examples."""
    given = [(word, "given", _number(own), "", "") for word, own in expansion.given]
    unknown = [(word, "given", "", "", "") for word in expansion.without_vector]
    found = [
        (new.word, "found", *map(_number, (new.score, new.relevant, new.other)))
        for new in expansion.found
    ]
    write_text(run / KEYWORDS, _csv(KEYWORD_COLUMNS, [*given, *unknown, *found]))


def write_result(
    run: Path, journal: Journal, tree: TreeView | None, summary: dict[str, Any]
) -> None:
    """Write all files that are derived from a crawl at its end; the summary comes last."""
    columns = (*STEP_COLUMNS, *journal.meta.features)
    pages = _csv(columns, (_step(journal, row).values() for row in journal.pages()))
    failures = ([row[name] or "" for name in FAILURE_COLUMNS] for row in journal.failures())
    texts = {PAGES: pages, FAILURES: _csv(FAILURE_COLUMNS, failures)}
    if tree is not None:
        texts[TREE] = tree.to_json()
    for name, text in texts.items():
        write_text(run / name, text)
    checksums = {name: text_checksum(text) for name, text in texts.items()}
    whole = signed({**summary, "checksums": checksums})
    write_text(run / SUMMARY, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")


def read_summary(path: Path) -> dict[str, Any]:
    """Return the summary of a finished run."""
    summary = read_text(path, SUMMARY, "the run has not finished; continue it with 'tres resume'")
    try:
        loaded = json.loads(summary)
        if not isinstance(loaded, dict):
            raise ValueError("it is not an object")
        return verified(loaded, by_hand=False)
    except ValueError as error:
        raise damaged_file(path / SUMMARY, error) from error


def read_pages(path: Path) -> list[dict[str, str]]:
    """Return one row per step of a run, finished or not: the cells of `pages.csv` by column."""
    config_of(path)
    with Journal.open(path / JOURNAL) as journal:
        return [_step(journal, row) for row in journal.pages()]


def read_tree(path: Path) -> TreeView:
    """Return the decision tree of a finished run."""
    summary = read_summary(path)
    text = read_text(
        path, TREE, f"the policy {summary.get('policy', '?')!r} has no tree; try 'tres'"
    )
    try:
        if summary.get("checksums", {}).get(TREE) not in (None, text_checksum(text)):
            raise ValueError("it is not what was written")
        return TreeView.from_json(text)
    except (ValueError, KeyError, TypeError) as error:
        raise damaged_file(path / TREE, error) from error


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


def _number(value: float) -> str:
    """Six digits: enough to check and plot, few enough to read."""
    return f"{value:.6g}"
