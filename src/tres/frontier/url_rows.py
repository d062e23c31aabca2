"""One row per URL, whose evidence grows (feature set `evidence`, our own).

The paper describes a link by yes or no and keeps one row per edge. Here every fetched page
that links to u adds evidence about u: how many pages link to it and how many of them are
relevant, how relevant those pages and the anchors are on average and at best, and the best
of their paths. So a URL is judged by all the evidence, not by one lucky edge, and the
frontier has as many rows as URLs. Two more kinds of evidence are where its siblings led
(`tres.frontier.siblings`) and the probability by its link text (`tres.frontier.link_text_model`).

The probability by link text may change for every row at every step. So it is handled like the
features of sites: the fresh vector has the probability of now, the routed one that of the last
update, and a row whose probability has moved by a whole step is sorted again whenever the model
has learnt from a quarter more pages.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tres.frontier.link_text_model import LinkTextModel
from tres.frontier.rows import LEVEL_STEP, NO_ROWS, Change, Rows
from tres.frontier.siblings import MOST_EDGES, Siblings
from tres.mdp.columns import Column, Floats, Ids
from tres.mdp.feature_schema import SIBLINGS, WORDS, Schema
from tres.mdp.paths import NONE
from tres.mdp.sites import Sites
from tres.mdp.transitions import Outlinks
from tres.web.link_wording import WIDTH, Wordings


class UrlRows(Rows):
    """Rows that collect evidence from every page that links to their URL."""

    def __init__(self, schema: Schema, sites: Sites) -> None:
        super().__init__(schema, sites)
        self._row_of = Column(np.int32, fill=NONE)
        self._citations = Column(np.int32)
        self._relevant = Column(np.int32)
        self._siblings = Siblings()
        # Which features of siblings the schema has, and in which columns.
        self._sibling_features = [i for i, name in enumerate(SIBLINGS) if name in schema.features]
        self._sibling_columns = [schema.column(SIBLINGS[i]) for i in self._sibling_features]
        self._link_text = LinkTextModel()
        self._words_column = schema.column(WORDS) if schema.reads_words else NONE

    def add_links(self, links: Outlinks) -> Change:
        """Add a row for each new URL, and a citation to each known one."""
        self._row_of.resize(int(links.urls.max(initial=-1)) + 1)
        is_new = self._row_of.view[links.urls] == NONE
        new = self._append(links, np.flatnonzero(is_new).astype(np.int32))
        self._row_of.view[links.urls[is_new]] = new
        for column in (self._citations, self._relevant):
            column.resize(self.total)
        rows = self._row_of.view[links.urls]
        if self.schema.reads_words:
            self._link_text.add(_wordings(links)[is_new])
        if self._sibling_features:
            self._siblings.cite(links, rows, self.total)
            if self._siblings.edges > MOST_EDGES:
                everything = np.arange(self.total, dtype=np.int32)
                self._siblings.prune(self._waiting.of(everything) != NONE)
        self._cite(rows, links)
        return Change(new, rows[~is_new])

    def of_url(self, url: int) -> Ids:
        """Return the one row of a URL, if it waits."""
        row = int(self._row_of.view[url]) if url < len(self._row_of) else NONE
        if row == NONE or self._waiting.of(np.array([row]))[0] == NONE:
            return NO_ROWS
        return np.array([row], np.int32)

    def follow(self, site: int, url: int, relevance: float) -> Ids:
        """Return the rows of the site, and those whose siblings or link text changed."""
        of_site = super().follow(site, url, relevance)
        row = int(self._row_of.view[url]) if url < len(self._row_of) else NONE
        siblings = self._update_siblings(url, row, relevance)
        moved = self._update_link_text(row, relevance)
        if len(siblings) == len(moved) == 0:
            return of_site
        return np.unique(np.concatenate([of_site, siblings, moved]))

    def vectors(self, rows: Ids) -> Floats:
        """Return fresh vectors, with the current probability by link text."""
        vectors = super().vectors(rows)
        if self._words_column != NONE:
            vectors[:, self._words_column] = self._link_text.probability(rows)
        return vectors

    def _update_siblings(self, url: int, row: int, relevance: float) -> Ids:
        """Tell the siblings of a fetched page its relevance; return their rows."""
        if not self._sibling_features:
            return NO_ROWS
        rows = self._siblings.fetched(url, row, relevance)
        rows = rows[self._waiting.of(rows) != NONE]
        evidence = self._siblings.evidence(rows)[:, self._sibling_features]
        self._links.view[rows[:, None], self._sibling_columns] = evidence
        return np.asarray(rows)

    def _update_link_text(self, row: int, relevance: float) -> Ids:
        """Learn from the link to a fetched page; return the rows whose probability has moved."""
        if NONE in (self._words_column, row) or not self._link_text.learn(row, relevance):
            return NO_ROWS
        waiting = self.waiting
        now = self._link_text.probability(waiting)
        moved = np.abs(now - self._links.view[waiting, self._words_column]) > LEVEL_STEP
        self._links.view[waiting[moved], self._words_column] = now[moved]
        return np.asarray(waiting[moved])

    def _cite(self, rows: Ids, links: Outlinks) -> None:
        """Add one more citing page to every feature."""
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
        if self._sibling_features:
            after |= dict(zip(SIBLINGS, self._siblings.evidence(rows).T, strict=True))
        if self.schema.reads_words:
            after[WORDS] = self._link_text.probability(rows)
        for i, name in enumerate(self.schema.link_features):
            self._links.view[rows, i] = after[name]

    def _best_path(
        self, rows: Ids, links: Outlinks, before: dict[str, Floats]
    ) -> dict[str, Floats]:
        """Keep the path with the nearest relevant page, then the more relevant, then the first."""
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
            columns[WORDS] = self._link_text.probability_of(_wordings(links))
        return columns


def _wordings(links: Outlinks) -> Wordings:
    """Return the words of links; no words where they were not read."""
    return links.wordings if len(links.wordings) else np.zeros((len(links.urls), WIDTH), np.uint16)


def _mean(before: Floats, value: Floats | float, n: Ids) -> Floats:
    """Return a running mean after its n-th value."""
    return np.asarray(before + (value - before) / n, np.float32)
