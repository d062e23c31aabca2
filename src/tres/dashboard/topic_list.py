"""Which topics there are to crawl: the topic files in the folder where the dashboard was started.

A topic has a *key*, as a run has: a request can look one up, and no text of a request ever becomes
a path. What is no regular file of that very folder is not looked at, links among them, and what a
crawl does is what its file says: a request brings no settings along.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tres.dashboard.run_counts import Json, harmless
from tres.dashboard.run_files import without_path
from tres.errors import TresError
from tres.settings.topic_file import load_topic

LARGEST = 1_000_000
"""Bytes of a topic file."""
MOST = 100
"""Topics that are shown."""


@dataclass(frozen=True, slots=True)
class TopicFile:
    """A topic file, and why it cannot be crawled, if so."""

    path: Path
    name: str
    pages: int = 0
    keywords: tuple[str, ...] = ()
    problem: str = ""

    @property
    def key(self) -> str:
        """By which it is asked for."""
        return self.path.name

    def told(self) -> Json:
        """The topic as the browser gets it."""
        return {
            "key": self.key,
            "file": harmless(self.path.name),
            "name": harmless(self.name),
            "pages": self.pages,
            "keywords": harmless(", ".join(self.keywords)),
            "problem": harmless(self.problem),
        }


def topics_in(folder: Path) -> list[TopicFile]:
    """The topic files of a folder, by name."""
    paths = sorted(path for path in _entries(folder) if _is_candidate(path))
    found = (_topic(path) for path in paths)
    return list(islice((topic for topic in found if topic is not None), MOST))


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from folder.glob("*.toml")
    except OSError:  # not for us
        return


def _is_candidate(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST
    except OSError:  # gone meanwhile
        return False


def _topic(path: Path) -> TopicFile | None:
    """A topic file, if it is one: other tools keep their settings in such files, too."""
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if "topic" not in held:
        return None
    try:
        config = load_topic(path)
    except TresError as problem:
        return TopicFile(path, path.stem, problem=without_path(problem.message, path))
    return TopicFile(path, config.name, config.crawl.pages, config.topic.keywords)
