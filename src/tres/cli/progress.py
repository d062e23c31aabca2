"""The progress line of a crawl: what it has found, how fast it is, when it will be done."""

from __future__ import annotations

from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.progress import ProgressColumn as Column
from rich.text import Text

from tres.crawl.events import Event, Paused, WentOn
from tres.crawl.session import CrawlSession

WIDE = 110
"""Columns of a terminal from which on there is room for a bar."""


class PagesPerSecond(Column):
    """Speed, smoothed over the last seconds."""

    def render(self, task: Task) -> Text:
        """What stands in the column."""
        return Text(f"{task.speed or 0.0:.0f}/s")


class CrawlProgress:
    """Shows a session's state while it runs; says nothing where nobody looks."""

    EVERY = 20
    """Events between two updates: painting must not slow a crawl of what is here."""

    def __init__(self, console: Console, title: str, pages: int, every: int = EVERY) -> None:
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
            disable=not console.is_terminal,
            transient=True,
        )
        self._task = self._progress.add_task(title, total=pages, found="")
        self._events = 0
        self._every = every
        self._paused = False

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def __call__(self, session: CrawlSession, event: Event) -> None:
        """Something has happened in the crawl."""
        self._events += 1
        at_once = isinstance(event, Paused | WentOn)
        if at_once:
            self._paused = isinstance(event, Paused)
        if (at_once or self._events % self._every == 0) and not self._progress.disable:
            found = f"paused, {_found(session)}" if self._paused else _found(session)
            done, total = session.steps, session.pages
            self._progress.update(self._task, completed=done, total=total, found=found)

    def explored(self, pages: int, of: int) -> None:
        """The topic is still being learnt, from so many pages so far."""
        told = f"learning the topic: {pages:,} of {of:,} pages"
        self._progress.update(self._task, found=told)


def _found(session: CrawlSession) -> str:
    tree = session.policy.tree
    leaves = f", {tree.leaves:,} leaves" if tree else ""
    return (
        f"{session.harvest_rate:.0%} relevant, {session.relevant_sites:,} sites, "
        f"{len(session.policy):,} waiting{leaves}"
    )
