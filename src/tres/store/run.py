"""The run directory: what a crawl leaves behind, in files that anybody can read.

    config.toml     the resolved configuration: the crawl can be repeated from it
    pages.csv       one line per step: what was fetched, what it earned, why it was chosen
    failures.csv    one line per URL that gave no page
    keywords.csv    the keywords, given and found, if the topic asks for expansion
    tree.json       the decision tree, if the policy has one
    summary.json    the result in numbers, written last: a run without it did not finish
    model/          the relevance model, the newest if there are several (`tres.store.history`)
    history.json    web, budgets and models by the step from which they count
    judgements.jsonl  what a person said about pages, if `tres label` was used

`pages.csv` holds nothing that changes from run to run: one seed, one file, byte for byte.
"""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from tres.crawl.events import Event, FetchFailed, Stepped
from tres.errors import RunError
from tres.frontier.rules import TreeView
from tres.store.history import HISTORY, MODEL
from tres.store.judgements import JUDGEMENTS
from tres.store.table import Table
from tres.topic.expansion import Expansion

CONFIG, PAGES, FAILURES = "config.toml", "pages.csv", "failures.csv"
TREE, SUMMARY, KEYWORDS = "tree.json", "summary.json", "keywords.csv"
KEYWORD_COLUMNS = ("keyword", "origin", "score", "relevant", "other")
STEP_COLUMNS = (
    *("step", "url", "parent", "relevance", "reward", "q", "leaf", "explored", "site"),
    "language",
)


class RunDirectory:
    """Writes one run; use it as a context manager."""

    def __init__(
        self, path: Path, features: Iterable[str], overwrite: bool = False, resume: bool = False
    ) -> None:
        self.path = path
        self._features = tuple(features)
        if not resume:
            _prepare(path, overwrite)
        self._pages = Table(path / PAGES, (*STEP_COLUMNS, *self._features), resume)
        self._failures = Table(path / FAILURES, ("url", "kind"), resume)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pages.close()
        self._failures.close()

    def record(self, event: Event) -> None:
        """Write what belongs into a file."""
        match event:
            case Stepped():
                self._pages.write(self._row(event))
            case FetchFailed(url, kind):
                self._failures.write((url, str(kind)))
            case _:
                pass

    @property
    def recorded(self) -> int:
        """Steps of an earlier crawl that have not been met again yet."""
        return self._pages.recorded

    def write_config(self, toml: str) -> None:
        """Keep the resolved configuration."""
        (self.path / CONFIG).write_text(toml, encoding="utf-8")

    def write_keywords(self, expansion: Expansion) -> None:
        """Keep the keywords: score, and mean count in relevant and in other examples."""
        with (self.path / KEYWORDS).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(KEYWORD_COLUMNS)
            writer.writerows((word, "given", _number(own), "", "") for word, own in expansion.given)
            writer.writerows((word, "given", "", "", "") for word in expansion.without_vector)
            for new in expansion.found:
                figures = map(_number, (new.score, new.relevant, new.other))
                writer.writerow((new.word, "found", *figures))

    def write_tree(self, view: TreeView) -> None:
        """Keep the decision tree."""
        (self.path / TREE).write_text(view.to_json(), encoding="utf-8")

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Keep the result; this ends the run."""
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        (self.path / SUMMARY).write_text(text + "\n", encoding="utf-8")

    def _row(self, step: Stepped) -> list[str | int]:
        return [
            step.step,
            step.url,
            step.parent or "",
            _number(step.relevance),
            int(step.relevant),
            "" if math.isnan(step.q) else _number(step.q),
            "" if step.leaf < 0 else step.leaf,
            int(step.explored),
            step.site,
            step.language,
            *(_number(step.features[name]) for name in self._features),
        ]


def config_of(path: Path) -> Path:
    """The configuration of a run, finished or not."""
    _read(path, CONFIG, "run the crawl again")
    return path / CONFIG


def read_summary(path: Path) -> dict[str, Any]:
    """The result of a finished run."""
    summary = _read(path, SUMMARY, "the run has not finished; run the crawl again")
    try:
        loaded = json.loads(summary)
    except ValueError as error:
        raise _damaged(path / SUMMARY, error) from error
    if not isinstance(loaded, dict):
        raise _damaged(path / SUMMARY, "it is not an object")
    return loaded


def read_pages(path: Path) -> list[dict[str, str]]:
    """One row per step, by the names of the columns; a last line cut by a crash does not count."""
    text = _read(path, PAGES, "run the crawl again")
    rows = list(csv.DictReader(text[: text.rfind("\n") + 1].splitlines()))
    if any(row.get("url") is None or row.get("relevance") is None for row in rows):
        raise _damaged(path / PAGES, "columns are missing")
    return rows


def read_tree(path: Path) -> TreeView:
    """The decision tree of a finished run."""
    summary = read_summary(path)
    text = _read(path, TREE, f"the policy {summary.get('policy', '?')!r} has no tree; try 'tres'")
    try:
        return TreeView.from_json(text)
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(path / TREE, error) from error


def _read(run: Path, name: str, remedy: str) -> str:
    if not run.is_dir():
        raise RunError(f"{run}: no such run directory; name one that 'tres crawl' has written")
    if not (run / CONFIG).exists() and not (run / SUMMARY).exists():
        raise RunError(f"{run}: not a run directory; name one that 'tres crawl' has written")
    try:
        return (run / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise RunError(f"{run}: there is no {name}: {remedy}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise _damaged(run / name, error) from error


def _damaged(file: Path, reason: object) -> RunError:
    return RunError(f"{file}: damaged ({reason}); run the crawl again")


def _prepare(path: Path, overwrite: bool) -> None:
    if path.exists() and not path.is_dir():
        raise RunError(f"{path}: is a file; name a directory for the run")
    if path.exists() and any(path.iterdir()):
        if not (path / CONFIG).exists():
            raise RunError(f"{path}: holds other files; name a new directory for the run")
        if not overwrite:
            raise RunError(f"{path}: holds a run already; name another --run, or add --overwrite")
        for name in (CONFIG, PAGES, FAILURES, KEYWORDS, TREE, SUMMARY, HISTORY, JUDGEMENTS):
            (path / name).unlink(missing_ok=True)
        for old in path.glob(f"{MODEL}-*"):
            shutil.rmtree(old)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{path}: cannot be made ({error.strerror}); name another --run") from error


def _number(value: float) -> str:
    """Six digits: enough to check and plot, few enough to read."""
    return f"{value:.6g}"
