"""Resuming a run: restore its session from the journal, and open the run again.

The crawl goes on with the newest model, and with a larger budget if one is given: a new segment
of the journal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tres.errors import RunError
from tres.policies.registry import OwnPolicy
from tres.policies.setup import NOTHING, OfflineKnowledge
from tres.relevance.model import RelevanceModel
from tres.runs.open_run import MakeWarc, OpenRun, open_archive
from tres.runs.restored_session import first_session
from tres.runs.topic_session import session_digest
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_header import Meta
from tres.store.model_versions import newest_model
from tres.store.orders import OF_THE_MOMENT, Budget, forget, ordered_budget
from tres.store.resume_hints import resume_hint, write_errors
from tres.store.run_directory import SUMMARY, config_of, write_config
from tres.store.run_lock import lock_run
from tres.store.run_state import at_work
from tres.store.session_rebuild import resume_session


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
        opened = OpenRun(run, config, recorded, model or newest_model(run))
        _begin_segment(opened)
        with resume_hint(run):
            yield opened


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
