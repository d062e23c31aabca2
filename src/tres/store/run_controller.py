"""The controller of a run: carries out the orders in its inbox, and records them.

    Pause, Continue     the engine stops asking for URLs, or asks again; `state.json` says so
    Stop                the crawl is interrupted, as by the first signal
    Budget              a new segment of the journal, and the new budget in `config.toml`
    Block               a record in the journal
    Adopt               pages are judged by another model from a moment on; a new segment

A model that the crawl itself has taught (`NewModel`) is adopted in the same way.

All that changes what the crawl does is in the journal, so that a crawl that is resumed is the same
crawl. A pause changes nothing but the time that the crawl takes.

How an engine changes to another model differs, and may take a while. So the controller asks for it
(`Switch`) and is called back at the moment from which the new model judges every page, or never.
The order stays in the inbox until then, and so do later orders to adopt a model.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tres.crawl.events import Continued, Event, Paused
from tres.errors import ConfigError, RunError, TresError
from tres.relevance.model import RelevanceModel
from tres.settings.topic_file import load_topic
from tres.store.journal import Journal
from tres.store.model_versions import adopt_model, keep_model, place_of
from tres.store.orders import Adopt, Block, Budget, Continue, OrderFile, Pause, Stop, take
from tres.store.recorded_session import RecordedSession
from tres.store.run_directory import config_of, write_config, write_errors
from tres.store.run_state import Doing, write_state

EVERY = 0.2
"""Seconds between two checks of the inbox."""

NewModel = Callable[[Journal, int], RelevanceModel | None]
"""Asked at every step, with the journal and the number of pages, whether there is a new model."""
Switched = Callable[[TresError | None], None]
Switch = Callable[[Path, Switched], None]
"""Switch to the model in a directory; call back once it judges pages, or with its error."""


class RunController:
    """`Steering`, over the inbox of a run."""

    def __init__(
        self,
        crawling: RecordedSession,
        switch: Switch,
        tell: Callable[[Event], None] = lambda event: None,
        new_model: NewModel = lambda journal, steps: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._crawling = crawling
        self._run = crawling.journal.path.parent
        self._switch = switch
        self._tell = tell
        self._new_model = new_model
        self._clock = clock
        self._sleep = sleep
        self._paused = False
        self._model = crawling.journal.segments()[-1].model
        self._next_look = clock()
        self._adopting = False
        self._fault: Exception | None = None

    @property
    def paused(self) -> bool:
        """Whether the crawl is paused; an interrupted crawl is not, so that it can end."""
        return self._paused and not self._crawling.interrupted

    def next_orders_in(self) -> float:
        """Seconds until the inbox is read again."""
        return max(0.0, self._next_look - self._clock())

    def sleep(self) -> None:
        """Sleep until the inbox is read again."""
        self._sleep(self.next_orders_in())

    def is_blocked(self, site: str) -> bool:
        """Whether the user has blocked this site."""
        return self._crawling.session.is_blocked(site)

    def carry_out_orders(self) -> bool:
        """Carry out the orders in the inbox, if a check is due; return whether there were any."""
        self._refit()
        if self.next_orders_in() > 0:
            return False
        self._next_look = self._clock() + EVERY
        if self._fault is not None:
            raise self._fault
        ordered = False
        for order_file in take(self._run):
            if not (self._adopting and isinstance(order_file.order, Adopt)):
                self._carry_out(order_file)
                ordered = True
        return ordered

    def _refit(self) -> None:
        """Adopt the model that the crawl has taught, if there is a new one."""
        if self._adopting or self._crawling.interrupted:
            return
        model = self._new_model(self._crawling.journal, self._crawling.session.steps)
        if model is None or model.digest == self._model:
            return
        with write_errors(self._run):
            keep_model(self._run, model)
        self._adopting = True
        place = place_of(self._run, model.digest)
        self._switch(place, lambda problem: self._adopted(model.digest, problem))

    def _carry_out(self, order_file: OrderFile) -> None:
        match order_file.order:
            case Pause():
                self._pause(True)
            case Continue():
                self._pause(False)
            case Stop():
                self._crawling.interrupt()
            case Block(site):
                self._block(site)
            case Budget(pages):
                if (problem := self._set_budget(pages)) is not None:
                    return order_file.refuse(problem)
            case Adopt(model):
                return self._adopt(model, order_file)
        order_file.done()
        return None

    def _pause(self, paused: bool) -> None:
        if paused == self._paused:
            return
        self._paused = paused
        self._crawling.pause(paused)
        with write_errors(self._run):
            write_state(self._run, Doing.PAUSED if paused else Doing.CRAWLING)
        self._tell(Paused() if paused else Continued())

    def _block(self, site: str) -> None:
        for event in self._crawling.block(site):
            self._tell(event)

    def _set_budget(self, pages: int) -> str | None:
        """Change the budget; return why it cannot be changed, if so."""
        if pages == self._crawling.session.pages:
            return None
        try:
            config = load_topic(config_of(self._run)).override(pages=pages)
        except (ConfigError, RunError) as problem:
            return problem.message
        self._crawling.begin(pages, self._model)
        with write_errors(self._run):
            write_config(self._run, config.to_toml())
        return None

    def _adopt(self, model: str, order_file: OrderFile) -> None:
        if model == self._model:
            return order_file.done()
        try:
            place = place_of(self._run, model)
        except TresError as problem:
            return order_file.refuse(problem.message)
        self._adopting = True
        return self._switch(place, lambda problem: self._ordered(model, order_file, problem))

    def _ordered(self, model: str, order_file: OrderFile, problem: TresError | None) -> None:
        """Record that the model of an order judges from here on, or refuse the order."""
        self._adopted(model, problem)
        if problem is not None:
            order_file.refuse(problem.message)
        elif self._fault is None:
            order_file.done()

    def _adopted(self, model: str, problem: TresError | None) -> None:
        """Record that the new model judges from here on."""
        self._adopting = False
        if problem is not None:
            return
        try:
            with write_errors(self._run):
                adopt_model(self._run, model)
            self._crawling.begin(self._crawling.session.pages, model)
        except Exception as fault:  # raised by the next look, in the loop of the engine
            self._fault = fault
        else:
            self._model = model
