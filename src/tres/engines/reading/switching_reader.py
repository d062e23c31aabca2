"""A reader whose model can be changed during a crawl.

Pages are read in a child process (`tres.engines.reading.reader_pool`), which holds one model for
life, so a new model needs a new process. It is started beside the old one, which meanwhile goes on
reading. When it is ready, new pages wait a moment, the old process finishes what it has, and the
new one takes over. So there is a moment between two pages before which the old model read all
pages, and after which the new one does. In that moment the change is written to the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tres.engines.reading.page_reader import Reading, Received
from tres.engines.reading.reader_plan import ReaderPlan
from tres.engines.reading.reader_pool import Charge, ReaderPool
from tres.engines.reading.tasks import ReadPage, Task
from tres.errors import ModelError

T = TypeVar("T")

AtSwitch = Callable[[], ReaderPlan]
"""Called in the moment between two models; returns the plan of the new one from then on."""


class SwitchingReader:
    """Reads with a pool for one model, then with a pool for another."""

    def __init__(self, plan: ReaderPlan) -> None:
        self.charge: Charge = lambda url, seconds: None
        """Set by the engine; called with the cost of each task."""
        self._pool = self._new_pool(plan)
        self._reading = 0
        self._open = asyncio.Event()
        self._open.set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._switching = asyncio.Lock()
        self._switches: set[asyncio.Task[None]] = set()

    def _new_pool(self, plan: ReaderPlan) -> ReaderPool:
        pool = ReaderPool(plan)
        pool.charge = lambda *cost: self.charge(*cost)  # noqa: PLW0108, it is set later
        return pool

    async def start(self) -> None:
        """Start the process now; `ModelError` if it cannot make its reader."""
        await self._pool.start()

    async def read(self, received: Received) -> Reading:
        """Read a response with the current model."""
        return await self.ask(ReadPage(received))

    async def ask(self, task: Task[T]) -> T:
        """Do a task in the current process."""
        while not self._open.is_set():
            await self._open.wait()
        self._reading += 1
        self._idle.clear()
        try:
            return await self._pool.ask(task)
        finally:
            self._reading -= 1
            if not self._reading:
                self._idle.set()

    def switch_soon(
        self, plan: ReaderPlan, at_switch: AtSwitch, failed: Callable[[ModelError], None]
    ) -> None:
        """Start to switch, and return at once; if it fails, nothing changes."""
        task = asyncio.ensure_future(self._switch(plan, at_switch, failed))
        self._switches.add(task)
        task.add_done_callback(self._switches.discard)

    async def _switch(
        self, plan: ReaderPlan, at_switch: AtSwitch, failed: Callable[[ModelError], None]
    ) -> None:
        async with self._switching:
            spare = self._new_pool(plan)
            try:
                await spare.start()
                self._open.clear()
                while self._reading:
                    await self._idle.wait()
                spare.plan = at_switch()
                spare, self._pool = self._pool, spare
            except ModelError as problem:
                failed(problem)
            finally:
                self._open.set()
                await spare.close()

    async def close(self) -> None:
        """End the processes; cancel the pages that still wait."""
        for task in (switches := list(self._switches)):
            task.cancel()
        await asyncio.gather(*switches, return_exceptions=True)
        await self._pool.close()
