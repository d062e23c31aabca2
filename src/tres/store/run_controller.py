"""The controller of a run: what lies in its inbox is carried out on its crawl, and written down.

    Pause, Continue     whoever drives asks for nothing, or asks again; `state.json` says so
    Stop            the crawl is interrupted, as by the first signal
    Budget          a new segment of the journal, and the new budget in `config.toml`
    Block           a record in the journal
    Adopt           pages are read by another model from a moment on; a new segment

All that changes what the crawl does is in the journal, so that a crawl which is taken up again is
the same crawl. To pause changes nothing but the time that it takes.

How pages come to be read by another model differs between engines and may take a while, so it is
asked for (`Switch`): it calls back in the moment from which on every page is read by the new
model, or never. The order stays in the inbox until then, and so do those to adopt yet another.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tres.crawl.events import Continued, Event, Paused
from tres.errors import ConfigError, RunError, TresError
from tres.settings.topic_file import load_topic
from tres.store.model_versions import adopt_model, place_of
from tres.store.orders import Adopt, Block, Budget, Continue, OrderFile, Pause, Stop, take
from tres.store.recorded_session import RecordedSession, writing
from tres.store.run_directory import config_of, write_config
from tres.store.run_state import Doing, write_state

EVERY = 0.2
"""Seconds between two looks into the inbox."""

Switched = Callable[[TresError | None], None]
Switch = Callable[[Path, Switched], None]
"""Have pages read by the model in a directory; call back in that moment, or with what is wrong."""


class RunController:
    """`Steering`, over the inbox of a run."""

    def __init__(
        self,
        crawling: RecordedSession,
        switch: Switch,
        tell: Callable[[Event], None] = lambda event: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._crawling = crawling
        self._run = crawling.journal.path.parent
        self._switch = switch
        self._tell = tell
        self._clock = clock
        self._sleep = sleep
        self._paused = False
        self._model = crawling.journal.segments()[-1].model
        self._next_look = clock()
        self._adopting = False
        self._fault: Exception | None = None

    @property
    def paused(self) -> bool:
        """Is nothing new to be asked for? Who wants to end a crawl need not let it go on first."""
        return self._paused and not self._crawling.interrupted

    def next_orders_in(self) -> float:
        """Seconds until the inbox is read again."""
        return max(0.0, self._next_look - self._clock())

    def sleep(self) -> None:
        """Sleep until the inbox is read again."""
        self._sleep(self.next_orders_in())

    def is_blocked(self, site: str) -> bool:
        """Has the user blocked this site?"""
        return self._crawling.session.is_blocked(site)

    def carry_out_orders(self) -> bool:
        """Carry out the orders in the inbox, if it is time to read it; return whether any came."""
        if self.next_orders_in() > 0:
            return False
        self._next_look = self._clock() + EVERY
        if self._fault is not None:
            raise self._fault
        ordered = False
        for letter in take(self._run):
            if not (self._adopting and isinstance(letter.order, Adopt)):
                self._carry_out(letter)
                ordered = True
        return ordered

    def _carry_out(self, letter: OrderFile) -> None:
        match letter.order:
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
                    return letter.refuse(problem)
            case Adopt(model):
                return self._adopt(model, letter)
        letter.done()
        return None

    def _pause(self, paused: bool) -> None:
        if paused == self._paused:
            return
        self._paused = paused
        self._crawling.pause(paused)
        with writing(self._run):
            write_state(self._run, Doing.PAUSED if paused else Doing.CRAWLING)
        self._tell(Paused() if paused else Continued())

    def _block(self, site: str) -> None:
        for event in self._crawling.block(site):
            self._tell(event)

    def _set_budget(self, pages: int) -> str | None:
        """Why it cannot be done, if it cannot."""
        if pages == self._crawling.session.pages:
            return None
        try:
            config = load_topic(config_of(self._run)).override(pages=pages)
        except (ConfigError, RunError) as problem:
            return problem.message
        self._crawling.begin(pages, self._model)
        with writing(self._run):
            write_config(self._run, config.to_toml())
        return None

    def _adopt(self, model: str, letter: OrderFile) -> None:
        if model == self._model:
            return letter.done()
        try:
            place = place_of(self._run, model)
        except TresError as problem:
            return letter.refuse(problem.message)
        self._adopting = True
        return self._switch(place, lambda problem: self._adopted(model, letter, problem))

    def _adopted(self, model: str, letter: OrderFile, problem: TresError | None) -> None:
        """The next page is read by the new model, or there is none that can be."""
        self._adopting = False
        if problem is not None:
            return letter.refuse(problem.message)
        try:
            with writing(self._run):
                adopt_model(self._run, model)
            self._crawling.begin(self._crawling.session.pages, model)
        except Exception as fault:  # raised by the next look, where whoever drives hears of it
            self._fault = fault
            return None
        self._model = model
        return letter.done()
