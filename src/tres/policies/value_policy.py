"""The base class for a policy of your own: value links, and learn from rewards.

    class Anchors(ValuePolicy):
        def values(self, links):
            return links[:, self.schema.column("anchor_relevance_mean")]

The Tree-Frontier does the rest, as for TRES: it sorts the waiting links by experience and samples
some from every leaf; the one of highest value is fetched. So a decision values some hundred links
and never the whole frontier.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Self

import numpy as np

from tres.frontier.decision_tree import NewSplit, Tree
from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Step
from tres.policies.policy import NEUTRAL, PolicyInfo, Selection
from tres.policies.setup import PolicySetup, make_rows
from tres.policies.tree_random import TreeRandom
from tres.settings.sections import FeatureSet, TreeSection


class ValuePolicy(TreeRandom):
    """Chooses the sampled link of highest value; subclasses define the value.

    A subclass with state of its own calls `super().__init__(crawl, rng)` first. It sees the
    features of links that are named in `self.schema.features`, in that order. All its randomness
    must come from `self.rng`: then one seed gives one crawl, and a crawl can be resumed.

        >>> class Anchors(ValuePolicy):
        ...     def values(self, links):
        ...         return links[:, self.schema.column("anchor_relevance_mean")]
        >>> Anchors(CrawlState(), np.random.default_rng(1)).schema.features[:2]
        ('citations', 'relevant_citations')
    """

    info: ClassVar[PolicyInfo] = NEUTRAL
    feature_set: ClassVar[FeatureSet] = "evidence"
    """The features of a link: `evidence`, or the paper's eight features with `paper`."""

    @classmethod
    def build(cls, setup: PolicySetup) -> Self:
        return cls(setup.crawl, setup.rng)

    def __init__(self, crawl: CrawlState, rng: np.random.Generator) -> None:
        self.rng, tree_rng = rng.spawn(2)
        rows, settings = make_rows(self.feature_set, crawl.sites), TreeSection()
        tree = Tree(rows.schema.width, settings.min_split, settings.max_depth)
        super().__init__(rows, tree, tree_rng)
        self._each = settings.representatives

    @abstractmethod
    def values(self, links: Floats) -> Floats:
        """Return one number for each row of a matrix with a column per feature."""

    def observe(self, link: Floats, reward: float) -> None:
        """Learn from a followed link: its features when chosen, and 1 if its page is relevant."""

    def select(self, waiting: Flags | None) -> Selection | None:
        """Select the sampled link of highest value."""
        frontier = self.tree_frontier
        rows = frontier.sample(frontier.occupied, self._each, waiting)
        return self.best_of(rows, self.values_of(rows), len(rows))

    def values_of(self, rows: Ids) -> Floats:
        """Return the values of rows, after checking them."""
        links = self.rows.vectors(rows)
        values = np.asarray(self.values(links))
        if values.shape != (len(links),) or np.isnan(values).any():
            raise ValueError(
                f"{type(self).__qualname__}.values must return a number for each of {len(links)} "
                f"links, not an array of shape {values.shape} or with NaN in it"
            )
        return values

    def learn_reward(self, step: Step) -> NewSplit | None:
        """Pass the reward on, and let the tree grow from it."""
        self.observe(step.choice.features, step.experience)
        return super().learn_reward(step)
