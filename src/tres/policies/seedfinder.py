"""`seedfinder`: seeds by search queries, then a crawl like ACHE's (Vieira et al. 2016).

At most 100 queries go to a search engine, two result pages each; every new hit is fetched and
judged, and paid for from the budget. What comes back is relevance feedback: if more than half of
a query's pages were relevant, every term gains tf / |d| for each relevant page that holds it and
loses as much for each irrelevant one; in any case the terms of the query itself are multiplied by
its precision. The next query takes the best terms and the best one never used; it has one term
more after an imprecise query (more words narrow the result), one less after one that brought few
new pages. When queries bring nothing more, the pages found are the seeds of a crawl by `ache`.

Departures: without the paid engine of the original, `tres.offline.bm25` simulates one over the
archive. Terms come from the words of the hits, as the engine knows them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from tres.frontier.rows import Rows
from tres.mdp.columns import Flags
from tres.mdp.paths import NONE
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Choice, Step
from tres.policies.ache import Ache
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
        """The same, to be tried out."""
        other = Terms(())
        other.query, other._weight, other._used = self.query, {**self._weight}, {*self._used}
        return other

    def feed_back(self, judged: Sequence[tuple[Hit, bool]]) -> float:
        """What came of the query; returns its precision."""
        precision = sum(relevant for _, relevant in judged) / len(judged) if judged else 0.0
        if precision > 0.5:
            for hit, relevant in judged:
                self._count(hit, 1.0 if relevant else -1.0)
        for term in self.query:
            self._weight[term] *= precision
        return precision

    def renew(self, size: int) -> bool:
        """The next query, of about `size` terms; false if no term is left to try."""
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
        self._asked: dict[int, Hit] = {}
        self._judged: list[tuple[Hit, bool]] = []
        self._gone: set[int] = set()
        self._full: set[int] = set()
        self._new = 0
        self._finished = False

    @property
    def searching(self) -> bool:
        """Are there queries left to ask?"""
        return not self._finished and self.queries < MAX_QUERIES

    def __len__(self) -> int:
        """Links that wait, hits included; an engine that may be asked counts as one."""
        return super().__len__() + len(self._hits) + self.searching

    def choose(self, waiting: Flags | None = None) -> Choice | None:
        """A hit while there are any, else a link.

        If nothing can be had now, nothing has happened, but that the search may have ended.
        """
        before = self.queries, self._terms.copy(), self._hits, self._judged, self._new
        choice = self._found(waiting) or super().choose(waiting)
        if choice is None and self._hits:  # they must wait, and so must their query
            self.queries, self._terms, self._hits, self._judged, self._new = before
        return choice

    def _found(self, waiting: Flags | None) -> Choice | None:
        while True:
            self._hits = [hit for hit in self._hits if self._can_be_had(hit)]
            ready = [hit for hit in self._hits if not self._must_wait(hit, waiting)]
            if ready:
                return self._taken(ready[0])
            if self._hits or self._asked or not self._ask():
                return None

    def learn(self, step: Step) -> None:
        """A hit that was fetched is feedback for its query."""
        hit = self._asked.pop(step.choice.url, None)
        if hit is not None:
            self._judged.append((hit, step.outlinks.relevant))
        super().learn(step)

    def miss(self, choice: Choice) -> None:
        """A dead hit says nothing about its query."""
        self._asked.pop(choice.url, None)

    def forget_url(self, url: int) -> None:
        """No hit may lead to it either."""
        self._gone.add(url)
        super().forget_url(url)

    def forget_site(self, site: int) -> None:
        """No hit may lead there either."""
        self._full.add(site)
        super().forget_site(site)

    def _can_be_had(self, hit: Hit) -> bool:
        """Neither was it fetched, nor has its site given all it may."""
        urls, sites, site = self._crawl.urls, self._crawl.site_names, self._site_of(hit.url)
        gone = hit.url in urls and urls.id(hit.url) in self._gone
        return not gone and not (site in sites and sites.id(site) in self._full)

    def _must_wait(self, hit: Hit, waiting: Flags | None) -> bool:
        sites, site = self._crawl.site_names, self._site_of(hit.url)
        return waiting is not None and site in sites and bool(waiting[sites.id(site)])

    def _taken(self, hit: Hit) -> Choice:
        """The hit as a choice, like a seed."""
        url = self._crawl.urls.id(hit.url)
        site = self._crawl.site_names.id(self._site_of(hit.url))
        self._hits = [other for other in self._hits if other is not hit]
        self._asked[url] = hit
        self.forget_url(url)
        return Choice(url, site, NONE, np.zeros(self.schema.width, np.float32))

    def _ask(self) -> bool:
        """The next query; false when there is none."""
        if not self.searching:
            return False
        if self.queries and not self._settle():
            self._finished = True
            return False
        self.queries += 1
        pages = (self._engine.search(self._terms.query, page) for page in range(RESULT_PAGES))
        found = {hit.url: hit for hits in pages for hit in hits}
        self._hits = [hit for hit in found.values() if self._can_be_had(hit)]
        self._new = len(self._hits)
        return True

    def _settle(self) -> bool:
        """Learn from the last query and form the next one."""
        precision = self._terms.feed_back(self._judged)
        self._judged = []
        size = len(self._terms.query)
        if precision < 0.5:
            size += 1
        elif self._new < FEW_NEW:
            size -= 1
        return self._terms.renew(max(1, size))
