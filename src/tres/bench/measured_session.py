"""One crawl of a comparison, measured as it goes.

The reward is always the model's; the judge, which may be another model or the labels, only counts.
Beside harvest rate and sites this measures the quantities of the paper's theory: the frontier and
the leaves over time (Figure 4), the Q evaluations of a decision (Theorems 1 and 2), and the gap
between a choice and the greedy one over the whole frontier, the summand of J* - J (section 2.7).
The gap needs the Q-values of the whole frontier, so it is taken only at some points of the curve;
its time is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tres.crawl.events import Demand, Done, Event, Stepped
from tres.crawl.session import CrawlSession
from tres.engines.replay import Perceiving, replay_events
from tres.policies.policy import FrontierPolicy
from tres.policies.q_learner import QLearner
from tres.web.page import Failed
from tres.web.percept import Percept

POINTS = 100
"""Points of a curve."""
GAP_EVERY = 5
"""Points of a curve between two evaluations of the whole frontier."""

IsRelevant = Callable[[str], bool]


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
class MeasuredSession:
    """Measures a session while the replay engine drives it, as if it were the session."""

    session: CrawlSession
    is_relevant: IsRelevant
    in_flight: int = 1
    """Fetches at once."""
    seconds: float = 0.0
    relevant: int = 0
    evaluations: int = 0
    sites: set[str] = field(default_factory=set)
    curve: list[Point] = field(default_factory=list)
    greedy: float | None = None

    def crawl(self, web: Perceiving) -> dict[str, Any]:
        """Crawl to the end and return the figures."""
        *_, last = replay_events(self, web, self.in_flight)
        assert isinstance(last, Done)
        return self._figures(str(last.reason))

    @property
    def interrupted(self) -> bool:
        """Has the session been told to choose nothing more?"""
        return self.session.interrupted

    def interrupt(self) -> None:
        """Let the session choose nothing more."""
        self.session.interrupt()

    def next(self, k: int = 1, waiting: Iterable[str] = ()) -> Demand:
        """Let the session choose; before a point of the curve, take the greedy value first."""
        if self.session.steps + 1 == self._next_point:
            self.greedy = None if len(self.curve) % GAP_EVERY else self._greedy()
        begin = time.perf_counter()
        demand = self.session.next(k, waiting)
        self.seconds += time.perf_counter() - begin
        return demand

    def receive(self, url: str, outcome: Percept | Failed) -> list[Event]:
        """Let the session learn, and count the page."""
        begin = time.perf_counter()
        events = self.session.receive(url, outcome)
        self.seconds += time.perf_counter() - begin
        for event in events:
            if isinstance(event, Stepped):
                self._count(event)
        return events

    @property
    def _next_point(self) -> int:
        return (len(self.curve) + 1) * max(1, self.session.pages // POINTS)

    def _count(self, stepped: Stepped) -> None:
        self.evaluations += getattr(self.session.policy, "evaluations", 0)
        if self.is_relevant(stepped.url):
            self.relevant += 1
            self.sites.add(stepped.site)
        if stepped.step == self._next_point:
            self.curve.append(self._point(stepped))

    def _greedy(self) -> float | None:
        """Return the highest Q-value of all possible actions, if the policy has Q-values.

        With several fetches in flight the next page was chosen some time ago, so there is none.
        """
        policy = self.session.policy
        if self.in_flight > 1:
            return None
        learner = getattr(policy, "learner", None)
        if not isinstance(policy, FrontierPolicy) or not isinstance(learner, QLearner):
            return None
        rows = policy.rows.waiting
        return float(learner.values(rows).max()) if len(rows) else None

    def _point(self, stepped: Stepped) -> Point:
        policy, greedy = self.session.policy, self.greedy
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

    def _figures(self, stopped: str) -> dict[str, Any]:
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
            "seconds": round(self.seconds, 3),
            "decision_ms": round(1000 * self.seconds / steps, 4),
            "frontier": len(session.policy),
            "leaves": tree.leaves if tree else 0,
            "evaluations": self.evaluations,
            "gap": float(np.mean(gaps)) if gaps else None,
            "curve": [asdict(point) for point in self.curve],
        }
