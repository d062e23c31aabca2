"""One crawl of a comparison, measured as it goes.

The reward is always the model's; the judge, who may be another, only counts. Beside harvest rate
and sites this measures what the theory of the paper speaks of: the frontier and the leaves over
time (Figure 4), the Q evaluations of a decision (Theorems 1 and 2), and the gap of a choice to
the greedy one over the whole frontier, the summand of J* - J (section 2.7). The gap costs a look
at the whole frontier, so it is taken only at some points of the curve; its time is not counted.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tres.crawl.events import Done, Event, Fetch, Stepped
from tres.crawl.session import CrawlSession
from tres.engines.replay import Perceiving
from tres.policies.learner import QLearner
from tres.policies.policy import FrontierPolicy

POINTS = 100
"""Points of a curve."""
GAP_EVERY = 5
"""Points of a curve between two looks at the whole frontier."""

Truth = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Point:
    """A crawl at one step: counts by the judge, sizes, and the last decision."""

    step: int
    relevant: int
    sites: int
    frontier: int
    leaves: int
    evaluations: int
    gap: float | None = None


@dataclass(slots=True)
class Trial:
    """Drives a session and keeps count."""

    session: CrawlSession
    seen: Perceiving
    truth: Truth
    in_flight: int = 1
    """Fetches at once; with more than one, the oldest comes back first, as in a replay."""
    relevant: int = 0
    evaluations: int = 0
    sites: set[str] = field(default_factory=set)
    curve: list[Point] = field(default_factory=list)

    def run(self) -> dict[str, Any]:
        """Crawl to the end; the figures of the run."""
        every = max(1, self.session.pages // POINTS)
        seconds, due, greedy = 0.0, every, None
        fetching: deque[str] = deque()
        while True:
            if self.session.steps + 1 == due:
                greedy = None if len(self.curve) % GAP_EVERY else self._greedy()
            begin = time.perf_counter()
            demand = self.session.next(self.in_flight - len(fetching))
            if isinstance(demand, Done):
                break
            if isinstance(demand, Fetch):
                fetching.extend(demand.urls)
            url = fetching.popleft()
            events = self.session.receive(url, self.seen.perceive(url))
            seconds += time.perf_counter() - begin
            stepped = self._count(events)
            if stepped is not None and stepped.step == due:
                self.curve.append(self._point(stepped, greedy))
                due += every
        return self._figures(str(demand.reason), seconds)

    def _count(self, events: list[Event]) -> Stepped | None:
        stepped = next((event for event in events if isinstance(event, Stepped)), None)
        if stepped is not None:
            self.evaluations += getattr(self.session.policy, "evaluations", 0)
            if self.truth(stepped.url):
                self.relevant += 1
                self.sites.add(stepped.site)
        return stepped

    def _greedy(self) -> float | None:
        """The highest Q of all actions that could be taken now, for a policy that has one.

        With several fetches in flight the page that comes next was chosen some time ago.
        """
        policy = self.session.policy
        if self.in_flight > 1:
            return None
        learner = getattr(policy, "learner", None)
        if not isinstance(policy, FrontierPolicy) or not isinstance(learner, QLearner):
            return None
        rows = policy.rows.waiting
        return float(learner.values(rows).max()) if len(rows) else None

    def _point(self, stepped: Stepped, greedy: float | None) -> Point:
        policy = self.session.policy
        q = None if stepped.explored else stepped.q
        return Point(
            step=stepped.step,
            relevant=self.relevant,
            sites=len(self.sites),
            frontier=len(policy),
            leaves=policy.tree.leaves if policy.tree else 0,
            evaluations=getattr(policy, "evaluations", 0),
            gap=None if greedy is None or q is None else greedy - q,
        )

    def _figures(self, stopped: str, seconds: float) -> dict[str, Any]:
        session, steps = self.session, max(1, self.session.steps)
        gaps = [point.gap for point in self.curve if point.gap is not None]
        tree = session.policy.tree
        return {
            "budget": session.pages,
            "pages": session.steps,
            "relevant": self.relevant,
            "harvest_rate": self.relevant / steps,
            "model_harvest_rate": session.harvest_rate,
            "relevant_sites": len(self.sites),
            "stopped": stopped,
            "seconds": round(seconds, 3),
            "decision_ms": round(1000 * seconds / steps, 4),
            "frontier": len(session.policy),
            "leaves": tree.leaves if tree else 0,
            "evaluations": self.evaluations,
            "gap": float(np.mean(gaps)) if gaps else None,
            "curve": [asdict(point) for point in self.curve],
        }
