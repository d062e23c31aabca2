"""The order of choices: seeds, second attempts that are due, the policy's links, then the rest.

A choice must not be of a site that is busy, that would pass its cap if all fetches in flight
succeed, or that is held (`tres.crawl.endorsement`) while anything else is left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from tres.crawl.actions import Actions
from tres.crawl.endorsement import Endorsements
from tres.crawl.postponed import PostponedChoices
from tres.mdp.columns import Flags
from tres.mdp.sites import Sites
from tres.mdp.transitions import Choice
from tres.policies.policy import Policy


class Chooser:
    """Takes the next choice from the seeds, the postponed choices or the policy."""

    def __init__(
        self,
        policy: Policy,
        seeds: Iterable[Choice],
        sites: Sites,
        actions: Actions,
        endorsements: Endorsements,
    ) -> None:
        self.seeds = deque(seeds)
        self.postponed = PostponedChoices()
        self._policy = policy
        self._sites = sites
        self._actions = actions
        self._endorsements = endorsements

    def choose(self, busy: list[int], budget: int, in_flight: int) -> Choice | None:
        """Take the next choice, avoiding sites in `busy`; None if there is none now."""
        must_wait = self._must_wait(busy, in_flight)
        if (seed := self._next_seed(must_wait)) is not None:
            return seed
        held = self._endorsements.held(budget)
        if held is not None and must_wait is not None:
            held |= must_wait
        return (
            self.postponed.due(must_wait)
            or self._policy.choose(must_wait if held is None else held)
            or self.postponed.resting(must_wait)
            or (None if held is None else self._choose_held(must_wait, busy, in_flight))
        )

    def close(self, site: int) -> None:
        """Drop everything that waits for a site."""
        self.seeds = deque(seed for seed in self.seeds if seed.site != site)
        self.postponed.forget_site(site)
        self._policy.forget_site(site)

    def _next_seed(self, must_wait: Flags | None) -> Choice | None:
        for _ in range(len(self.seeds)):
            if must_wait is None or not must_wait[self.seeds[0].site]:
                return self.seeds.popleft()
            self.seeds.rotate(-1)
        return None

    def _choose_held(
        self, must_wait: Flags | None, busy: list[int], in_flight: int
    ) -> Choice | None:
        """Take a link of a held site, once no other link is left that could be fetched later."""
        silent = self.postponed.silent()
        answering = [site for site in busy if site not in silent]
        if in_flight or self._actions.waiting.wait_for(answering):
            return None
        choice = self._policy.choose(must_wait)
        if choice is not None:
            self._endorsements.release()
        return choice

    def _must_wait(self, busy: list[int], in_flight: int) -> Flags | None:
        """Return which sites are busy, or at their cap if all fetches in flight succeed."""
        if not busy and (not in_flight or self._sites.limit == float("inf")):
            return None  # sites at their cap have left the frontier already
        must_wait = self._sites.saturated()
        must_wait[busy] = True
        return must_wait
