"""Frontier rows: what is known about every action, as columns.

A row is an action that waits. Which actions share a row depends on the schema: one row
per edge (`tres.frontier.edge_rows`) or one per URL (`tres.frontier.url_rows`).

Web-domain features belong to the target's site, not to the row, and change for many rows
at once. So a row has two vectors. The *fresh* one takes them from the site counters at
this moment; agents score it. The *routed* one takes them from the site's level, a copy of
the value that only follows once the value has left it by a whole step; the tree sorts rows
by it. A site's rows are sorted again only when its level moves, and between two moves every
row is exactly where its routed vector belongs.

Rows are never recycled: replay refers to them after their action was taken.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tres.frontier.buckets import Buckets
from tres.mdp.columns import Column, Flags, Floats, Ids
from tres.mdp.feature_schema import Schema
from tres.mdp.paths import NONE
from tres.mdp.sites import Sites
from tres.mdp.transitions import Outlinks

LEVEL_STEP = 0.1
"""How far a site feature may drift from the level by which its rows are sorted."""

NO_ROWS: Ids = np.empty(0, np.int32)


class Change(NamedTuple):
    """The rows that a page added, and those whose evidence it changed."""

    new: Ids
    updated: Ids

    @property
    def outlinks(self) -> Ids:
        """All rows for links of the page: its part of the paper's A~."""
        return np.concatenate([self.updated, self.new])


class Rows(ABC):
    """The columns that every kind of row shares, and an index of the waiting rows by site."""

    def __init__(self, schema: Schema, sites: Sites) -> None:
        self.schema = schema
        self._sites = sites
        self._url = Column(np.int32)
        self._site = Column(np.int32)
        self._page = Column(np.int32)
        # The link features of a row lie side by side: a vector is one look-up in memory.
        self._links = Column(np.float32, width=len(schema.link_features))
        self._waiting = Buckets()
        self._level = Column(np.float32, width=len(schema.site_features))

    def __len__(self) -> int:
        """Rows that wait."""
        return len(self._waiting)

    @property
    def waiting(self) -> Ids:
        """All rows that wait, oldest first."""
        everything = np.arange(self.total, dtype=np.int32)
        return np.flatnonzero(self._waiting.of(everything) != NONE).astype(np.int32)

    @property
    def total(self) -> int:
        """The number of rows ever added."""
        return len(self._url)

    @property
    def nbytes(self) -> int:
        """Memory held by columns and indexes."""
        stores = [value for value in vars(self).values() if isinstance(value, Column | Buckets)]
        return sum(store.nbytes for store in stores)

    def available(self, waiting: Flags | None) -> Ids:
        """Return all rows whose site is ready, oldest first."""
        rows = self.waiting
        return rows if waiting is None else rows[~waiting[self.site(rows)]]

    def any_available(self, waiting: Flags | None) -> bool:
        """Whether the site of any row is ready."""
        counts = self._waiting.counts
        if waiting is not None:
            counts = counts[~waiting[: len(counts)]]
        return bool(counts.any())

    def url(self, row: int) -> int:
        """The target u of an action."""
        return int(self._url.view[row])

    def url_ids(self, rows: Ids) -> Ids:
        """The targets of many actions."""
        return self._url.view[rows]

    def page(self, row: int) -> int:
        """The page v of an action (the best citing one if a row stands for several)."""
        return int(self._page.view[row])

    def site(self, rows: Ids) -> Ids:
        """The target's site, per row."""
        return self._site.view[rows]

    def opened(self, site: int) -> bool:
        """Whether at most one relevant page of the site was fetched so far."""
        return self._sites.relevant(site) <= 1

    def scarcity(self, rows: Ids) -> Floats:
        """Return, per row, how much of its site's cap is used; 0 where all its links still fit."""
        if self._sites.limit == math.inf:
            return np.zeros(len(rows), np.float32)
        sites = self._site.view[rows]
        wanted = self._waiting.counts[sites] > self._sites.left(sites)
        return np.where(wanted, self._sites.used(sites), np.float32(0.0))

    @abstractmethod
    def add_links(self, links: Outlinks) -> Change:
        """Add the links of a fetched page."""

    @abstractmethod
    def of_url(self, url: int) -> Ids:
        """Return the waiting rows for a URL."""

    def of_site(self, site: int) -> Ids:
        """Return the waiting rows for a site."""
        return self._waiting.rows(site) if site < len(self._waiting.counts) else NO_ROWS

    def retire(self, rows: Ids) -> None:
        """Take rows out: they wait no longer."""
        self._waiting.remove(rows)

    def vectors(self, rows: Ids) -> Floats:
        """Return the fresh state-action vectors of rows."""
        return self._with_sites(rows, self._levels_now(self._site.view[rows]))

    def routed_vectors(self, rows: Ids) -> Floats:
        """Return the vectors by which a tree sorts rows."""
        return self._with_sites(rows, self._level.view[self._site.view[rows]])

    def seed_vectors(self, seeds: Outlinks) -> Floats:
        """Return the vectors of seeds: zero state features, the action features of their URL."""
        zero: dict[str, ArrayLike] = dict.fromkeys(self.schema.link_features, 0.0)
        site_values = self.schema.of_sites(self._sites, seeds.sites)
        return self.schema.matrix(len(seeds.urls), zero | self._action_columns(seeds) | site_values)

    def follow_site(self, site: int) -> Ids:
        """Move the level of a site whose counts have changed, if due; return the rows moved."""
        self._add_sites(site + 1)
        now = self._levels_now(np.array([site], np.int32))[0]
        if np.abs(now - self._level.view[site]).max(initial=0.0) <= LEVEL_STEP:
            return NO_ROWS
        self._level.view[site] = now
        return self.of_site(site)

    def follow(self, site: int, url: int, relevance: float) -> Ids:
        """Take note of a fetched URL and the site of its page; return the rows to sort again."""
        return self.follow_site(site)

    @abstractmethod
    def _action_columns(self, links: Outlinks) -> dict[str, ArrayLike]:
        """Return the link features that depend on the link alone, not on its page."""

    def _with_sites(self, rows: Ids, site_values: Floats) -> Floats:
        vectors = np.empty((len(rows), self.schema.width), np.float32)
        inner = len(self.schema.link_features)
        np.take(self._links.view, rows, axis=0, out=vectors[:, :inner])
        vectors[:, inner:] = site_values
        return vectors

    def _append(self, links: Outlinks, which: Ids) -> Ids:
        """Add one row for each link of `which`."""
        first = len(self._url)
        self._url.extend(links.urls[which])
        self._site.extend(links.sites[which])
        self._page.extend(np.full(len(which), links.page, np.int32))
        self._links.resize(len(self._url))
        rows = np.arange(first, len(self._url), dtype=np.int32)
        self._add_sites(int(links.sites.max(initial=-1)) + 1)
        self._waiting.make_room(len(self._url), len(self._level))
        self._waiting.insert(rows, links.sites[which])
        return rows

    def _levels_now(self, sites: Ids) -> Floats:
        levels = np.empty((len(sites), len(self.schema.site_features)), np.float32)
        for i, values in enumerate(self.schema.of_sites(self._sites, sites).values()):
            levels[:, i] = values
        return levels

    def _add_sites(self, count: int) -> None:
        known = len(self._level)
        if count > known:
            self._level.resize(count)
            self._level.view[known:] = self._levels_now(np.arange(known, count, dtype=np.int32))
