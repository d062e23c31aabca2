"""A simulated search engine: BM25 over the titles and texts of an archive (SQLite's FTS5).

It never sees labels. A real engine knows only a part of the Web, so the index may contain a random
share of the pages. Results that depend on it always say "simulated search engine".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

import numpy as np

from tres.web.page import Page
from tres.web.search_engine import Hit

HITS = 10
"""Hits on a result page."""


class SimulatedSearch:
    """An index in memory."""

    def __init__(self, pages: Iterable[Page], share: float = 1.0, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self._index = sqlite3.connect(":memory:")
        self._index.execute("CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, text)")
        known = (page for page in pages if rng.random() < share)
        self._index.executemany(
            "INSERT INTO pages VALUES (?, ?, ?)", ((p.url, p.title, p.text) for p in known)
        )

    def __len__(self) -> int:
        """Number of indexed pages."""
        return int(self._index.execute("SELECT count(*) FROM pages").fetchone()[0])

    def search(self, query: Sequence[str], page: int) -> list[Hit]:
        """Return the pages with all words of the query, best first."""
        wanted = " ".join(f'"{word}"' for word in query if word.isalnum())
        if not wanted:
            return []
        rows = self._index.execute(
            "SELECT url, title, text FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT ? OFFSET ?",
            (wanted, HITS, page * HITS),
        )
        return [Hit(url, f"{title}\n{text}") for url, title, text in rows]
