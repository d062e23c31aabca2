"""The progress of a crawl: what it has found, how fast it is, when it will be done.

On a terminal it is one line that is repainted. Elsewhere (a file, a pipe, a log of `cron`) it is a
new line now and then, which shows that the crawl is alive.
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
from tres.numbers import format_count

WIDE = 110
"""A terminal with this many columns has room for a bar."""
PAINT = 0.1
"""Seconds between two repaints: people cannot read faster."""
LINE = 30.0
"""Seconds between two lines without a terminal."""
LONG = 500
"""Reading a journal with this many pages takes long enough for a line without a terminal."""


class PagesPerSecond(Column):
    """Speed, smoothed over the last seconds."""

    def render(self, task: Task) -> Text:
        """Return the text of the column."""
        return Text(f"{task.speed or 0.0:.0f}/s")


class CrawlProgress:
    """Shows the state of a session while it runs; a listener of its events."""

    EVERY = 20
    """Events between two updates: progress must not slow a crawl of an archive."""

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
        self._worth_a_line = 0 if console.is_terminal else LONG
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
        """Show the session after an event, if it is time to."""
        self._events += 1
        at_once = isinstance(event, Paused | Continued)
        if at_once:
            self._paused = isinstance(event, Paused)
        if at_once or (self._events % self._every == 0 and self._is_due()):
            state = f"paused, {_state(session)}" if self._paused else _state(session)
            self._show(session.steps, session.pages, state)

    def replaying(self, pages: int) -> None:
        """Show that the journal of a resumed run, with so many pages, is being read."""
        if pages >= self._worth_a_line:
            self._show(pages, None, f"reading the journal of {format_count(pages, 'page')}")

    def _is_due(self) -> bool:
        return self._clock() - self._shown_at >= self._pause

    def _show(self, done: int, total: int | None, found: str) -> None:
        self._shown_at = self._clock()
        self._line.show(done, total, found)


class _Line:
    """One line of a terminal, repainted in place.

    A terminal that is made narrower breaks the line into several; those are wiped before the
    next repaint, which only knows of one.
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
    """A new line for every state that is shown."""

    def __init__(self, console: Console, title: str, pages: int) -> None:
        self._console = console
        self._title = title
        self._pages = pages

    def start(self) -> None:
        """The first line comes when there is something to show."""

    def stop(self) -> None:
        """The result is printed elsewhere."""

    def show(self, done: int, total: int | None, found: str) -> None:
        self._pages = total or self._pages
        line = f"{self._title}: {done:,}/{self._pages:,} pages, {found}"
        self._console.print(line, soft_wrap=True)


def _state(session: CrawlSession) -> str:
    tree = session.policy.tree
    leaves = f", {format_count(tree.leaves, 'leaf', 'leaves')}" if tree else ""
    return (
        f"{session.harvest_rate:.0%} relevant, {format_count(session.relevant_sites, 'site')}, "
        f"{len(session.policy):,} waiting{leaves}"
    )
