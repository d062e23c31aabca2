"""`--log-json`: the events of a crawl as lines of JSON, for programs.

Every line on standard error is one JSON object in ASCII, whatever text pages, servers and
libraries send: {"at": time in UTC, "event": name, ...}. Errors and interrupts are lines as well.
docs/logs.md says what each event means. If the reader goes away, the crawl goes on without a log.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TextIO

import click

from tres import __version__
from tres.crawl.events import (
    Continued,
    Event,
    FetchFailed,
    LeafSplit,
    LinksLimited,
    Paused,
    Postponed,
    SiteBlocked,
    SiteCapped,
    SiteHeld,
    Stepped,
)
from tres.crawl.page_record import LOGGED
from tres.crawl.session import CrawlSession
from tres.engines.scrapy.logs import LOGGER_NAMES
from tres.errors import TresError
from tres.runs.open_run import Result
from tres.settings.topic_file import TopicConfig
from tres.store.journal import JOURNAL
from tres.store.run_directory import command_to_resume

EVENTS: dict[type[Event], str] = {
    Stepped: "page",
    FetchFailed: "failed",
    Postponed: "postponed",
    LeafSplit: "split",
    SiteCapped: "capped",
    LinksLimited: "limited",
    SiteHeld: "held",
    SiteBlocked: "blocked",
    Paused: "paused",
    Continued: "continued",
}
"""The names of a session's events in a log."""

RESULT = (
    *("stopped", "pages", "budget", "relevant", "harvest_rate", "relevant_sites", "failures"),
    *("frontier", "leaves", "seconds"),
)
"""The values of a summary in the last line of a crawl."""


def _now() -> datetime:
    return datetime.now(UTC)


class JsonLog:
    """Writes events as lines; a listener like the progress line."""

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], datetime] = _now) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._entered = ExitStack()

    def __enter__(self) -> Self:
        handler = _LogLines(self)
        for name in (None, *LOGGER_NAMES):  # not all of these propagate to the root logger
            logger = logging.getLogger(name)
            logger.addHandler(handler)
            self._entered.callback(logger.removeHandler, handler)
        self._entered.enter_context(warnings.catch_warnings())
        warnings.showwarning = self.warned
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Write an error as a line, and exit without printing it again."""
        self._entered.close()
        match error:
            case TresError():
                notes = getattr(error, "__notes__", ())
                self.write("error", message=error.message, details=[*error.details, *notes])
                raise click.exceptions.Exit(error.exit_code)
            case KeyboardInterrupt():
                raise click.exceptions.Exit(1)
            case Exception() if not isinstance(error, click.exceptions.Exit):  # a bug in tres
                trace_text = "".join(traceback.format_exception(error))
                message = f"{type(error).__name__}: {error}"
                self.write("error", message=message, traceback=trace_text)
                raise click.exceptions.Exit(1)

    def __call__(self, session: CrawlSession, event: Event) -> None:
        """Write an event of the crawl."""
        names = LOGGED if isinstance(event, Stepped) else [field.name for field in fields(event)]
        values = {name: getattr(event, name) for name in names}
        if isinstance(event, Stepped):
            values["harvest_rate"] = session.harvest_rate
            values["relevant_sites"] = session.relevant_sites
            values["budget"] = session.pages
        self.write(EVENTS[type(event)], **values)

    def replaying(self, pages: int) -> None:
        """Write that the journal of a resumed run, with so many pages, is being read."""
        self.write("replaying", pages=pages)

    def started(self, config: TopicConfig, run: Path, web: str, resumed: bool) -> None:
        """Write that a crawl starts or continues."""
        self.write(
            "started",
            version=__version__,
            name=config.name,
            run=str(run),
            web=web,
            policy=config.crawl.policy,
            budget=config.crawl.pages,
            resumed=resumed,
        )

    def finished(self, result: Result, run: Path) -> None:
        """Write the result of a crawl."""
        self.write("finished", run=str(run), **{key: result.summary[key] for key in RESULT})

    def stopped_at_once(self, run: Path) -> None:
        """Write that a second signal ended the crawl, and how to continue if it had begun."""
        go_on = command_to_resume(run) if (run / JOURNAL).exists() else None
        self.write("stopped", run=str(run), go_on=go_on)

    def warned(self, message: Warning | str, *_: object, **__: object) -> None:
        """Write a warning of Python or a library."""
        self.write("log", level="warning", logger="py.warnings", message=str(message))

    def write(self, event: str, **fields: Any) -> None:
        """Write one line; infinite numbers and NaN are null."""
        at = self._clock().isoformat(timespec="milliseconds")
        known = {key: _plain(value) for key, value in fields.items()}
        line = json.dumps({"at": at, "event": event, **known}, allow_nan=False)
        with suppress(OSError):  # the reader is gone, or its disk is full
            self._stream.write(f"{line}\n")
            self._stream.flush()


class _LogLines(logging.Handler):
    """Writes the records of Python's logging as events, each of them once."""

    def __init__(self, log: JsonLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self._last: logging.LogRecord | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record as one line."""
        if record is self._last:
            return
        self._last = record
        values = {"level": record.levelname.lower(), "logger": record.name}
        if record.exc_info:
            values["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        self._log.write("log", message=record.getMessage(), **values)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
