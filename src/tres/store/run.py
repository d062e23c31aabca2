"""The run directory: what a crawl leaves behind, in files that anybody can read.

    config.toml     the resolved configuration: the crawl can be repeated from it
    pages.csv       one line per step: what was fetched, what it earned, why it was chosen
    failures.csv    one line per URL that gave no page
    keywords.csv    the keywords, given and found, if the topic asks for expansion
    tree.json       the decision tree, if the policy has one
    summary.json    the result in numbers, written last: a run without it did not finish
    model/          the relevance model

`pages.csv` holds nothing that changes from run to run: one seed, one file, byte for byte.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Self

from tres.crawl.events import Event, FetchFailed, Stepped
from tres.errors import RunError
from tres.frontier.rules import TreeView
from tres.topic.expansion import Expansion

CONFIG, PAGES, FAILURES = "config.toml", "pages.csv", "failures.csv"
TREE, SUMMARY, MODEL = "tree.json", "summary.json", "model"
KEYWORDS = "keywords.csv"
KEYWORD_COLUMNS = ("keyword", "origin", "score", "relevant", "other")
STEP_COLUMNS = ("step", "url", "parent", "relevance", "reward", "q", "leaf", "explored", "site")


class RunDirectory:
    """Writes one run; use it as a context manager."""

    def __init__(self, path: Path, features: Iterable[str], overwrite: bool = False) -> None:
        self.path = path
        self._features = tuple(features)
        _prepare(path, overwrite)
        self._pages_file = _open(path / PAGES)
        self._failures_file = _open(path / FAILURES)
        self._pages = csv.writer(self._pages_file, lineterminator="\n")
        self._failures = csv.writer(self._failures_file, lineterminator="\n")
        self._pages.writerow((*STEP_COLUMNS, *self._features))
        self._failures.writerow(("url", "kind"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._pages_file.close()
        self._failures_file.close()

    def record(self, event: Event) -> None:
        """Write what belongs into a file."""
        match event:
            case Stepped():
                self._pages.writerow(self._row(event))
            case FetchFailed(url, kind):
                self._failures.writerow((url, str(kind)))
            case _:
                pass

    def write_config(self, toml: str) -> None:
        """Keep the resolved configuration."""
        (self.path / CONFIG).write_text(toml, encoding="utf-8")

    def write_keywords(self, expansion: Expansion) -> None:
        """Keep the keywords: score, and mean count in relevant and in other examples."""
        with _open(self.path / KEYWORDS) as file:
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
            *(_number(step.features[name]) for name in self._features),
        ]


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
        for name in (CONFIG, PAGES, FAILURES, KEYWORDS, TREE, SUMMARY):
            (path / name).unlink(missing_ok=True)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{path}: cannot be made ({error.strerror}); name another --run") from error


def _open(path: Path) -> TextIOWrapper:
    return path.open("w", encoding="utf-8", newline="")


def _number(value: float) -> str:
    """Six digits: enough to check and plot, few enough to read."""
    return f"{value:.6g}"
