"""Crawls from a program: to their end, resumed, or page by page.

All three take a topic, a web (none for the live Web), perhaps a policy and a judge of your own,
and settings that override those of the topic. A policy of your own is anything that makes a
`Policy` from the state of a crawl and a generator of random numbers; a class with such a
constructor (`tres.ValuePolicy`) is one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tres.api.results import Run
from tres.crawl.events import Done, Event, Stepped, StopReason
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.errors import ConfigError
from tres.mdp.state import CrawlState
from tres.offline import open_web
from tres.offline.web import Web
from tres.policies.policy import Policy
from tres.policies.registry import OwnPolicy, with_loaded_code
from tres.relevance.custom_model import Judge, as_model
from tres.runs.offline_run import crawl_offline, offline_events, resume_offline
from tres.runs.open_run import Listener, start_run
from tres.runs.resume_run import resumable
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.topic_file import TopicConfig

MakePolicy = Callable[[CrawlState, np.random.Generator], Policy]
OnPage = Callable[[Stepped], object]


def run_crawl(
    topic: TopicConfig,
    web: Web | str | None = None,
    *,
    run: Path | str,
    policy: str | MakePolicy | None = None,
    judge: Judge | None = None,
    on_page: OnPage | None = None,
    overwrite: bool = False,
    **settings: object,
) -> Run:
    """Crawl a web to the end of the budget, and write the run to the directory `run`.

    Without a `web`, crawl the live Web within the limits of the topic's `live` settings; that
    works once per process, because Twisted's reactor cannot restart. `judge` says
    what is relevant, instead of a model that is trained; on the live Web, where pages are read
    in a process of their own, name it by its path as `model`. `on_page` receives every page;
    the crawl ends early if it returns False. `settings` override those of the topic.

        >>> web = open_web("generated:pages=300,seed=1")
        >>> topic = new_topic(["astronomy"], web.seeds("astronomy"), labels=["astronomy"])
        >>> with TemporaryDirectory() as here:
        ...     run = run_crawl(topic, web, run=f"{here}/run", pages=20)
        ...     len(run.pages), run.summary["stopped"]
        (20, 'budget')
    """
    config, own = _plan(topic, policy, settings)
    listener = _listener(on_page)
    if web is None:
        from tres.runs.live_run import crawl_live

        _refuse_judge(judge)
        crawl_live(config, Path(run), listener, overwrite, own=own)
    else:
        perceived = _perceived(config, web, judge)
        crawl_offline(config, perceived, Path(run), listener, overwrite, own=own)
    return Run(run)


def resume_crawl(
    run: Run | Path | str,
    web: Web | str | None = None,
    *,
    pages: int | None = None,
    policy: MakePolicy | None = None,
    judge: Judge | None = None,
    on_page: OnPage | None = None,
) -> Run:
    """Resume a crawl, however it ended; `pages` is a new budget in all.

    The run knows its web, if that has a path or a name; any other is given again, and so are
    a policy and a judge of your own.
    """
    path = run.path if isinstance(run, Run) else Path(run)
    own = None if policy is None else _own(policy)
    meta = resumable(path, pages).meta
    listener, spec = _listener(on_page), web or meta.web
    if not spec:
        from tres.runs.live_run import resume_live

        _refuse_judge(judge)
        resume_live(path, pages, listener, own=own)
    else:
        model = None if judge is None else as_model(judge)
        resume_offline(path, _opened(spec), pages, listener, own=own, model=model)
    return Run(path)


def crawl_pages(
    topic: TopicConfig,
    web: Web | str,
    *,
    run: Path | str | None = None,
    policy: str | MakePolicy | None = None,
    judge: Judge | None = None,
    overwrite: bool = False,
    **settings: object,
) -> Generator[Stepped]:
    """Crawl an archive or a generated web, and get each page as soon as it is judged.

    Stop when you have enough: a crawl of which no page is asked for any more ends there (where
    the loop is kept in a variable, with its `close()`). With a `run` it is kept, and can be
    resumed; without one nothing is.

        >>> web = open_web("generated:pages=300,seed=1")
        >>> topic = new_topic(["astronomy"], web.seeds("astronomy"), labels=["astronomy"])
        >>> for page in crawl_pages(topic, web):
        ...     if page.step == 3:
        ...         break
        >>> page.step, page.url.startswith("http"), 0 <= page.relevance <= 1
        (3, True, True)
    """
    config, own = _plan(topic, policy, settings)
    return _pages(config, _perceived(config, web, judge), run, own, overwrite)


def _pages(
    config: TopicConfig,
    web: PerceivedWeb,
    run: Path | str | None,
    own: OwnPolicy | None,
    overwrite: bool,
) -> Generator[Stepped]:
    """Yield the steps of a new run; a run that is left early is interrupted in good order."""
    with (
        _run_directory(run) as directory,
        start_run(
            config, web.perceiver, directory, offline=web, overwrite=overwrite, own=own
        ) as opened,
    ):
        try:
            for event in offline_events(opened, web):
                if isinstance(event, Stepped):
                    yield event
                if isinstance(event, Done):
                    opened.finish(event.reason, web=web.web)
        except GeneratorExit:
            opened.finish(StopReason.INTERRUPTED, web=web.web)
            raise


@contextmanager
def _run_directory(run: Path | str | None) -> Iterator[Path]:
    if run is not None:
        yield Path(run)
        return
    with TemporaryDirectory() as scratch:
        yield Path(scratch) / "run"


def _plan(
    topic: TopicConfig, policy: str | MakePolicy | None, settings: dict[str, object]
) -> tuple[TopicConfig, OwnPolicy | None]:
    """The topic with its settings for this crawl, and the policy if it is your own."""
    if policy is None or isinstance(policy, str):
        return with_loaded_code(topic.override(**settings, policy=policy)), None
    return topic.override(**settings), _own(policy)


def _own(policy: MakePolicy) -> OwnPolicy:
    return OwnPolicy(getattr(policy, "__qualname__", type(policy).__qualname__), policy)


def _perceived(config: TopicConfig, web: Web | str, judge: Judge | None) -> PerceivedWeb:
    opened = _opened(web)
    model = None if judge is None else as_model(judge)
    return PerceivedWeb(opened, perceive_topic(config, opened, model))


def _opened(web: Web | str) -> Web:
    return open_web(web) if isinstance(web, str) else web


def _listener(on_page: OnPage | None) -> Listener:
    def listen(session: CrawlSession, event: Event) -> None:
        if on_page and isinstance(event, Stepped) and on_page(event) is False:
            session.interrupt()

    return listen


def _refuse_judge(judge: Judge | None) -> None:
    if judge is not None:
        raise ConfigError(
            "judge: the live Web is judged in a process of its own; put the judge into an "
            'installed package and name it, model="package.module:Name", or crawl an archive'
        )
