"""One row per URL, whose evidence grows (feature set `evidence`, our own).

The paper turns a link into yes and no and keeps one row per edge. Here every fetched page
that cites u adds to what is known of u: how many pages cite it and how many of them are
relevant, how relevant those pages and the anchors are on average and at best, and the best
of their paths. So a URL is judged by all that was seen, not by one lucky edge, and the
frontier holds as many rows as there are URLs. To this come what became of its siblings
(`tres.frontier.siblings`) and what its words promise (`tres.frontier.link_text_model`).

The promise of a word may change for every row at every step. So it is treated as the features of
sites are: the fresh vector holds what the words promise now, the routed one what they promised
when they were read last, and a row whose promise has left it by a whole step is sorted anew
whenever a quarter more has been learnt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tres.frontier.link_text_model import LinkWords
from tres.frontier.rows import LEVEL_STEP, NO_ROWS, Change, Rows
from tres.frontier.siblings import MOST_EDGES, Siblings
from tres.mdp.columns import Column, Floats, Ids
from tres.mdp.paths import NONE
from tres.mdp.schema import SIBLINGS, WORDS, Schema
from tres.mdp.sites import Sites
from tres.mdp.transitions import Outlinks
from tres.web.link_wording import WIDTH, Wordings


class UrlRows(Rows):
    """Rows that gather evidence from every citing page."""

    def __init__(self, schema: Schema, sites: Sites) -> None:
        super().__init__(schema, sites)
        self._row_of = Column(np.int32, fill=NONE)
        self._citations = Column(np.int32)
        self._relevant = Column(np.int32)
        self._siblings = Siblings()
        # Which of the siblings' evidence the schema has, and where.
        self._heard = [i for i, name in enumerate(SIBLINGS) if name in schema.features]
        self._sibling_columns = [schema.column(SIBLINGS[i]) for i in self._heard]
        self._words = LinkWords()
        self._words_column = schema.column(WORDS) if schema.reads_words else NONE

    def add_links(self, links: Outlinks) -> Change:
        """New URLs get a row; known ones gain a citation."""
        self._row_of.resize(int(links.urls.max(initial=-1)) + 1)
        is_new = self._row_of.view[links.urls] == NONE
        new = self._append(links, np.flatnonzero(is_new).astype(np.int32))
        self._row_of.view[links.urls[is_new]] = new
        for column in (self._citations, self._relevant):
            column.resize(self.total)
        rows = self._row_of.view[links.urls]
        if self.schema.reads_words:
            self._words.add(_wordings(links)[is_new])
        if self._heard:
            self._siblings.cite(links, rows, self.total)
            if self._siblings.edges > MOST_EDGES:
                everything = np.arange(self.total, dtype=np.int32)
                self._siblings.prune(self._waiting.of(everything) != NONE)
        self._cite(rows, links)
        return Change(new, rows[~is_new])

    def of_url(self, url: int) -> Ids:
        """The URL's one row, while it waits."""
        row = int(self._row_of.view[url]) if url < len(self._row_of) else NONE
        if row == NONE or self._waiting.of(np.array([row]))[0] == NONE:
            return NO_ROWS
        return np.array([row], np.int32)

    def follow(self, site: int, url: int, relevance: float) -> Ids:
        """The rows of the site, and those whose siblings or words have something new to tell."""
        of_site = super().follow(site, url, relevance)
        row = int(self._row_of.view[url]) if url < len(self._row_of) else NONE
        told = self._hear(url, row, relevance)
        read = self._read(row, relevance)
        if len(told) == len(read) == 0:
            return of_site
        return np.unique(np.concatenate([of_site, told, read]))

    def vectors(self, rows: Ids) -> Floats:
        """Fresh vectors: also of what the words promise."""
        vectors = super().vectors(rows)
        if self._words_column != NONE:
            vectors[:, self._words_column] = self._words.promise(rows)
        return vectors

    def _hear(self, url: int, row: int, relevance: float) -> Ids:
        """A page was fetched: rows that hear of it as their sibling."""
        if not self._heard:
            return NO_ROWS
        told = self._siblings.fetched(url, row, relevance)
        told = told[self._waiting.of(told) != NONE]
        evidence = self._siblings.evidence(told)[:, self._heard]
        self._links.view[told[:, None], self._sibling_columns] = evidence
        return np.asarray(told)

    def _read(self, row: int, relevance: float) -> Ids:
        """A page was fetched: rows whose words promise something else than when read last."""
        if NONE in (self._words_column, row) or not self._words.learn(row, relevance):
            return NO_ROWS
        waiting = self.waiting
        promise = self._words.promise(waiting)
        moved = np.abs(promise - self._links.view[waiting, self._words_column]) > LEVEL_STEP
        self._links.view[waiting[moved], self._words_column] = promise[moved]
        return np.asarray(waiting[moved])

    def _cite(self, rows: Ids, links: Outlinks) -> None:
        """One more citing page, in every feature of the schema."""
        self._citations.view[rows] += 1
        self._relevant.view[rows] += links.relevant
        n, relevant = self._citations.view[rows], self._relevant.view[rows]
        known = self._links.view[rows]
        before = {name: known[:, i] for i, name in enumerate(self.schema.link_features)}
        after = {
            "citations": np.log1p(n),
            "relevant_citations": np.log1p(relevant),
            "relevant_share": relevant / n,
            "parent_relevance_mean": _mean(before["parent_relevance_mean"], links.relevance, n),
            "parent_relevance_max": np.maximum(before["parent_relevance_max"], links.relevance),
            "anchor_relevance_mean": _mean(
                before["anchor_relevance_mean"], links.anchor_relevance, n
            ),
            "anchor_relevance_max": np.maximum(
                before["anchor_relevance_max"], links.anchor_relevance
            ),
            "url_keyword": np.maximum(before["url_keyword"], links.url_keyword),
            "anchor_keyword": np.maximum(before["anchor_keyword"], links.anchor_keyword),
            "same_site": np.maximum(before["same_site"], links.same_site),
        }
        after |= self._best_path(rows, links, before)
        if self._heard:
            after |= dict(zip(SIBLINGS, self._siblings.evidence(rows).T, strict=True))
        if self.schema.reads_words:
            after[WORDS] = self._words.promise(rows)
        for i, name in enumerate(self.schema.link_features):
            self._links.view[rows, i] = after[name]

    def _best_path(
        self, rows: Ids, links: Outlinks, before: dict[str, Floats]
    ) -> dict[str, Floats]:
        """The nearest relevant page wins, then the more relevant path; first come, first kept."""
        distance, share = before["inverse_distance"], before["path_relevance"]
        path = links.path
        better = (path.inverse_distance > distance) | (
            (path.inverse_distance == distance) & (path.path_relevance > share)
        )
        self._page.view[rows[better]] = links.page
        return {
            "inverse_distance": np.where(better, np.float32(path.inverse_distance), distance),
            "path_relevance": np.where(better, np.float32(path.path_relevance), share),
        }

    def _action_columns(self, links: Outlinks) -> dict[str, ArrayLike]:
        columns: dict[str, ArrayLike] = {
            "anchor_relevance_mean": links.anchor_relevance,
            "anchor_relevance_max": links.anchor_relevance,
            "url_keyword": links.url_keyword,
            "anchor_keyword": links.anchor_keyword,
        }
        if self.schema.reads_words:
            columns[WORDS] = self._words.promise_of(_wordings(links))
        return columns


def _wordings(links: Outlinks) -> Wordings:
    """The words of links; none where nobody has read them."""
    return links.wordings if len(links.wordings) else np.zeros((len(links.urls), WIDTH), np.uint16)


def _mean(before: Floats, value: Floats | float, n: Ids) -> Floats:
    """A running mean after its n-th value."""
    return np.asarray(before + (value - before) / n, np.float32)
