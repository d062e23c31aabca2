"""A run on the live Web: from a topic file to a run directory, and resumed where it stopped.

A crawl is one coroutine (`tres.engines.scrapy.live_loop`). Pages are read in a process of their own
with the model that the run keeps, so a resumed crawl reads as the first one did.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tres.crawl.events import Event
from tres.engines.network.open_files import limit_in_flight
from tres.engines.reading.switching_reader import SwitchingReader
from tres.engines.scrapy.live_loop import LiveCrawl, LiveLoop
from tres.engines.scrapy.logs import LOG, logging_to
from tres.policies.registry import OwnPolicy
from tres.runs.live_components import (
    check_live,
    in_live_loop,
    make_controller,
    reader_plan,
    restore_memory,
    scrapy_settings,
    warc_maker,
)
from tres.runs.open_run import Listener, OpenRun, Result, start_run
from tres.runs.resume_run import resumable, resume_run
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.topic_file import TopicConfig
from tres.store.journal import JOURNAL
from tres.store.run_directory import refuse_taken
from tres.web.percept import Perceiver

_log = logging.getLogger(__name__)


def crawl_live(
    config: TopicConfig,
    directory: Path,
    listener: Listener = lambda session, event: None,
    overwrite: bool = False,
    own: OwnPolicy | None = None,
) -> Result:
    """Crawl the Web to the end and write the run directory; once per process."""
    refuse_taken(directory, overwrite)
    check_live(config)
    return in_live_loop(lambda loop: live_run(loop, config, directory, listener, overwrite, own))


async def live_run(
    loop: LiveLoop,
    config: TopicConfig,
    directory: Path,
    listener: Listener = lambda session, event: None,
    overwrite: bool = False,
    own: OwnPolicy | None = None,
) -> Result:
    """Crawl the Web once, in a loop that may run several crawls."""
    perceiver, warc = perceive_topic(config, None), warc_maker(config)
    with start_run(config, perceiver, directory, overwrite=overwrite, warc=warc, own=own) as run:
        return await _crawl_to_end(loop, run, perceiver, listener)


def resume_live(
    directory: Path,
    pages: int | None = None,
    listener: Listener = lambda session, event: None,
    own: OwnPolicy | None = None,
    requests: int | None = None,
    **changes: object,
) -> Result:
    """Resume a run on the live Web; `changes` are settings for the rest of it."""
    config = resumable(directory, pages).config.override(requests=requests, **changes)
    check_live(config)

    async def main(loop: LiveLoop) -> Result:
        warc = warc_maker(config)
        with resume_run(directory, pages, requests=requests, warc=warc, own=own) as opened:
            run = replace(opened, config=config)
            perceiver = perceive_topic(run.config, None, run.model, run.learns)
            return await _crawl_to_end(loop, run, perceiver, listener)

    return in_live_loop(main)


@contextmanager
def start_or_resume(config: TopicConfig, directory: Path) -> Iterator[tuple[OpenRun, Perceiver]]:
    """Open the live run in a directory, new or as it was left, for another engine to drive."""
    warc = warc_maker(config)
    if (directory / JOURNAL).exists():
        pages, requests = config.crawl.pages, config.crawl.requests
        with resume_run(directory, pages, requests=requests, warc=warc) as run:
            yield run, perceive_topic(run.config, None, run.model, run.learns)
    else:
        perceiver = perceive_topic(config, None)
        with start_run(config, perceiver, directory, warc=warc) as run:
            yield run, perceiver


async def _crawl_to_end(
    loop: LiveLoop, run: OpenRun, perceiver: Perceiver, listener: Listener
) -> Result:
    config, journal = run.config, run.recorded.journal
    memory = restore_memory(config, journal)
    reader = SwitchingReader(reader_plan(run, perceiver))

    def notify(event: Event) -> None:
        listener(run.session, event)

    try:
        await reader.start()
        live = LiveCrawl(
            session=run.recorded,
            reader=reader,
            in_flight=limit_in_flight(config.crawl.in_flight),
            site_by=config.crawl.site,
            max_hop_wait=config.live.timeout,
            backing_off=journal.resting(),
            redirects=config.live.redirects,
            memory=memory,
            listener=notify,
            steering=make_controller(run, perceiver, reader, notify),
        )
        with logging_to(run.directory / LOG):
            reason = await loop.crawl(live, scrapy_settings(config))
            _log_dropped(memory.dropped + run.session.dropped)
    finally:
        await reader.close()
    return run.finish(reason, memory.dropped)


def _log_dropped(dropped: Counter[str]) -> None:
    """Log how many links each rule or limit has kept out."""
    if counts := dropped.most_common():
        text = ", ".join(f"{count:,} by the rule {rule!r}" for rule, count in counts)
        _log.warning("links that were not followed: %s", text)
