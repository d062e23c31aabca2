"""The result of a run in files: `pages.csv`, `failures.csv`, `tree.json`, `summary.json`.

They are derived from the journal whenever a crawl ends in an orderly way. `pages.csv` holds nothing
that differs between equal crawls: one seed, one file, byte for byte. What is relevant follows
`tres.store.verdicts`. Where nobody has said anything since the pages were fetched, `reward` is the
answer; otherwise `pages.csv` has two columns more, and the summary says who judged.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator
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
from tres.store.verdicts import Verdict, Verdicts, read_verdicts
from tres.topic.expansion import Expansion

KEYWORD_COLUMNS = ("keyword", "origin", "score", "relevant", "other")
STEP_COLUMNS = tuple(FIELDS[name].encode_name for name in CSV)
VERDICT_COLUMNS = ("relevant", "judged_by")
"""Of pages that somebody has judged, or a newer model; exports always have them."""
JUDGED_BY, CHECKSUMS = "judged_by", "checksums"
"""Keys of a summary: pages by who judged them, and the checksums of the other files."""
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
) -> dict[str, Any]:
    """Write all files that are derived from a crawl at its end; return the summary.

    The summary is written last. Its numbers of relevant pages are those of the verdicts.
    """
    verdicts = read_verdicts(run, journal)
    failures = ([row[name] or "" for name in FAILURE_COLUMNS] for row in journal.failures())
    texts = {PAGES: _pages(journal, verdicts), FAILURES: _csv(FAILURE_COLUMNS, failures)}
    if tree is not None:
        texts[TREE] = tree.to_json()
    if verdicts:
        summary = summary | _relevance(journal, verdicts)
    _write_files(run, texts, summary)
    return summary


def rewrite_result(run: Path) -> None:
    """Bring the files of a run up to date with its verdicts, if it has ended in good order."""
    if not (run / SUMMARY).exists():
        return
    summary = read_summary(run)
    with Journal.open(run / JOURNAL) as journal:
        verdicts = read_verdicts(run, journal)
        old = {key: value for key, value in summary.items() if key != JUDGED_BY}
        _write_files(run, {PAGES: _pages(journal, verdicts)}, old | _relevance(journal, verdicts))


def _write_files(run: Path, texts: dict[str, str], summary: dict[str, Any]) -> None:
    for name, text in texts.items():
        write_text(run / name, text)
    new = {name: text_checksum(text) for name, text in texts.items()}
    numbers = {key: value for key, value in summary.items() if key != CHECKSUMS}
    whole = signed({**numbers, CHECKSUMS: summary.get(CHECKSUMS, {}) | new})
    write_text(run / SUMMARY, json.dumps(whole, indent=2, ensure_ascii=False) + "\n")


def _pages(journal: Journal, verdicts: Verdicts) -> str:
    columns = (*STEP_COLUMNS, *(VERDICT_COLUMNS if verdicts else ()), *journal.meta.features)
    rows = ([row[name] for name in columns] for row in _steps(journal, verdicts))
    return _csv(columns, rows)


def _relevance(journal: Journal, verdicts: Verdicts) -> dict[str, Any]:
    """The part of a summary that follows from the verdicts; no judges if nobody has judged."""
    pages, judges, sites = 0, Counter[str](), Counter[str]()
    for row in journal.pages():
        verdict = _verdict(row, verdicts)
        pages += 1
        judges[verdict.judged_by] += 1
        sites.update([row["site"]] if verdict.relevant else [])
    relevant = sites.total()
    return {
        "relevant": relevant,
        "harvest_rate": relevant / pages if pages else 0.0,
        "relevant_sites": len(sites),
        **({JUDGED_BY: dict(sorted(judges.items()))} if verdicts else {}),
    }


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
    """Return one row per step of a run, finished or not: the cells of `pages.csv` by column.

    They always say who judged.
    """
    config_of(path)
    with Journal.open(path / JOURNAL) as journal:
        return list(_steps(journal, read_verdicts(path, journal)))


def read_tree(path: Path) -> TreeView:
    """Return the decision tree of a finished run."""
    summary = read_summary(path)
    text = read_text(
        path, TREE, f"the policy {summary.get('policy', '?')!r} has no tree; try 'tres'"
    )
    try:
        if summary.get(CHECKSUMS, {}).get(TREE) not in (None, text_checksum(text)):
            raise ValueError("it is not what was written")
        return TreeView.from_json(text)
    except (ValueError, KeyError, TypeError) as error:
        raise damaged_file(path / TREE, error) from error


def _steps(journal: Journal, verdicts: Verdicts) -> Iterator[dict[str, str]]:
    columns = (*STEP_COLUMNS, *VERDICT_COLUMNS, *journal.meta.features)
    for row in journal.pages():
        verdict = _verdict(row, verdicts)
        known = row | verdict._asdict() | {"relevant": int(verdict.relevant)}
        yield {name: _shown(known[name]) for name in columns}


def _verdict(row: Row, verdicts: Verdicts) -> Verdict:
    return verdicts.of(row["step"], row["url"], row["relevance"], bool(row["reward"]))


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
