"""`--log-json`: a crawl told line by line, for programs.

Every line on standard error is one JSON object in ASCII, whatever strings pages, servers and
libraries may send: {"at": time in UTC, "event": name, ...}. That holds to the very end: errors
and interrupts become lines as well. docs/logs.md says what each event means.

A log is for its reader. If that one has gone away the crawl goes on without being told.
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
from tres.store.resume_hints import command_to_resume

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
"""What the events of a session are called in a log."""

RESULT = (
    *("stopped", "pages", "budget", "relevant", "harvest_rate", "relevant_sites", "failures"),
    *("frontier", "leaves", "seconds"),
)
"""What the last line of a crawl tells of its summary."""


def _now() -> datetime:
    return datetime.now(UTC)


class JsonLog:
    """Writes events as lines while it is entered; listens to a crawl as a progress line does."""

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
        """The end, whatever it is: an error that was told as a line is not told again."""
        self._entered.close()
        match error:
            case TresError():
                notes = getattr(error, "__notes__", ())
                self.write("error", message=error.message, details=[*error.details, *notes])
                raise click.exceptions.Exit(error.exit_code)
            case KeyboardInterrupt():
                raise click.exceptions.Exit(1)
            case Exception() if not isinstance(error, click.exceptions.Exit):  # a bug in tres
                told = "".join(traceback.format_exception(error))
                self.write("error", message=f"{type(error).__name__}: {error}", traceback=told)
                raise click.exceptions.Exit(1)

    def __call__(self, session: CrawlSession, event: Event) -> None:
        """Something has happened in the crawl."""
        names = LOGGED if isinstance(event, Stepped) else [field.name for field in fields(event)]
        told = {name: getattr(event, name) for name in names}
        if isinstance(event, Stepped):
            told["harvest_rate"] = session.harvest_rate
            told["relevant_sites"] = session.relevant_sites
            told["budget"] = session.pages
        self.write(EVENTS[type(event)], **told)

    def explored(self, pages: int, of: int) -> None:
        """The topic is still being learnt, from so many pages so far."""
        self.write("explored", pages=pages, of=of)

    def replaying(self, pages: int) -> None:
        """A run is taken up again: its journal is read, which holds so many pages."""
        self.write("replaying", pages=pages)

    def started(self, config: TopicConfig, run: Path, web: str, resumed: bool) -> None:
        """A crawl is about to begin or to go on."""
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
        """A crawl has come to an orderly end."""
        told = {key: result.summary[key] for key in RESULT}
        self.write("finished", run=str(run), **told)

    def stopped_at_once(self, run: Path) -> None:
        """A crawl was ended by a second signal; it can go on if it had begun."""
        go_on = command_to_resume(run) if (run / JOURNAL).exists() else None
        self.write("stopped", run=str(run), go_on=go_on)

    def warned(self, message: Warning | str, *_: object, **__: object) -> None:
        """Python, or a library, warns."""
        self.write("log", level="warning", logger="py.warnings", message=str(message))

    def write(self, event: str, **fields: Any) -> None:
        """One line. What is no number in JSON is null."""
        at = self._clock().isoformat(timespec="milliseconds")
        known = {key: _plain(value) for key, value in fields.items()}
        line = json.dumps({"at": at, "event": event, **known}, allow_nan=False)
        with suppress(OSError):  # the reader has gone away, or its disk is full
            self._stream.write(f"{line}\n")
            self._stream.flush()


class _LogLines(logging.Handler):
    """Hands the records of Python's logging on as events; a record that it meets twice, once."""

    def __init__(self, log: JsonLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log
        self._last: logging.LogRecord | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """One record, one line."""
        if record is self._last:
            return
        self._last = record
        told = {"level": record.levelname.lower(), "logger": record.name}
        if record.exc_info:
            told["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        self._log.write("log", message=record.getMessage(), **told)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
