"""`seedfinder`: seeds by search queries, then a crawl like ACHE's (Vieira et al. 2016).

At most 100 queries go to a search engine, two result pages each; every new hit is fetched and
judged, and paid for from the budget. The judgements are relevance feedback: if more than half of
a query's pages were relevant, every term gains tf / |d| for each relevant page that contains it and
loses as much for each irrelevant one; in any case the weights of the query's own terms are
multiplied by its precision. The next query takes the best terms and the best one never used; it has
one term more after an imprecise query (more words narrow the result), one less after a query with
few new pages. When queries find nothing more, the pages found are the seeds of a crawl by `ache`.

Departures: instead of the paid engine of the original, `tres.offline.bm25` simulates one over the
archive. Terms come from the words of the hits, as the engine indexed them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Self

import numpy as np

from tres.frontier.rows import Rows
from tres.mdp.columns import Flags
from tres.mdp.paths import NONE
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Choice, Step
from tres.policies.ache import Ache
from tres.policies.setup import PolicySetup
from tres.settings.sections import FocusKind
from tres.topic.text import STOP_WORDS, words
from tres.web.search_engine import Hit, SearchEngine

MAX_QUERIES = 100
RESULT_PAGES = 2
FEW_NEW = 5
"""New hits below which a query was too narrow."""
MIN_LETTERS = 3


class Terms:
    """Weights of query terms, by relevance feedback."""

    def __init__(self, keywords: Sequence[str]) -> None:
        self.query: tuple[str, ...] = tuple(keywords[:1])
        # The topic's own words are tried in their order, unless feedback finds better ones.
        self._weight = {word: 1.0 / (1 + place) for place, word in enumerate(keywords)}
        self._used: set[str] = set(self.query)

    def copy(self) -> Terms:
        """Return a copy to restore from."""
        other = Terms(())
        other.query, other._weight, other._used = self.query, {**self._weight}, {*self._used}
        return other

    def feed_back(self, judged: Sequence[tuple[Hit, bool]]) -> float:
        """Learn from the judged hits of the query; return its precision."""
        precision = sum(relevant for _, relevant in judged) / len(judged) if judged else 0.0
        if precision > 0.5:
            for hit, relevant in judged:
                self._count(hit, 1.0 if relevant else -1.0)
        for term in self.query:
            self._weight[term] *= precision
        return precision

    def renew(self, size: int) -> bool:
        """Form the next query of about `size` terms; false if no term is left to try."""
        best = sorted(self._weight, key=lambda term: (-self._weight[term], term))
        fresh = next((t for t in best if t not in self._used and self._weight[t] > 0), None)
        if fresh is None:
            return False
        known = [t for t in best if t in self._used and self._weight[t] > 0][: max(0, size - 1)]
        self.query = (*known, fresh)
        self._used.add(fresh)
        return True

    def _count(self, hit: Hit, sign: float) -> None:
        every = words(hit.text)
        useful = [w for w in every if len(w) >= MIN_LETTERS and w not in STOP_WORDS]
        for term, count in Counter(useful).items():
            gain = sign * count / len(every)
            self._weight[term] = self._weight.get(term, 0.0) + gain


class SeedFinder(Ache):
    """Queries first, links afterwards."""

    info = replace(
        Ache.info,
        summary="ACHE after a search engine was asked for seeds; the engine is simulated over an "
        "archive, so it works with `--web` only",
        needs=("search engine",),
        snapshot_types=(*Ache.info.snapshot_types, Hit),
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        settings, engine = setup.settings, setup.search_engine()
        topic = settings.keywords, settings.site_of, settings.focus
        return cls(setup.rows(), setup.crawl, setup.rng, engine, *topic)

    def __init__(
        self,
        rows: Rows,
        crawl: CrawlState,
        rng: np.random.Generator,
        engine: SearchEngine,
        keywords: Sequence[str],
        site_of: Callable[[str], str],
        focus: FocusKind = "hard",
    ) -> None:
        super().__init__(rows, crawl, rng, focus)
        self._engine = engine
        self._site_of = site_of
        self._terms = Terms(list(dict.fromkeys(w for k in keywords for w in words(k))))
        self.queries = 0
        self._hits: list[Hit] = []
        self._in_flight: dict[int, Hit] = {}
        self._judged: list[tuple[Hit, bool]] = []
        self._fetched: set[int] = set()
        self._closed: set[int] = set()
        self._new = 0
        self._finished = False

    @property
    def searching(self) -> bool:
        """Whether queries are left."""
        return not self._finished and self.queries < MAX_QUERIES

    def __len__(self) -> int:
        """Count waiting links and hits; an engine with queries left counts as one."""
        return super().__len__() + len(self._hits) + self.searching

    def choose(self, waiting: Flags | None = None) -> Choice | None:
        """Choose a hit while there are any, else a link.

        If nothing can be chosen now, nothing changes, except that the search may have ended.
        """
        before = self.queries, self._terms.copy(), self._hits, self._judged, self._new
        choice = self._choose_hit(waiting) or super().choose(waiting)
        if choice is None and self._hits:  # their sites must wait, so the query waits too
            self.queries, self._terms, self._hits, self._judged, self._new = before
        return choice

    def _choose_hit(self, waiting: Flags | None) -> Choice | None:
        while True:
            self._hits = [hit for hit in self._hits if self._is_available(hit)]
            ready = [hit for hit in self._hits if not self._must_wait(hit, waiting)]
            if ready:
                return self._as_choice(ready[0])
            if self._hits or self._in_flight or not self._query():
                return None

    def learn(self, step: Step) -> None:
        """Learn from a step; a fetched hit is feedback for its query."""
        hit = self._in_flight.pop(step.choice.url, None)
        if hit is not None:
            self._judged.append((hit, step.outlinks.relevant))
        super().learn(step)

    def miss(self, choice: Choice) -> None:
        """Forget a dead hit: it says nothing about its query."""
        self._in_flight.pop(choice.url, None)

    def forget_url(self, url: int) -> None:
        """Drop the URL, from the hits too."""
        self._fetched.add(url)
        super().forget_url(url)

    def forget_site(self, site: int) -> None:
        """Drop the site, from the hits too."""
        self._closed.add(site)
        super().forget_site(site)

    def _is_available(self, hit: Hit) -> bool:
        """Whether a hit was not fetched yet and its site is open."""
        urls, sites, site = self._crawl.urls, self._crawl.site_names, self._site_of(hit.url)
        fetched = hit.url in urls and urls.id(hit.url) in self._fetched
        return not fetched and not (site in sites and sites.id(site) in self._closed)

    def _must_wait(self, hit: Hit, waiting: Flags | None) -> bool:
        sites, site = self._crawl.site_names, self._site_of(hit.url)
        return waiting is not None and site in sites and bool(waiting[sites.id(site)])

    def _as_choice(self, hit: Hit) -> Choice:
        """Return the hit as a choice, like a seed."""
        url = self._crawl.urls.id(hit.url)
        site = self._crawl.site_names.id(self._site_of(hit.url))
        self._hits = [other for other in self._hits if other is not hit]
        self._in_flight[url] = hit
        self.forget_url(url)
        return Choice(url, site, NONE, np.zeros(self.schema.width, np.float32))

    def _query(self) -> bool:
        """Send the next query; false if there is none."""
        if not self.searching:
            return False
        if self.queries and not self._next_terms():
            self._finished = True
            return False
        self.queries += 1
        pages = (self._engine.search(self._terms.query, page) for page in range(RESULT_PAGES))
        found = {hit.url: hit for hits in pages for hit in hits}
        self._hits = [hit for hit in found.values() if self._is_available(hit)]
        self._new = len(self._hits)
        return True

    def _next_terms(self) -> bool:
        """Learn from the last query and form the next one; false if no term is left."""
        precision = self._terms.feed_back(self._judged)
        self._judged = []
        size = len(self._terms.query)
        if precision < 0.5:
            size += 1
        elif self._new < FEW_NEW:
            size -= 1
        return self._terms.renew(max(1, size))
