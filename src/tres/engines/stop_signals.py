"""What SIGINT and SIGTERM do to a crawl.

The first one interrupts it: nothing new is requested, pages in flight arrive, and the run ends in
good order. The second one stops it at once. Afterwards the handlers are as they were before.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from tres.crawl.session import CrawlSession

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interrupt_sessions() -> Iterator[Callable[[CrawlSession], None]]:
    """Interrupt the sessions that are passed to the yielded function.

    A session that starts after the first signal is interrupted as it starts.
    """
    sessions: list[CrawlSession] = []
    received: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        received.append(number)
        for session in sessions:
            session.interrupt()
        for kind in STOP_SIGNALS:
            signal.signal(kind, signal.default_int_handler)

    def started(session: CrawlSession) -> None:
        sessions.append(session)
        if received:
            session.interrupt()

    with _handlers(handle):
        yield started


@contextmanager
def interrupt_loop(
    first: Callable[[], None], second: Callable[[], None], loop: asyncio.AbstractEventLoop
) -> Iterator[None]:
    """Call `first` in the event loop on the first signal, and `second` on the second.

    While the loop is busy (a resumed run reads its journal first) it cannot act on a signal. A
    second signal that comes meanwhile stops at once.
    """
    actions = [first, second]
    pending: list[int] = []

    def act() -> None:
        pending.clear()
        actions.pop(0)()
        if not actions:
            restore()

    def handle(number: int, frame: FrameType | None) -> None:
        if pending:
            raise KeyboardInterrupt
        pending.append(number)
        loop.call_soon_threadsafe(act)

    with _handlers(handle) as restore:
        yield


@contextmanager
def _handlers(handle: Callable[[int, FrameType | None], None]) -> Iterator[Callable[[], None]]:
    """Install a handler for both signals; yield the function that restores the previous ones."""
    before = {kind: signal.signal(kind, handle) for kind in STOP_SIGNALS}

    def restore() -> None:
        for kind, handler in before.items():
            signal.signal(kind, handler)

    try:
        yield restore
    finally:
        restore()
