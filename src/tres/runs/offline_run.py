"""A run over an offline web: from a topic file to events, and to a run directory.

`crawl_offline` and `resume_offline` crawl to the end; `offline_events` hands the events of an open
run to a program one by one. All three drive the same loop, `tres.engines.replay.replay_events`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from tres.crawl.events import Done, Event
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb, replay_events
from tres.errors import ModelError
from tres.offline.web import Web
from tres.policies.registry import OwnPolicy
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import load_model
from tres.runs.open_run import Listener, OpenRun, Result, start_run
from tres.runs.refits import model_source
from tres.runs.resume_run import offline_knowledge, resume_run
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.topic_file import TopicConfig
from tres.store.run_controller import RunController, Switched

OnStart = Callable[[CrawlSession], None]


def crawl_offline(
    config: TopicConfig,
    web: PerceivedWeb,
    directory: Path,
    listener: Listener = lambda session, event: None,
    overwrite: bool = False,
    on_start: OnStart = lambda session: None,
    own: OwnPolicy | None = None,
) -> Result:
    """Crawl an offline web to the end and write the run directory.

    If no seed gives a page, the directory says so and `SeedError` is raised.
    """
    with start_run(
        config, web.perceiver, directory, offline=web, overwrite=overwrite, own=own
    ) as run:
        on_start(run.session)
        return _crawl_to_end(run, web, listener)


def resume_offline(
    directory: Path,
    web: Web,
    pages: int | None = None,
    listener: Listener = lambda session, event: None,
    on_start: OnStart = lambda session: None,
    own: OwnPolicy | None = None,
    model: RelevanceModel | None = None,
    requests: int | None = None,
) -> Result:
    """Resume a run over an offline web and crawl to its budget, which `pages` may raise."""
    known = offline_knowledge(directory, lambda: web)
    with resume_run(directory, pages, requests=requests, known=known, own=own, model=model) as run:
        on_start(run.session)
        perceived = PerceivedWeb(web, perceive_topic(run.config, web, run.model, run.learns))
        return _crawl_to_end(run, perceived, listener)


def _crawl_to_end(run: OpenRun, web: PerceivedWeb, listener: Listener) -> Result:
    for event in offline_events(run, web, listener):
        if isinstance(event, Done):
            return run.finish(event.reason, web=web.web)
        listener(run.session, event)
    raise AssertionError("a replay ends with Done")


def offline_events(
    run: OpenRun, web: PerceivedWeb, listener: Listener = lambda session, event: None
) -> Iterator[Event | Done]:
    """Crawl an open run, event by event; only the events of orders go to the listener."""

    def switch_model(model: Path, switched: Switched) -> None:
        try:
            web.judge_by(load_model(model))
        except ModelError as problem:
            return switched(problem)
        return switched(None)

    def notify(event: Event) -> None:
        listener(run.session, event)

    steps = run.session.steps
    refits = model_source(run.directory, run.config, steps, learns=run.learns)
    controller = RunController(run.recorded, switch_model, notify, refits)
    return replay_events(run.recorded, web, run.config.crawl.in_flight, controller)
