"""The files of a run, seen from outside: when they changed, and how far its exploration has got.

A crawl may be writing, so files may come and go between two looks; a missing file has never
changed. A run that still learns its topic has no journal yet, only a file that grows by a line for
each answer (`store.exploration_log`); it is read from where it ended at the last look.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tres.dashboard.run_counts import Json, harmless
from tres.settings.topic_file import load_topic
from tres.store.exploration_log import EXPLORATION
from tres.store.run_directory import config_of


def modification_times(*files: Path) -> list[float]:
    """Return when the existing files among these last changed, in seconds of the epoch."""
    times = []
    for file in files:
        try:
            times.append(file.stat().st_mtime)
        except OSError:
            continue
    return times


def hide_path(message: str, directory: Path) -> str:
    """Return a message with the name of the run instead of its path."""
    named = message.replace(str(directory), directory.name) if directory.name else message
    parent = directory.parent
    return named.replace(str(parent), "...") if parent.name else named


@dataclass(slots=True)
class ExplorationProgress:
    """The pages fetched so far to learn the topic of a run."""

    run: Path
    pages: int = 0
    _read: int = 0

    def to_json(self) -> Json:
        """Return what is known of the run."""
        self._read_new_lines()
        config = load_topic(config_of(self.run))
        return {
            "exploring": {"pages": self.pages, "of": config.training.explore},
            "topic": harmless(config.name),
            "policy": config.crawl.policy,
            "model": config.training.model,
            "budget": config.crawl.pages,
        }

    def _read_new_lines(self) -> None:
        """Count the pages in new whole lines; a line without a page is a failure."""
        try:
            with (self.run / EXPLORATION).open("rb") as file:
                if file.seek(0, 2) < self._read:  # it was started again
                    self.pages = self._read = 0
                file.seek(self._read)
                new = file.read()
        except FileNotFoundError:  # the crawl has just started
            return
        whole = new[: new.rfind(b"\n") + 1]
        self._read += len(whole)
        self.pages += sum(_has_page(line) for line in whole.splitlines())


def _has_page(line: bytes) -> bool:
    """Whether a line holds a URL and a page; the first line holds neither."""
    try:
        entry = json.loads(line.partition(b" ")[2])
    except ValueError:  # cut off when the crawl was killed
        return False
    return isinstance(entry, list) and len(entry) == 2 and isinstance(entry[1], list)
