"""Taking up a run again: fold its journal, and go on.

The journal holds all that the crawl was given, so the fold needs neither the web nor the
models of then; a snapshot shortens it. The crawl goes on with the newest model, and with a
larger budget if one is given: a new segment of the journal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.errors import RunError
from tres.frontier.leaf_rules import TreeView
from tres.offline import open_web
from tres.offline.bm25 import SimulatedSearch
from tres.offline.web import Web
from tres.policies.oracle import CitationGraph
from tres.policies.registry import NOTHING, OfflineKnowledge, OwnPolicy
from tres.relevance.model import RelevanceModel
from tres.runs.start import (
    Listener,
    MakeWarc,
    OpenRun,
    Result,
    archived,
    new_session,
    replayed,
    session_digest,
)
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_header import Meta
from tres.store.model_versions import model_of, newest_model
from tres.store.orders import OF_THE_MOMENT, Budget, forget, ordered_budget
from tres.store.recorded_session import RecordedSession, folded, resumed, said_how_to_go_on, writing
from tres.store.run_directory import SUMMARY, claimed, config_of, read_tree, write_config
from tres.store.run_state import at_work


class Resumable(NamedTuple):
    """With what a run would go on, and how many pages it has."""

    config: TopicConfig
    meta: Meta
    steps: int


def resumable(run: Path, pages: int | None = None) -> Resumable:
    """With what a run would go on; `RunError` if it cannot."""
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
    """A run as it was when it ended, to be crawled on; `pages` and `requests` are new budgets.

    A policy of its own must be given again; a `model` is used instead of the run's newest.
    """
    config = resumable(run, pages).config.override(requests=requests)
    with _taken_up(run, pages), _opened(run) as journal, archived(warc, run) as archive:
        recorded = resumed(
            journal,
            _first_session(journal, config, known, own),
            session_digest(config),
            archive,
            config.live.keep,
            config.crawl.requests,
        )
        opened = OpenRun(run, config, recorded, model or newest_model(run))
        _begin(opened, recorded)
        with said_how_to_go_on(run):
            yield opened


def resume(
    run: Path,
    web: Web,
    pages: int | None = None,
    listener: Listener = lambda session, event: None,
    started: Callable[[CrawlSession], None] = lambda session: None,
    own: OwnPolicy | None = None,
    model: RelevanceModel | None = None,
    requests: int | None = None,
) -> Result:
    """Go on with a run over a web that is here until its budget, which `pages` may raise."""
    known = OfflineKnowledge(lambda: _foresight(run, web), partial(SimulatedSearch, web.pages()))
    with resume_run(run, pages, requests=requests, known=known, own=own, model=model) as opened:
        started(opened.session)
        seen = PerceivedWeb(web, perceive_topic(opened.config, web, opened.model))
        return replayed(opened, seen, listener)


def tree_of(run: Path, journal: Journal | None = None) -> TreeView:
    """The decision tree of a run as it is now; read from `journal` if it is open already."""
    if (run / SUMMARY).exists():
        return read_tree(run)
    if (view := session_of(run, journal).policy.tree_view()) is None:
        policy = load_topic(config_of(run)).crawl.policy
        raise RunError(f"{run}: the policy {policy!r} has no tree; try 'tres'")
    return view


def session_of(run: Path, journal: Journal | None = None) -> CrawlSession:
    """The session of a run as it is now, to look at; read from `journal` if it is open already."""
    if journal is None:
        with Journal.open(run / JOURNAL) as opened:
            return session_of(run, opened)
    config = load_topic(config_of(run))
    known = _known(run, journal.meta.web)
    session, _ = folded(journal, _first_session(journal, config, known), session_digest(config))
    return session


def _first_session(
    journal: Journal,
    config: TopicConfig,
    known: OfflineKnowledge = NOTHING,
    own: OwnPolicy | None = None,
) -> Callable[[], CrawlSession]:
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
            f"{run}: was crawled by the policy {name} of a program; "
            "give it again there: tres.resume_crawl(run, policy=...)"
        )
    return RunError(f"{run}: was crawled by {config.crawl.policy!r}; go on without a policy")


@contextmanager
def _taken_up(run: Path, pages: int | None) -> Iterator[None]:
    """The run is ours. Orders to an earlier crawl of it are dropped, those about it are not."""
    overtaken = OF_THE_MOMENT if pages is None else (*OF_THE_MOMENT, Budget)
    with claimed(run):
        forget(run, *overtaken)
        with at_work(run):
            yield


def _opened(run: Path) -> Journal:
    with writing(run):
        return Journal.open(run / JOURNAL, to_write=True)


def _begin(run: OpenRun, recorded: RecordedSession) -> None:
    """From here on the run changes: a new segment if anything is new, and no summary."""
    last = recorded.journal.segments()[-1]
    pages, model = run.config.crawl.pages, run.model.digest
    if (last.pages, last.model) != (pages, model):
        recorded.begin(pages, model)
    with writing(run.directory):
        write_config(run.directory, run.config.to_toml())
        (run.directory / SUMMARY).unlink(missing_ok=True)


def _known(run: Path, address: str) -> OfflineKnowledge:
    """What some policies knew of the web of a run; it is opened only if they ask."""
    if not address:
        return NOTHING
    return OfflineKnowledge(
        lambda: _foresight(run, open_web(address)),
        lambda share: SimulatedSearch(open_web(address).pages(), share),
    )


def _foresight(run: Path, web: Web) -> CitationGraph:
    """What the oracle foresaw: the web as the first model judges it."""
    config = load_topic(config_of(run))
    with Journal.open(run / JOURNAL) as journal:
        first = journal.segments()[0].model
    return PerceivedWeb(web, perceive_topic(config, web, model_of(run, first))).foresee()
