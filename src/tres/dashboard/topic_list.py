"""The topics that can be crawled: the topic files in the folder where the dashboard was started.

A topic has a *key*, as a run has: a request can look one up, and no text of a request ever becomes
a path. Only regular files of that folder count, no symbolic links, and a crawl does what its file
says: a request carries no settings.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tres.dashboard.run_counts import Json, harmless
from tres.dashboard.run_files import hide_path
from tres.errors import TresError
from tres.settings.named_code import is_path
from tres.settings.topic_file import load_topic

LARGEST = 1_000_000
"""Bytes of a topic file."""
MOST = 100
"""Topics that are shown."""

CUSTOM_CODE = (
    "its {} is the code {}, which the dashboard does not run for a file that it has found; "
    "if you trust the file, start the crawl with tres crawl"
)


@dataclass(frozen=True, slots=True)
class TopicFile:
    """A topic file, and why it cannot be crawled, if it cannot."""

    path: Path
    name: str
    pages: int = 0
    about: str = ""
    """Its keywords, or what describes it."""
    problem: str = ""

    @property
    def key(self) -> str:
        """The name by which a request asks for it."""
        return self.path.name

    def to_json(self) -> Json:
        """Return the topic as the browser gets it."""
        return {
            "key": self.key,
            "file": harmless(self.path.name),
            "name": harmless(self.name),
            "pages": self.pages,
            "about": harmless(self.about),
            "problem": harmless(self.problem),
        }


def find_topics(folder: Path) -> list[TopicFile]:
    """Return the topic files of a folder, by name."""
    paths = sorted(path for path in _entries(folder) if _is_candidate(path))
    found = (_topic(path) for path in paths)
    return list(islice((topic for topic in found if topic is not None), MOST))


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from folder.glob("*.toml")
    except OSError:  # not readable
        return


def _is_candidate(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST
    except OSError:  # it has gone
        return False


def _topic(path: Path) -> TopicFile | None:
    """The topic file, if it is one: other tools also keep settings in TOML files."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if "topic" not in content:
        return None
    try:
        config = load_topic(path)
    except TresError as problem:
        return TopicFile(path, path.stem, problem=hide_path(problem.message, path))
    code = {"policy": config.crawl.policy, "judge": config.training.model}
    refused = (CUSTOM_CODE.format(*each) for each in code.items() if is_path(each[1]))
    about = ", ".join(config.topic.keywords) or config.topic.description
    return TopicFile(path, config.name, config.crawl.pages, about, next(refused, ""))
