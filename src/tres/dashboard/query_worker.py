"""The process that answers; `dashboard.query_process` tells how it is asked.

What was read of the last few runs is kept, and read on: the rows of a run, and its decision tree.
The tree of a crawl that is going on has to be grown again from its journal, which takes seconds for
a long one. Nodes never change their rule, so a tree that was grown once is good for every page
whose leaf is in it, and an explanation that nobody wants to wait for leaves the rule out.
"""

from __future__ import annotations

import json
import select
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tres.dashboard.explanations import excerpts, explained
from tres.dashboard.run_counts import Json
from tres.errors import ConfigError, RunError, TresError
from tres.frontier.leaf_rules import TreeView
from tres.report.run_reader import RunReader
from tres.runs.resuming import tree_of
from tres.store.run_directory import SUMMARY

IDLE = 300.0
"""Seconds without a question after which the process ends."""
KEPT = 2
"""Runs whose rows are kept."""
PENDING = "its tree has not been grown yet"


@dataclass(slots=True)
class HeldRun:
    """What is kept of a run."""

    reader: RunReader
    tree: TreeView | None = None

    def tree_with(self, run: Path, node: int) -> TreeView:
        """A tree in which there is this node; grown if need be."""
        if self.tree is None or node >= len(self.tree.nodes):
            self.tree = tree_of(run)
        return self.tree

    def tree_at_hand(self, run: Path, node: int) -> TreeView:
        """The same if nobody has to wait for it; `RunError` otherwise."""
        grown = self.tree is not None and node < len(self.tree.nodes)
        if not grown and not (run / SUMMARY).exists():
            raise RunError(PENDING)
        return self.tree_with(run, node)


class QueryHandler:
    """Answers questions about runs."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int], HeldRun] = {}

    def answer(self, question: Json) -> Json:
        """The answer, or `error` and the status that goes with it."""
        try:
            held = self._run(question["run"], question["edition"])
            return QUESTIONS[question["ask"]](held, question)
        except ConfigError as problem:
            return {"error": problem.message, "status": 404}
        except TresError as problem:
            return {"error": problem.message, "status": 409}

    def _run(self, directory: str, edition: int) -> HeldRun:
        held = self._held.pop((directory, edition), None)
        if held is None:
            held = HeldRun(RunReader(Path(directory)))
        else:
            held.reader.refresh()
        self._held[directory, edition] = held
        while len(self._held) > KEPT:
            del self._held[next(iter(self._held))]
        return held


def _explain(held: HeldRun, question: Json) -> Json:
    tree = held.tree_with if question["wait"] else held.tree_at_hand
    told = explained(held.reader, question["step"], tree)
    return told | {"pending": told["leaf_note"] == PENDING}


def _texts(held: HeldRun, question: Json) -> Json:
    return excerpts(held.reader, question["steps"])


QUESTIONS: dict[str, Callable[[HeldRun, Json], Json]] = {"explain": _explain, "texts": _texts}


def answer_all(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer line by line until there are no more questions, or none for long."""
    desk = QueryHandler()
    while select.select([questions], [], [], IDLE)[0] and (line := questions.readline()):
        answers.write(json.dumps(desk.answer(json.loads(line))).encode() + b"\n")
        answers.flush()
