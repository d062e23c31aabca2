"""The process that answers questions; `dashboard.query_process` starts and asks it.

The rows and the decision trees of the last few runs are cached. The tree of a running crawl is
grown from its journal, which takes seconds for a long one. Nodes never change their rule, so a
tree serves every page whose leaf is in it.
"""

from __future__ import annotations

import json
import select
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tres.dashboard.explanations import excerpts, explained
from tres.dashboard.run_counts import Json
from tres.errors import ConfigError, RunError, TresError
from tres.frontier.leaf_rules import TreeView
from tres.report.run_reader import RunReader
from tres.runs.restored_session import tree_of
from tres.store.journal import JOURNAL, Journal
from tres.store.run_directory import SUMMARY

IDLE = 300.0
"""Seconds without a question after which the process ends."""
CACHED_RUNS = 2
PENDING = "its tree has not been grown yet"


@dataclass(slots=True)
class CachedRun:
    """The rows of a run, and its decision tree once it has been grown."""

    reader: RunReader
    tree: TreeView | None = None

    def explain(self, journal: Journal, step: int, wait: bool) -> Json:
        """Explain the page of a step; without `wait`, leave out a rule whose tree takes seconds."""
        run = self.reader.run

        def tree_with(node: int) -> TreeView:
            if self.tree is None or node >= len(self.tree.nodes):
                if not wait and not (run / SUMMARY).exists():
                    raise RunError(PENDING)
                self.tree = tree_of(run, journal)
            return self.tree

        explanation = explained(self.reader, journal, step, tree_with)
        return explanation | {"pending": explanation["leaf_note"] == PENDING}


class QueryHandler:
    """Answers questions about runs."""

    def __init__(self) -> None:
        self._cached: dict[tuple[str, int], CachedRun] = {}

    def answer(self, question: Json) -> Json:
        """Return the answer, or `error` and its HTTP status."""
        try:
            with Journal.open(Path(question["run"]) / JOURNAL) as journal:
                run = self._run(journal, question["run"], question["edition"])
                if question["ask"] == "texts":
                    return excerpts(run.reader, question["steps"])
                return run.explain(journal, question["step"], question["wait"])
        except ConfigError as problem:
            return {"error": problem.message, "status": 404}
        except TresError as problem:
            return {"error": problem.message, "status": 409}

    def _run(self, journal: Journal, directory: str, edition: int) -> CachedRun:
        run = self._cached.pop((directory, edition), None)
        if run is None:
            run = CachedRun(RunReader(Path(directory), journal))
        else:
            run.reader.refresh(journal)
        self._cached[directory, edition] = run
        while len(self._cached) > CACHED_RUNS:
            del self._cached[next(iter(self._cached))]
        return run


def answer_all(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer line by line until the questions end, or none comes for `IDLE` seconds."""
    handler = QueryHandler()
    while select.select([questions], [], [], IDLE)[0] and (line := questions.readline()):
        answers.write(json.dumps(handler.answer(json.loads(line))).encode() + b"\n")
        answers.flush()
