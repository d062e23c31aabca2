"""`ache`: the adaptive focused crawler of Barbosa and Freire (2007), as implemented today.

At first the score of a link is the relevance of its page times 100. After every 500 relevant pages
a link classifier (`tres.agent.link_words`) is trained on the links followed so far, and all waiting
links are scored again: 100 + 100 P if it says relevant, else 100 P, so that every link of the
relevant class precedes all others. Links are taken domain by domain, the domain served least
recently first (`tres.frontier.domain_round_robin`).

*Hard focus*, ACHE's default, throws the links of irrelevant pages away, so a crawl can end with
an empty frontier. *Soft focus* keeps them.

Departures: pages are judged by the topic's model, as for all policies (set `model = "svm"` for
ACHE's own kind); of the three parts of a link's description the words around it are missing,
because archives do not hold them; and a site's cap counts fetched pages, as for all policies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from tres.agent.link_words import RESERVOIR, LinkClassifier, Words, link_words, train_links
from tres.frontier.domain_round_robin import DomainRoundRobin
from tres.frontier.rows import Rows
from tres.mdp.columns import Column, Flags, Floats, Ids
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Outlinks, Step
from tres.policies.policy import FrontierPolicy, PolicyInfo, Selection
from tres.policies.setup import PolicySetup
from tres.relevance.examples import Reservoir
from tres.settings.sections import FocusKind
from tres.web.percept import NUMERIC
from tres.web.url import site_of

TRAIN_EVERY = 500
"""Relevant pages between two trainings of the link classifier."""


class Ache(FrontierPolicy):
    """Page relevance at first, then a link classifier trained while crawling; domains in turn."""

    info = PolicyInfo(
        summary="ACHE: a link classifier that is trained while crawling, the best link of the "
        "domain that was served least recently",
        reads_features=False,
        score_meaning="among the links of the domain whose turn it was",
        obeys_focus=True,
        snapshot_types=(LinkClassifier,),
    )

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        return cls(setup.rows(), setup.crawl, setup.rng, setup.settings.focus)

    def __init__(
        self,
        rows: Rows,
        crawl: CrawlState,
        rng: np.random.Generator,
        focus: FocusKind = "hard",
        train_every: int = TRAIN_EVERY,
    ) -> None:
        self._crawl = crawl
        self._focus = focus
        self._train_every = train_every
        self._noise, yes, no = rng.spawn(3)
        self._relevant_links = Reservoir[Words](RESERVOIR, yes)
        self._irrelevant_links = Reservoir[Words](RESERVOIR, no)
        self._relevant_pages = 0
        self._classifier: LinkClassifier | None = None
        self._score = Column(np.float32)
        self._anchor: dict[int, str] = {}
        self._domains = DomainRoundRobin(rows, self._priority, self._domain)
        super().__init__(rows, self._domains)

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the best link of the domain whose turn it is."""
        best = self._domains.best(waiting)
        if best is None:
            return None
        self._domains.used(best[0])
        return Selection(best[0], q=best[1])

    def learn(self, step: Step) -> None:
        """Learn from a step; with hard focus the links of an irrelevant page are dropped."""
        kept = self._focus == "soft" or step.outlinks.relevant
        step = step if kept else replace(step, outlinks=_without_links(step.outlinks))
        self._describe(step.outlinks)
        super().learn(step)

    def learn_reward(self, step: Step) -> None:
        """Keep the followed link as an example; train after every 500 relevant pages."""
        relevant = step.outlinks.relevant
        if not step.choice.is_seed:
            examples = self._relevant_links if relevant else self._irrelevant_links
            examples.offer(self._words(step.choice.url))
        self._anchor.pop(step.choice.url, None)
        self._relevant_pages += relevant
        if relevant and self._relevant_pages % self._train_every == 0:
            self._classifier = train_links(
                self._relevant_links.sample, self._irrelevant_links.sample
            )
            self._domains.rescore()

    def _describe(self, links: Outlinks) -> None:
        """Remember the first anchor of new links, and the score of the best page they are on."""
        self._score.resize(int(links.urls.max(initial=-1)) + 1)
        for url, anchor in zip(links.urls.tolist(), links.anchors, strict=False):
            self._anchor.setdefault(url, anchor)
        score = np.full(len(links.urls), 100.0 * links.relevance, np.float32)
        if links.relevance == 1.0:  # ACHE mixes the links of such pages at random
            score += self._noise.random(len(score), np.float32)
        self._score.view[links.urls] = np.maximum(self._score.view[links.urls], score)

    def _priority(self, rows: Ids) -> Floats:
        urls = self.rows.url_ids(rows)
        if self._classifier is None:
            return np.asarray(self._score.view[urls])
        chances = [self._classifier.probability(self._words(url)) for url in urls.tolist()]
        chance = np.array(chances, np.float32)
        return np.asarray(100.0 * chance + 100.0 * (chance >= 0.5), np.float32)

    def _domain(self, site: int) -> str:
        return site_of(f"http://{self._crawl.site_names[site]}/", "domain")

    def _words(self, url: int) -> Words:
        return link_words(self._anchor.get(url, ""), self._crawl.urls[url])


def _without_links(links: Outlinks) -> Outlinks:
    columns = ("urls", "sites", "same_site", "places", *NUMERIC)
    return links._replace(anchors=(), **{name: getattr(links, name)[:0] for name in columns})
