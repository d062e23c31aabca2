"""A comparison: every policy under every cap from every seed, on all cores.

The web is perceived once per model; the workers are forks of that process and share its percepts.
Every finished crawl is a line of `runs.jsonl`, so a stopped comparison continues where it was. A
crawl gives the same figures (but for times) on any core at any time.

`results.json` has one record per crawl, `curves.csv` their values over time.
"""

from __future__ import annotations

import csv
import gc
import json
import multiprocessing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import numpy as np

from tres.bench.experiment_file import Experiment, Task
from tres.bench.measured_session import IsRelevant, MeasuredSession
from tres.bench.paper_tables import variant_name
from tres.bench.seed_selection import is_labelled, select_seeds
from tres.engines.replay import PerceivedWeb
from tres.errors import RunError
from tres.files.durable import replace_file
from tres.offline.web import Web
from tres.policies.registry import policy_info
from tres.policies.setup import OfflineKnowledge, WebGraph
from tres.runs.topic_perceiver import perceive_topic
from tres.runs.topic_session import new_session, perceive_seeds

RUNS, RESULTS, CURVES = "runs.jsonl", "results.json", "curves.csv"
CURVE_COLUMNS = ("policy", "max_per_site", "seed_url")

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ExperimentContext:
    """What all crawls of an experiment share."""

    experiment: Experiment
    webs: dict[str, PerceivedWeb]
    """The web as each model judges it."""
    seeds: tuple[str, ...]
    is_relevant: IsRelevant
    """The judge of the comparison: labels, or a model."""
    web_graph: WebGraph | None = None
    """What the oracle knows: relevance by the judge, not by the model."""

    def measure(self, task: Task) -> dict[str, Any]:
        """Run one crawl and return its record."""
        seed_url = self.seeds[task.run]
        seed = self.experiment.plan.seed + task.run
        config = self.experiment.config(task.variant, task.cap, seed).override(seeds=[seed_url])
        web = self.webs[config.training.model]
        known = OfflineKnowledge(self._whole_web, web.search_engine)
        session = new_session(config, perceive_seeds(config, web.perceiver), known)
        measured = MeasuredSession(session, self.is_relevant, config.crawl.in_flight)
        return {
            "key": task.key,
            "policy": task.variant.policy,
            "options": task.variant.options,
            "max_per_site": task.cap,
            "seed_url": seed_url,
            "seed": seed,
        } | measured.crawl(web)

    def _whole_web(self) -> WebGraph:
        assert self.web_graph is not None  # made if a policy of the plan needs it
        return self.web_graph


def prepare_experiment(
    experiment: Experiment, web: Web, status: Callable[[str], None] = lambda text: None
) -> ExperimentContext:
    """Perceive the web once per model, find the relevant pages, and select the seeds."""
    models = {experiment.config(variant).training.model: variant for variant in experiment.variants}
    webs: dict[str, PerceivedWeb] = {}
    for model in sorted({experiment.training.model, *models}):
        status(f"perceiving the web with {model}")
        config = experiment.config(experiment.variants[0]).override(model=model)
        webs[model] = PerceivedWeb(web, perceive_topic(config, web))
        webs[model].perceive_all()
    judge = webs[experiment.training.model]
    by_label = judge.labelled(is_labelled(experiment.training.labels))
    by_model = {p.url for p in judge.perceive_all() if p.relevant}
    relevant = by_label if experiment.plan.judge == "labels" else by_model
    status("selecting seeds")
    rng = np.random.default_rng(experiment.plan.seed)
    candidates = relevant & by_model  # a seed that the model rejects would mislead it
    plan = experiment.plan
    seeds = select_seeds(judge, candidates, plan.pages, len(web), plan.runs, rng)
    whole_web = None
    if any("web graph" in policy_info(each.policy).needs for each in experiment.variants):
        whole_web = judge.web_graph().judged(relevant.__contains__)
    return ExperimentContext(experiment, webs, tuple(seeds), relevant.__contains__, whole_web)


def run_bench(
    context: ExperimentContext, out: Path, workers: int, progress: Progress
) -> list[dict[str, Any]]:
    """Run the crawls that are not done yet, write the results, and return all records."""
    done = _resume(context, out)
    tasks = list(context.experiment.tasks())
    left = [task for task in tasks if task.key not in done]
    progress(len(tasks) - len(left), len(tasks))
    with (out / RUNS).open("a", encoding="utf-8") as file:
        for record in _in_parallel(context, left, workers):
            done[record["key"]] = record
            file.write(json.dumps(record) + "\n")
            file.flush()
            progress(len(done), len(tasks))
    records = [done[task.key] for task in tasks]
    write_results(out, records)
    return records


def write_results(out: Path, records: list[dict[str, Any]]) -> None:
    """Write `results.json` and `curves.csv`."""
    hidden = ("key", "curve")
    runs = [{k: v for k, v in record.items() if k not in hidden} for record in records]
    text = json.dumps({"runs": runs}, indent=1) + "\n"
    replace_file(out / RESULTS, text.encode(), durable=False)
    with (out / CURVES).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        columns = next((record["curve"][0] for record in records if record["curve"]), ())
        writer.writerow([*CURVE_COLUMNS, *columns])
        for record in records:
            who = [variant_name(record), *(record[name] for name in CURVE_COLUMNS[1:])]
            writer.writerows([*who, *point.values()] for point in record["curve"])


def _in_parallel(
    context: ExperimentContext, tasks: list[Task], workers: int
) -> Iterable[dict[str, Any]]:
    """Run tasks in forked workers, which share the memory of the context."""
    if workers <= 1:
        yield from map(context.measure, tasks)
        return
    fork = multiprocessing.get_context("fork")
    todo: SimpleQueue[int | None] = fork.SimpleQueue()
    answers: SimpleQueue[dict[str, Any] | str] = fork.SimpleQueue()
    gc.collect()
    gc.freeze()  # so that garbage collection in a fork copies no memory
    processes = [
        fork.Process(target=_run_tasks, args=(context, tasks, todo, answers), daemon=True)
        for _ in range(min(workers, len(tasks)))
    ]
    for worker in processes:
        worker.start()
    for number in range(len(tasks)):
        todo.put(number)
    for _ in processes:
        todo.put(None)
    for _ in tasks:
        answer = answers.get()
        if isinstance(answer, str):
            raise RunError(f"a crawl of the comparison failed: {answer}")
        yield answer
    for worker in processes:
        worker.join()


def _run_tasks(
    context: ExperimentContext,
    tasks: list[Task],
    todo: SimpleQueue[int | None],
    answers: SimpleQueue[dict[str, Any] | str],
) -> None:
    while (number := todo.get()) is not None:
        try:
            answers.put(context.measure(tasks[number]))
        except Exception as problem:  # raised by the parent, which waits for an answer
            answers.put(f"{tasks[number].key}: {problem!r}")


def _resume(context: ExperimentContext, out: Path) -> dict[str, dict[str, Any]]:
    """Return the records of finished crawls; refuse the directory of another experiment."""
    out.mkdir(parents=True, exist_ok=True)
    identity = out / "experiment.sha256"
    digest = _digest(context)
    if identity.exists() and identity.read_text().strip() != digest:
        raise RunError(f"{out}: contains another experiment; name another --out")
    identity.write_text(digest + "\n")
    path = out / RUNS
    if not path.exists():
        return {}
    whole = path.read_text(encoding="utf-8")
    whole = whole[: whole.rfind("\n") + 1]  # a crash may have cut the last line
    path.write_text(whole, encoding="utf-8")
    records = [json.loads(line) for line in whole.splitlines()]
    return {record["key"]: record for record in records}


def _digest(context: ExperimentContext) -> str:
    """Return a digest of all that makes figures comparable; policies and caps may be added."""
    experiment = context.experiment
    models = {name: each.perceiver.model.digest for name, each in context.webs.items()}
    judge = models[experiment.training.model]
    plan = experiment.plan
    parts = [experiment.topic, experiment.tree, experiment.agent, plan.pages, plan.judge, plan.seed]
    text = json.dumps([repr(parts), judge, context.seeds[:1]])
    return sha256(text.encode()).hexdigest()
