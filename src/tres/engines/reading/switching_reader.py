"""A reader whose model can be changed while a crawl goes on.

Pages are read in a process of their own (`tres.engines.reading.reader_pool`), which holds one
model for life, so to change the model is to change the process. A new one is started beside the
old one, which goes on reading meanwhile. When it is ready, pages that come in wait a moment, the
old one finishes what it has, and the new one takes over. So there is a moment between two pages
before which all were read by the old model, and after which all are read by the new one. Whoever
keeps a journal writes it down just then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tres.engines.reading.page_reader import Reading, Received
from tres.engines.reading.reader_pool import Charge, ReaderPlan, Readers
from tres.engines.reading.tasks import ReadPage, Task
from tres.errors import ModelError

T = TypeVar("T")

Between = Callable[[], ReaderPlan]
"""Called in the moment between; says where the new model lies from then on."""


class SwitchingReader:
    """Reads with `Readers` of one model after those of another."""

    def __init__(self, plan: ReaderPlan) -> None:
        self.charge: Charge = lambda url, seconds: None
        """Set by the engine; told what each task has cost."""
        self._reader = self._readers(plan)
        self._reading = 0
        self._open = asyncio.Event()
        self._open.set()
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._turn = asyncio.Lock()
        self._switches: set[asyncio.Task[None]] = set()

    def _readers(self, plan: ReaderPlan) -> Readers:
        readers = Readers(plan)
        readers.charge = self._charged
        return readers

    def _charged(self, url: str, seconds: float) -> None:
        self.charge(url, seconds)

    async def start(self) -> None:
        """Start the process now; `ModelError` if its reader cannot be made."""
        await self._reader.start()

    async def read(self, received: Received) -> Reading:
        """What a response says, by the model of this moment."""
        return await self.ask(ReadPage(received))

    async def ask(self, task: Task[T]) -> T:
        """What comes of a task, done beside the model of this moment."""
        while not self._open.is_set():
            await self._open.wait()
        self._reading += 1
        self._at_rest.clear()
        try:
            return await self._reader.ask(task)
        finally:
            self._reading -= 1
            if not self._reading:
                self._at_rest.set()

    def switch_soon(
        self, plan: ReaderPlan, between: Between, failed: Callable[[ModelError], None]
    ) -> None:
        """Begin to switch, and return at once; if it comes to nothing, nothing changes."""
        task = asyncio.ensure_future(self._switch_or_tell(plan, between, failed))
        self._switches.add(task)
        task.add_done_callback(self._switches.discard)

    async def _switch_or_tell(
        self, plan: ReaderPlan, between: Between, failed: Callable[[ModelError], None]
    ) -> None:
        try:
            await self.switch(plan, between)
        except ModelError as problem:
            failed(problem)

    async def switch(self, plan: ReaderPlan, between: Between) -> None:
        """Read by another plan from now on; `ModelError` if it cannot be, and nothing changes."""
        async with self._turn:
            spare = self._readers(plan)
            try:
                await spare.start()
                await self._come_to_rest()
                spare.plan = between()
                spare, self._reader = self._reader, spare
            finally:
                self._open.set()
                await spare.close()

    async def _come_to_rest(self) -> None:
        self._open.clear()
        while self._reading:
            await self._at_rest.wait()

    async def close(self) -> None:
        """End the processes; pages that are still waiting are cancelled."""
        for task in (switches := list(self._switches)):
            task.cancel()
        await asyncio.gather(*switches, return_exceptions=True)
        await self._reader.close()
