"""The session of a run as it is now, restored from its journal, and resuming the run.

The journal holds everything that the crawl was given, so folding it needs neither the web nor
the models of that time; a snapshot shortens the fold. A resumed crawl goes on with the newest
model, and with a larger budget if one is given: a new segment of the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.errors import RunError
from tres.frontier.leaf_rules import TreeView
from tres.offline import open_web
from tres.offline.bm25 import SimulatedSearch
from tres.offline.web import Web
from tres.policies.registry import OwnPolicy
from tres.policies.setup import NOTHING, OfflineKnowledge, WebGraph
from tres.relevance.model import RelevanceModel
from tres.runs.open_run import MakeWarc, OpenRun, open_archive
from tres.runs.topic_perceiver import first_model, perceive_topic
from tres.runs.topic_session import new_session, session_digest
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_file import Meta
from tres.store.model_versions import model_of, newest_model
from tres.store.orders import OF_THE_MOMENT, Budget, forget, ordered_budget
from tres.store.run_directory import (
    SUMMARY,
    config_of,
    lock_run,
    resume_hint,
    write_config,
    write_errors,
)
from tres.store.run_results import read_tree
from tres.store.run_state import at_work
from tres.store.session_rebuild import rebuild_session, resume_session


def tree_of(run: Path, journal: Journal | None = None) -> TreeView:
    """Return the decision tree of a run as it is now; `journal` is used if it is open already."""
    if (run / SUMMARY).exists():
        return read_tree(run)
    if (view := session_of(run, journal).policy.tree_view()) is None:
        policy = load_topic(config_of(run)).crawl.policy
        raise RunError(f"{run}: the policy {policy!r} has no tree; try 'tres'")
    return view


def session_of(run: Path, journal: Journal | None = None) -> CrawlSession:
    """Return the session of a run as it is now; `journal` is used if it is open already."""
    config = load_topic(config_of(run))
    if journal is None:
        with Journal.open(run / JOURNAL) as opened:
            return session_of(run, opened)
    address = journal.meta.web
    known = offline_knowledge(run, lambda: open_web(address)) if address else NOTHING
    session, _ = rebuild_session(
        journal, first_session(journal, config, known), session_digest(config)
    )
    return session


def first_session(
    journal: Journal,
    config: TopicConfig,
    known: OfflineKnowledge = NOTHING,
    own: OwnPolicy | None = None,
) -> Callable[[], CrawlSession]:
    """Return what makes the session of a run at its first step."""
    if journal.meta.policy != ("" if own is None else own.name):
        raise _other_policy(journal, config)
    seeds = journal.seeds().links
    first = config.override(pages=journal.segments()[0].pages)
    live = not journal.meta.web
    return lambda: new_session(first, seeds, known, own, live)


def _other_policy(journal: Journal, config: TopicConfig) -> RunError:
    run, name = journal.path.parent, journal.meta.policy
    if name:
        return RunError(
            f"{run}: was crawled by {name}, a policy of another program; resume it there, with "
            "tres.resume_crawl(run, policy=...)"
        )
    return RunError(
        f"{run}: was crawled by the policy {config.crawl.policy!r}; resume it without a policy"
    )


def offline_knowledge(run: Path, web: Callable[[], Web]) -> OfflineKnowledge:
    """Return what some policies know of the web of a run; it is opened only if they ask."""

    def web_graph() -> WebGraph:
        config = load_topic(config_of(run))
        with Journal.open(run / JOURNAL) as journal:
            first = journal.segments()[0].model  # relevance as the first model judges it
        opened = web()
        return PerceivedWeb(
            opened, perceive_topic(config, opened, model_of(run, first))
        ).web_graph()

    return OfflineKnowledge(web_graph, lambda share: SimulatedSearch(web().pages(), share))


class Resumable(NamedTuple):
    """The configuration a run would continue with, its header, and its pages so far."""

    config: TopicConfig
    meta: Meta
    steps: int


def resumable(run: Path, pages: int | None = None) -> Resumable:
    """Return what a run would continue with; `RunError` if it cannot."""
    config = load_topic(config_of(run))
    with Journal.open(run / JOURNAL) as journal:
        left = ordered_budget(run) or journal.segments()[-1].pages
        budget = left if pages is None else pages
        steps = journal.steps()
        if steps > budget or (steps == budget and (run / SUMMARY).exists()):
            raise RunError(
                f"{run}: has fetched {steps:,} of {budget:,} pages; "
                f"to go on, give more than {steps:,} with --pages"
            )
        return Resumable(config.override(pages=budget), journal.meta, steps)


@contextmanager
def resume_run(
    run: Path,
    pages: int | None = None,
    *,
    requests: int | None = None,
    known: OfflineKnowledge = NOTHING,
    warc: MakeWarc | None = None,
    own: OwnPolicy | None = None,
    model: RelevanceModel | None = None,
) -> Iterator[OpenRun]:
    """Open a run as it was when it ended; `pages` and `requests` are new budgets.

    A policy of a program must be given again; a `model` replaces the run's newest.
    """
    config = resumable(run, pages).config.override(requests=requests)
    with _claim(run, pages), _open_journal(run) as journal, open_archive(warc, run) as archive:
        recorded = resume_session(
            journal,
            first_session(journal, config, known, own),
            session_digest(config),
            archive,
            config.live.keep,
            config.crawl.requests,
        )
        learns = _learns(config, journal)
        opened = OpenRun(run, config, recorded, model or newest_model(run), learns)
        _begin_segment(opened)
        with resume_hint(run):
            yield opened


def _learns(config: TopicConfig, journal: Journal) -> bool:
    """Whether the crawl has taught its model so far: it began with that of the topic's words."""
    begun_with = journal.segments()[0].model
    return config.training.learns and begun_with == first_model(config).digest


@contextmanager
def _claim(run: Path, pages: int | None) -> Iterator[None]:
    """Claim the run. Orders to its earlier crawl are dropped, those about the run are kept."""
    outdated = OF_THE_MOMENT if pages is None else (*OF_THE_MOMENT, Budget)
    with lock_run(run):
        forget(run, *outdated)
        with at_work(run):
            yield


def _open_journal(run: Path) -> Journal:
    with write_errors(run):
        return Journal.open(run / JOURNAL, to_write=True)


def _begin_segment(run: OpenRun) -> None:
    """Begin a new segment if the budget or the model is new, and remove the old summary."""
    last = run.recorded.journal.segments()[-1]
    pages, model = run.config.crawl.pages, run.model.digest
    if (last.pages, last.model) != (pages, model):
        run.recorded.begin(pages, model)
    with write_errors(run.directory):
        write_config(run.directory, run.config.to_toml())
        (run.directory / SUMMARY).unlink(missing_ok=True)
