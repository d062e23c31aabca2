"""The priority queue against a sorted list, with sites that must wait."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tres.frontier.edge_rows import EdgeRows
from tres.frontier.queue_frontier import QueueFrontier
from tres.mdp.feature_schema import NO_SITE
from tres.mdp.paths import PathFeatures
from tres.mdp.sites import Sites
from tres.mdp.transitions import Outlinks

SITES = 3


class QueueMachine(RuleBasedStateMachine):
    """Rows with priorities that change; the model is a list in order of arrival."""

    def __init__(self) -> None:
        super().__init__()
        sites = Sites()
        sites.make_room(SITES)
        self.rows = EdgeRows(NO_SITE, sites)
        self.priority: dict[int, float] = {}
        self.model: list[int] = []  # rows that wait, equals in order of arrival
        self.queue = QueueFrontier(
            self.rows, lambda rows: np.array([self.priority[int(r)] for r in rows], np.float32)
        )

    @rule(priorities=st.lists(st.integers(0, 4), max_size=6))
    def insert(self, priorities: list[int]) -> None:
        first = self.rows.total
        change = self.rows.add_links(outlinks(range(first, first + len(priorities))))
        self.priority |= dict(zip(change.new.tolist(), map(float, priorities), strict=True))
        self.queue.insert(change.new)
        self.model += change.new.tolist()

    @precondition(lambda self: self.model)
    @rule(data=st.data(), priority=st.integers(0, 4))
    def change_priority(self, data: st.DataObject, priority: int) -> None:
        row = data.draw(st.sampled_from(self.model))
        if self.priority[row] != priority:  # who keeps its priority keeps its place
            self.model.remove(row)
            self.model.append(row)
        self.priority[row] = float(priority)
        self.queue.update(np.array([row], np.int32))

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        row = data.draw(st.sampled_from(self.model))
        self.queue.remove(np.array([row], np.int32))
        self.model.remove(row)

    @rule(blocked=st.sets(st.integers(0, SITES - 1)))
    def take_the_best(self, blocked: set[int]) -> None:
        waiting = np.array([site in blocked for site in range(SITES)])
        ready = [row for row in self.model if row % SITES not in blocked]
        best = self.queue.best(waiting)
        if not ready:
            assert best is None
            return
        expected = max(ready, key=lambda row: self.priority[row])  # first of equals
        assert best == (expected, self.priority[expected])
        self.queue.remove(np.array([expected], np.int32))
        self.model.remove(expected)

    @invariant()
    def the_queue_is_as_long_as_the_list(self) -> None:
        assert len(self.queue) == len(self.model)


QueueMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestQueue = QueueMachine.TestCase


def outlinks(urls: range) -> Outlinks:
    """Links to these URLs; url u is on site u % SITES."""
    n = len(urls)
    flags, zeros = np.zeros(n, np.bool_), np.zeros(n, np.float32)
    ids = np.array(urls, np.int32)
    return Outlinks(
        0,
        0.0,
        False,
        PathFeatures(0, 0, 0),
        ids,
        ids % SITES,
        flags,
        flags,
        flags,
        zeros,
        places=np.arange(n, dtype=np.int32),
    )
