"""Where Scrapy's words go: into a file, never onto the terminal, where the progress line is.

What a page or a server has written may stand in a message, so each record is one line in which
nothing can steer a terminal; tracebacks follow, escaped in the same way.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tres.errors import printable

LOG = "scrapy.log"
"""The file in a run directory; it is made when there is something to say."""

NAMES = ("asyncio", "py.warnings", "scrapy", "scrapy-playwright", "tres", "twisted")
"""Who speaks in a crawl."""


class OneLine(logging.Formatter):
    """Formats a record so that it cannot be taken for several, or for commands."""

    def format(self, record: logging.LogRecord) -> str:
        """The record, line by line without control characters."""
        return "\n  ".join(map(printable, super().format(record).splitlines()))


@contextmanager
def logging_to(path: Path | None, level: int = logging.WARNING) -> Iterator[None]:
    """Send what Scrapy and its company say into a file, or nowhere."""
    from twisted.python.log import PythonLoggingObserver

    handler = logging.NullHandler() if path is None else _file(path)
    handler.setLevel(level)
    loggers = [logging.getLogger(name) for name in NAMES]
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
