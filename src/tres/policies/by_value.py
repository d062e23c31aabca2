"""A policy of one's own in one method, or two: what are links worth, and what came of a choice?

    class Anchors(ValuePolicy):
        def values(self, links):
            return links[:, self.schema.column("anchor_relevance_mean")]

The Tree-Frontier does the rest, as for TRES: it sorts the links that wait by what experience
has shown, and offers some of every leaf; the one of highest value is fetched. So whoever plugs a
learner in here looks at some hundred links at a decision and never at the whole frontier.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from tres.frontier.decision_tree import NewSplit, Tree
from tres.mdp.columns import Flags, Floats
from tres.mdp.state import CrawlState
from tres.mdp.transitions import Step
from tres.policies.policy import Pick
from tres.policies.registry import make_rows
from tres.policies.tree_random import TreeRandom
from tres.settings.sections import FeatureSet, TreeSection


class ValuePolicy(TreeRandom):
    """Takes the offered link of highest value; subclasses say what values are.

    A subclass that needs a state of its own calls `super().__init__(crawl, rng)` first. Of links
    it sees the features named in `self.schema.features`, in that order. All its randomness
    must come from `self.rng`: then one seed gives one crawl, and a crawl can be resumed.

        >>> class Anchors(ValuePolicy):
        ...     def values(self, links):
        ...         return links[:, self.schema.column("anchor_relevance_mean")]
        >>> Anchors(CrawlState(), np.random.default_rng(1)).schema.features[:2]
        ('citations', 'relevant_citations')
    """

    feature_set: ClassVar[FeatureSet] = "evidence"
    """What is known of a link: `evidence`, or the paper's eight features with `paper`."""

    def __init__(self, crawl: CrawlState, rng: np.random.Generator) -> None:
        self.rng, tree_rng = rng.spawn(2)
        rows, settings = make_rows(self.feature_set, crawl.sites), TreeSection()
        tree = Tree(rows.schema.width, settings.min_split, settings.max_depth)
        super().__init__(rows, tree, tree_rng)
        self._each = settings.representatives

    @abstractmethod
    def values(self, links: Floats) -> Floats:
        """What links are worth: one number per row of a matrix with a column per feature."""

    def observe(self, link: Floats, reward: float) -> None:
        """A link was followed: its features as they were then, and 1 if its page is relevant."""

    def pick(self, waiting: Flags | None) -> Pick | None:
        """The most valuable of the links on offer."""
        frontier = self.tree_frontier
        rows = frontier.sample(frontier.occupied, self._each, waiting)
        if len(rows) == 0:
            return None
        return self.best_of(rows, self._checked(self.rows.vectors(rows)), len(rows))

    def _checked(self, links: Floats) -> Floats:
        values = np.asarray(self.values(links))
        if values.shape != (len(links),) or np.isnan(values).any():
            raise ValueError(
                f"{type(self).__qualname__}.values must give a number for each of {len(links)} "
                f"links, not an array of shape {values.shape} or with something else in it"
            )
        return values

    def study(self, step: Step) -> NewSplit | None:
        """Tell of the reward, and let the tree grow from it."""
        self.observe(step.choice.features, step.experience)
        return super().study(step)
