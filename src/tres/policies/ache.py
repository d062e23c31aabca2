"""`ache`: the adaptive focused crawler of Barbosa and Freire (2007), as its source has it today.

A link's score is at first the relevance of its page times 100. After every 500 relevant pages a
link classifier (`tres.agent.link_words`) is trained anew from links that were followed, and all
links that wait are scored again: 100 + 100 P if it says relevant, else 100 P, so that every link
of the relevant class stands before every other one. Links are taken domain by domain, the domain
used longest ago first (`tres.frontier.domain_round_robin`).

*Hard focus*, ACHE's default, throws the links of irrelevant pages away, so a crawl can end with
an empty frontier. *Soft focus* keeps them.

Departures: pages are judged by the topic's model, like those of all policies (set `model = "svm"`
for ACHE's own kind); of the three parts of a link's description the words around it are missing,
which archives do not hold; and a site's cap counts fetched pages, as for everybody.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tres.agent.link_words import LinkClassifier, Reservoir, Words, link_words, train_links
from tres.frontier.domain_round_robin import DomainRoundRobin
from tres.frontier.rows import Rows
from tres.mdp.columns import Column, Flags, Floats, Ids
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Outlinks, Step
from tres.policies.policy import FrontierPolicy, Pick
from tres.settings.sections import FocusKind
from tres.web.percept import NUMERIC
from tres.web.url import site_of

TRAIN_EVERY = 500
"""Relevant pages between two trainings of the link classifier."""


class Ache(FrontierPolicy):
    """Page relevance first, then a link classifier learnt on the way; domains in turns."""

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
        self._led_well, self._led_astray = Reservoir(yes), Reservoir(no)
        self._relevant = 0
        self._classifier: LinkClassifier | None = None
        self._score = Column(np.float32)
        self._anchor: dict[int, str] = {}
        self._turns = DomainRoundRobin(rows, self._priority, self._domain)
        super().__init__(rows, self._turns)

    def pick(self, waiting: Flags | None) -> Pick | None:
        """The best link of the domain whose turn it is."""
        best = self._turns.best(waiting)
        if best is None:
            return None
        self._turns.used(best[0])
        return Pick(best[0], q=best[1])

    def learn(self, step: Step) -> None:
        """Hard focus: an irrelevant page leads nowhere."""
        kept = self._focus == "soft" or step.outlinks.relevant
        step = step if kept else replace(step, outlinks=_without_links(step.outlinks))
        self._describe(step.outlinks)
        super().learn(step)

    def study(self, step: Step) -> None:
        """The link that was followed is an example; every 500 relevant pages they are learnt."""
        relevant = step.outlinks.relevant
        if not step.choice.is_seed:
            examples = self._led_well if relevant else self._led_astray
            examples.offer(self._words(step.choice.url))
        self._anchor.pop(step.choice.url, None)
        self._relevant += relevant
        if relevant and self._relevant % self._train_every == 0:
            self._classifier = train_links(self._led_well.held, self._led_astray.held)
            self._turns.rescore()

    def _describe(self, links: Outlinks) -> None:
        """What is known of new links: their first anchor, and the best page that holds them."""
        self._score.resize(int(links.urls.max(initial=-1)) + 1)
        for url, anchor in zip(links.urls.tolist(), links.anchors, strict=False):
            self._anchor.setdefault(url, anchor)
        score = np.full(len(links.urls), 100.0 * links.relevance, np.float32)
        if links.relevance == 1.0:  # ACHE's way to mix the links of certain pages
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
