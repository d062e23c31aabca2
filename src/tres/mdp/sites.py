"""Per-site counts: how many pages of a site were fetched, are in flight, were relevant.

They have two uses. The site caps (MAX in the paper, section 3.5) count fetched
pages, those in flight included. The web-domain features (section 2.4.1) describe what
may be expected of a site; they change with every fetch, so they are computed from
these counts at every decision and never stored with a link.
"""

from __future__ import annotations

import math

import numpy as np

from tres.mdp.columns import Column, Flags, Floats, Ids

UNKNOWN_RELEVANCE = 0.5
"""The paper's value for a site without fetched pages."""


class Sites:
    """Counters per site id."""

    def __init__(self) -> None:
        self._fetched = Column(np.int32)
        self._relevant = Column(np.int32)
        self._in_flight = Column(np.int32)
        self.limit = math.inf
        """Pages that a site may give at present: the cap, which may fall."""

    def __len__(self) -> int:
        return len(self._fetched)

    def make_room(self, sites: int) -> None:
        """Grow to so many sites."""
        for column in (self._fetched, self._relevant, self._in_flight):
            column.resize(sites)

    def start_fetch(self, site: int) -> None:
        """Count a page of the site as being fetched."""
        self._in_flight.view[site] += 1

    def end_fetch(self, site: int) -> None:
        """Count a fetch as returned, with a page or without."""
        self._in_flight.view[site] -= 1

    def count(self, site: int, relevant: bool) -> None:
        """Count a page that was retrieved and judged."""
        self._fetched.view[site] += 1
        self._relevant.view[site] += relevant

    def fetched(self, sites: Ids) -> Ids:
        """Pages fetched, per site."""
        return self._fetched.view[sites]

    def pages(self, site: int) -> int:
        """Pages fetched from one site."""
        return int(self._fetched.view[site])

    def relevant(self, site: int) -> int:
        """Relevant pages of one site."""
        return int(self._relevant.view[site])

    def used(self, sites: Ids) -> Floats:
        """Used share of a site's places; 0 where there is no limit."""
        return np.asarray(self._fetched.view[sites] / self.limit, np.float32)

    def left(self, sites: Ids) -> Floats:
        """Pages that a site may still give."""
        return np.asarray(self.limit - self._fetched.view[sites], np.float32)

    def at_limit(self) -> Flags:
        """Which sites have reached the limit."""
        return self._fetched.view >= self.limit

    def saturated(self) -> Flags:
        """Which sites would pass the limit if everything in flight succeeded and one more came."""
        return np.asarray(self._fetched.view + self._in_flight.view >= self.limit)

    @property
    def relevant_sites(self) -> int:
        """Sites with at least one relevant page: the paper's *domains*."""
        return int(np.count_nonzero(self._relevant.view))

    def ratio(self, sites: Ids) -> Floats:
        """Relevant share of the fetched pages; `UNKNOWN_RELEVANCE` where there are none."""
        fetched = self._fetched.view[sites]
        share = self._relevant.view[sites] / np.maximum(fetched, 1)
        return np.where(fetched > 0, share, UNKNOWN_RELEVANCE).astype(np.float32)

    def known(self, sites: Ids) -> Floats:
        """1 where something was fetched from the site, else 0.5 (section 2.4.1)."""
        return np.where(self._fetched.view[sites] > 0, 1.0, 0.5).astype(np.float32)

    def smoothed(self, sites: Ids) -> Floats:
        """Relevant share with one half pseudo-page of each kind: moves gently at first."""
        return np.asarray(
            (self._relevant.view[sites] + 0.5) / (self._fetched.view[sites] + 1.0), np.float32
        )

    def volume(self, sites: Ids) -> Floats:
        """How much was fetched, on a logarithmic scale: 1 at about 19 pages."""
        return np.asarray(np.log1p(self._fetched.view[sites]) / 3.0, np.float32)
