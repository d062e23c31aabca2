"""Scrapy's log: it goes into a file, never onto the terminal, which shows the progress line.

A message may contain what a page or a server has written, so each record is one line in which no
control character can steer a terminal; tracebacks follow, escaped in the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tres.errors import printable

LOG = "scrapy.log"
"""The file in a run directory; it is created by the first message."""

LOGGER_NAMES = ("asyncio", "py.warnings", "scrapy", "scrapy-playwright", "tres", "twisted")
"""The loggers of everything that runs in a crawl."""


class OneLine(logging.Formatter):
    """Formats a record so that it cannot be taken for several, or for terminal commands."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record, line by line without control characters."""
        return "\n  ".join(map(printable, super().format(record).splitlines()))


@contextmanager
def logging_to(path: Path | None, level: int = logging.WARNING) -> Iterator[None]:
    """Send the messages of these loggers into a file, or nowhere."""
    from twisted.python.log import PythonLoggingObserver

    handler = logging.NullHandler() if path is None else _file(path)
    handler.setLevel(level)
    loggers = [logging.getLogger(name) for name in LOGGER_NAMES]
    before = [(logger.propagate, logger.level) for logger in loggers]
    observer: Any = PythonLoggingObserver()  # type: ignore[no-untyped-call]
    observer.start()
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
        logger.setLevel(level)
    try:
        yield
    finally:
        observer.stop()
        for logger, (propagate, old) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagate
            logger.setLevel(old)
        handler.close()


def _file(path: Path) -> logging.Handler:
    handler = logging.FileHandler(path, encoding="utf-8", delay=True)
    handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return handler
