"""The progress of a crawl: what it has found, how fast it is, when it will be done.

On a terminal it is one line that is painted again and again. Elsewhere (a file, a pipe, a log of
`cron`) it is a line of its own now and then, so that whoever looks knows that the crawl is alive.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from rich.console import Console
from rich.control import Control
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.progress import ProgressColumn as Column
from rich.segment import ControlType
from rich.text import Text

from tres.crawl.events import Continued, Event, Paused
from tres.crawl.session import CrawlSession

WIDE = 110
"""Columns of a terminal from which on there is room for a bar."""
PAINT = 0.1
"""Seconds between two paintings: people cannot read faster."""
LINE = 30.0
"""Seconds between two lines where there is no terminal."""
LONG = 500
"""Pages of a journal that take so long to read that a line elsewhere is worth it."""


class PagesPerSecond(Column):
    """Speed, smoothed over the last seconds."""

    def render(self, task: Task) -> Text:
        """What stands in the column."""
        return Text(f"{task.speed or 0.0:.0f}/s")


class CrawlProgress:
    """Shows a session's state while it runs."""

    EVERY = 20
    """Events between two updates: showing must not slow a crawl of an archive."""

    def __init__(
        self,
        console: Console,
        title: str,
        pages: int,
        every: int = EVERY,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._line: _Line | _Lines = (
            _Line(console, title, pages) if console.is_terminal else _Lines(console, title, pages)
        )
        self._pause = PAINT if console.is_terminal else LINE
        self._worth_telling = 0 if console.is_terminal else LONG
        self._clock = clock
        self._shown_at = clock()
        self._events = 0
        self._every = every
        self._paused = False

    def __enter__(self) -> Self:
        self._line.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._line.stop()

    def __call__(self, session: CrawlSession, event: Event) -> None:
        """Something has happened in the crawl."""
        self._events += 1
        at_once = isinstance(event, Paused | Continued)
        if at_once:
            self._paused = isinstance(event, Paused)
        if at_once or (self._events % self._every == 0 and self._is_due()):
            found = f"paused, {_found(session)}" if self._paused else _found(session)
            self._show(session.steps, session.pages, found)

    def explored(self, pages: int, of: int) -> None:
        """The topic is still being learnt, from so many pages so far."""
        if self._is_due():
            self._show(0, None, f"learning the topic: {pages:,} of {of:,} pages")

    def replaying(self, pages: int) -> None:
        """A run is taken up again: its journal is read, which holds so many pages."""
        if pages >= self._worth_telling:
            self._show(pages, None, f"reading the journal of {pages:,} page{'s' * (pages != 1)}")

    def _is_due(self) -> bool:
        return self._clock() - self._shown_at >= self._pause

    def _show(self, done: int, total: int | None, found: str) -> None:
        self._shown_at = self._clock()
        self._line.show(done, total, found)


class _Line:
    """One line of a terminal, painted over itself.

    A terminal that is made narrower breaks the line that stands there into several; those are
    wiped before the next painting, which only knows of one.
    """

    def __init__(self, console: Console, title: str, pages: int) -> None:
        wide = console.width >= WIDE
        bar = [BarColumn(bar_width=20)] if wide else []
        self._progress = Progress(
            TextColumn("{task.description}"),
            *bar,
            TextColumn("{task.completed:,.0f}/{task.total:,.0f}" + (" pages" if wide else "")),
            TextColumn("{task.fields[found]}"),
            PagesPerSecond(),
            TimeRemainingColumn(compact=True),
            console=console,
            auto_refresh=False,
            transient=True,
        )
        self._console = console
        self._task = self._progress.add_task(title, total=pages, found="")
        self._cells = 0
        """How long the painted line is."""

    def start(self) -> None:
        self._progress.start()
        self._paint()

    def stop(self) -> None:
        self._wipe_broken()
        self._progress.stop()

    def show(self, done: int, total: int | None, found: str) -> None:
        self._progress.update(self._task, completed=done, total=total, found=found)
        self._paint()

    def _paint(self) -> None:
        self._wipe_broken()
        self._progress.refresh()
        width = self._console.width
        self._cells = min(width, self._console.measure(self._progress.get_renderable()).maximum)

    def _wipe_broken(self) -> None:
        for _ in range((self._cells - 1) // self._console.width):
            up = (ControlType.CURSOR_UP, 1)
            self._console.control(Control((ControlType.ERASE_IN_LINE, 2), up))
        self._cells = 0


class _Lines:
    """A line of its own for every state that is shown."""

    def __init__(self, console: Console, title: str, pages: int) -> None:
        self._console = console
        self._title = title
        self._pages = pages

    def start(self) -> None:
        """The first line comes when there is something to tell."""

    def stop(self) -> None:
        """The result is told by whoever has it."""

    def show(self, done: int, total: int | None, found: str) -> None:
        self._pages = total or self._pages
        told = f"{self._title}: {done:,}/{self._pages:,} pages, {found}"
        self._console.print(told, soft_wrap=True)


def _found(session: CrawlSession) -> str:
    tree = session.policy.tree
    leaves = f", {tree.leaves:,} leaves" if tree else ""
    return (
        f"{session.harvest_rate:.0%} relevant, {session.relevant_sites:,} sites, "
        f"{len(session.policy):,} waiting{leaves}"
    )
