"""A run that still learns its topic: how far it is, read off what it has fetched so far.

Such a run has no journal yet, only a file that grows by a line for each answer
(`store.exploration_log`). It is read on from where it ended when somebody last looked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tres.dashboard.run_counts import Json, harmless
from tres.settings.topic_file import load_topic
from tres.store.exploration_log import EXPLORATION
from tres.store.run_directory import config_of


@dataclass(slots=True)
class Exploring:
    """The pages that were fetched to learn the topic of a run."""

    run: Path
    pages: int = 0
    _read: int = 0

    def told(self) -> Json:
        """What is known of the run."""
        self._read_on()
        config = load_topic(config_of(self.run))
        return {
            "exploring": {"pages": self.pages, "of": config.training.explore},
            "topic": harmless(config.name),
            "policy": config.crawl.policy,
            "model": config.training.model,
            "budget": config.crawl.pages,
        }

    def _read_on(self) -> None:
        """Count the pages of whole lines that are new; a line without a page is a failure."""
        try:
            with (self.run / EXPLORATION).open("rb") as file:
                if file.seek(0, 2) < self._read:  # it was begun anew
                    self.pages = self._read = 0
                file.seek(self._read)
                new = file.read()
        except FileNotFoundError:  # the crawl has just begun
            return
        whole = new[: new.rfind(b"\n") + 1]
        self._read += len(whole)
        self.pages += sum(_has_page(line) for line in whole.splitlines())


def _has_page(line: bytes) -> bool:
    """Does a line hold a URL and a page? The first one holds neither."""
    try:
        held = json.loads(line.partition(b" ")[2])
    except ValueError:  # what a kill has left of it
        return False
    return isinstance(held, list) and len(held) == 2 and isinstance(held[1], list)
