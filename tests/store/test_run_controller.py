"""The controller of a run carries orders out between two steps, and records what they change."""

from __future__ import annotations

import logging
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.engines.test_flights import Clock
from tests.store.test_recorded_session import PAGES, WEB, again, begun, steps
from tests.support.reading import model as small_model
from tests.support.webs import drive, missing, site_of

from tres.crawl.events import Continued, Done, Event, Fetch, Paused, SiteBlocked, StopReason
from tres.errors import ModelError, RunError, TresError
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import load_model
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.journal import Journal
from tres.store.journal_records import Begin, Blocked
from tres.store.model_versions import MODEL, NEXT, adopt_model, keep_model, newest_model, place_of
from tres.store.orders import ORDERS, Adopt, Block, Budget, Continue, Order, Pause, Stop, send, take
from tres.store.recorded_session import RecordedSession
from tres.store.run_controller import EVERY, RunController, Switched
from tres.store.run_directory import CONFIG, STATE, lock_run, write_config
from tres.store.run_state import Doing, run_state
from tres.web.page import FailureKind

FIRST = small_model()
SECOND = replace(FIRST, weights=-np.asarray(FIRST.weights))
THIRD = replace(FIRST, weights=2 * np.asarray(FIRST.weights))


class Switching:
    """Notes what it is asked for, and switches when the test says so."""

    def __init__(self) -> None:
        self.asked: list[tuple[Path, Switched]] = []

    def __call__(self, place: Path, switched: Switched) -> None:
        self.asked.append((place, switched))

    def now(self, problem: TresError | None = None) -> None:
        _, switched = self.asked.pop(0)
        switched(problem)


class Steered:
    """A run that is being crawled, with somebody at its controller."""

    def __init__(self, run: Path, crawling: RecordedSession) -> None:
        self.run, self.crawling = run, crawling
        self.events: list[Event] = []
        self.clock, self.switching = Clock(), Switching()
        self.taught: list[RelevanceModel] = []
        """Models that the crawl has taught, and that are not adopted yet."""
        self.controller = RunController(
            *(crawling, self.switching, self.events.append, self._new_model), clock=self.clock
        )

    def _new_model(self, journal: Journal, steps: int) -> RelevanceModel | None:
        assert (journal, steps) == (self.crawling.journal, self.crawling.session.steps)
        return self.taught.pop(0) if self.taught else None

    def told(self, *orders: Order) -> bool:
        for order in orders:
            send(self.run, order)
        self.clock.now += EVERY
        return self.controller.carry_out_orders()


@pytest.fixture
def steered(tmp_path: Path) -> Steered:
    config = TopicConfig(
        name="t",
        topic=TopicSection(keywords=("music",)),
        training=TrainingSection(labels=("Music",)),
        crawl=CrawlSection(pages=PAGES),
    )
    write_config(tmp_path, config.to_toml())
    FIRST.save(tmp_path / MODEL)
    return Steered(tmp_path, begun(tmp_path))


def entries(crawling: RecordedSession) -> list[object]:
    return [entry for _, entry in crawling.journal.entries()]


def test_the_inbox_is_looked_into_now_and_then_only(steered: Steered) -> None:
    controller, clock = steered.controller, steered.clock
    assert steered.told() is False
    send(steered.run, Pause())
    clock.now += EVERY / 2
    assert (controller.carry_out_orders(), controller.paused) == (False, False)
    assert controller.next_orders_in() == pytest.approx(EVERY / 2)
    clock.now += EVERY
    assert (controller.carry_out_orders(), controller.paused) == (True, True)
    assert list(take(steered.run)) == []


def test_a_pause_is_told_and_shown_and_changes_nothing_else(steered: Steered) -> None:
    before = steered.crawling.journal.position
    with lock_run(steered.run):
        steered.told(Pause(), Pause())
        assert run_state(steered.run).doing is Doing.PAUSED
        steered.told(Continue(), Continue())
        assert run_state(steered.run).doing is Doing.CRAWLING
    assert steered.events == [Paused(), Continued()]
    assert not steered.controller.paused
    assert steered.crawling.journal.position == before


def test_a_pause_is_no_part_of_the_time_that_a_crawl_takes(steered: Steered) -> None:
    """So the pages a second after it are those of the crawl, not of whoever let it wait."""
    crawling, clock = steered.crawling, steered.clock
    crawling._clock, crawling._began = clock, clock() - 10.0
    steered.told(Pause())
    at_pause = crawling.seconds
    assert at_pause == pytest.approx(10.0 + EVERY)
    clock.now += 3_600.0
    assert crawling.seconds == at_pause  # what lands meanwhile landed then
    steered.told(Continue())
    clock.now += 5.0
    assert crawling.seconds == pytest.approx(at_pause + 5.0)


@pytest.mark.parametrize("orders", [(Stop(),), (Pause(), Stop()), (Stop(), Pause())])
def test_to_stop_is_to_interrupt_even_in_a_pause(
    steered: Steered, orders: tuple[Order, ...]
) -> None:
    steered.told(*orders)
    assert steered.crawling.next() == Done(StopReason.INTERRUPTED)
    assert not steered.controller.paused


def test_another_budget_is_a_segment_and_is_in_the_configuration(steered: Steered) -> None:
    list(steps(steered.crawling, 5))
    steered.told(Budget(9))
    assert entries(steered.crawling)[-1] == Begin(9, "the model")
    assert load_topic(steered.run / CONFIG).crawl.pages == 9
    list(steps(steered.crawling))
    assert steered.crawling.session.steps == 9
    assert again(steered.run).session.pages == 9


def test_a_budget_below_what_was_fetched_ends_the_crawl(steered: Steered) -> None:
    list(steps(steered.crawling, 8))
    steered.told(Budget(3))
    assert steered.crawling.next() == Done(StopReason.BUDGET)


def test_the_budget_that_it_has_is_no_new_segment(steered: Steered) -> None:
    steered.told(Budget(PAGES))
    assert entries(steered.crawling).count(Begin(PAGES, "the model")) == 1


def test_a_budget_that_cannot_be_kept_is_refused_and_the_crawl_goes_on(
    steered: Steered, caplog: pytest.LogCaptureFixture
) -> None:
    (steered.run / CONFIG).write_text("name = ")
    with caplog.at_level(logging.WARNING):
        steered.told(Budget(9))
    assert "was not carried out" in caplog.text
    assert steered.crawling.session.pages == PAGES
    assert [file.suffix for file in (steered.run / ORDERS).iterdir()] == [".refused"]


def test_a_blocked_site_is_in_the_journal_and_stays_blocked(steered: Steered) -> None:
    list(steps(steered.crawling, 5))
    steered.told(Block("s0"), Block("s0"), Block("unheard-of"))
    assert steered.events == [SiteBlocked("s0"), SiteBlocked("unheard-of")]
    assert entries(steered.crawling)[-2:] == [Blocked("s0"), Blocked("unheard-of")]
    assert steered.controller.is_blocked("s0")
    assert not steered.controller.is_blocked("s1")
    later = again(steered.run)
    assert later.session.is_blocked("s0")
    told = [event for events in steps(later) for event in events]
    assert repr(told) == repr(drive(steered.crawling.session, WEB).events)
    assert len(told) > 10
    assert {row["site"] for row in list(later.journal.pages())[5:]} & {"s0", "unheard-of"} == set()


def test_what_was_in_flight_on_a_blocked_site_is_not_asked_for_again(tmp_path: Path) -> None:
    first = begun(tmp_path)
    (_,) = steps(first, 1, k=3)
    (gone, site), (other, other_site) = first.session.awaited.items()
    assert site != other_site
    first.block(site)  # and then the crawl is killed
    later = again(tmp_path)
    assert list(later.session.awaited) == [other]
    assert later.session.failures == {FailureKind.SITE_BLOCKED: 1}
    assert [row["url"] for row in later.journal.failures()] == [gone]
    assert later.next(1) == Fetch((other,))
    assert again(tmp_path).session.failures == {FailureKind.SITE_BLOCKED: 1}  # once


def test_a_site_that_is_blocked_after_a_kill_is_not_asked_again_either(tmp_path: Path) -> None:
    (_,) = steps(begun(tmp_path), 1, k=3)
    later = again(tmp_path)
    gone, site = next(iter(later.session.awaited.items()))
    events = later.block(site)
    assert events[0] == SiteBlocked(site)
    assert gone not in later.session.awaited
    demand = later.next(3)
    assert isinstance(demand, Fetch)
    assert site not in {site_of(url) for url in demand.urls}
    for url in demand.urls:
        later.receive(url, missing(url))


class TestModels:
    def test_a_model_is_adopted_when_pages_are_read_by_it_and_not_before(
        self, steered: Steered
    ) -> None:
        keep_model(steered.run, SECOND)
        assert steered.told(Adopt(SECOND.digest))
        assert [place for place, _ in steered.switching.asked] == [
            place_of(steered.run, SECOND.digest)
        ]
        assert newest_model(steered.run).digest == FIRST.digest
        assert not steered.told()  # it is under way, and not asked for twice
        assert len(list(take(steered.run))) == 1
        steered.switching.now()
        assert newest_model(steered.run).digest == SECOND.digest
        assert load_model(steered.run / "model-1").digest == FIRST.digest
        assert entries(steered.crawling)[-1] == Begin(PAGES, SECOND.digest)
        assert list(take(steered.run)) == []

    def test_the_next_budget_belongs_to_the_new_model(self, steered: Steered) -> None:
        keep_model(steered.run, SECOND)
        steered.told(Adopt(SECOND.digest))
        steered.switching.now()
        steered.told(Budget(9))
        assert entries(steered.crawling)[-1] == Begin(9, SECOND.digest)

    def test_the_model_that_it_has_is_not_adopted_again(self, steered: Steered) -> None:
        keep_model(steered.run, SECOND)
        steered.told(Adopt(SECOND.digest), Adopt(SECOND.digest))
        steered.switching.now()
        steered.told()
        steered.told(Adopt(SECOND.digest))
        assert steered.switching.asked == []
        assert list(take(steered.run)) == []

    def test_several_models_are_adopted_one_after_the_other(self, steered: Steered) -> None:
        keep_model(steered.run, SECOND)
        keep_model(steered.run, THIRD)
        wanted = [SECOND.digest, THIRD.digest, SECOND.digest]
        steered.told(*map(Adopt, wanted))
        for _ in wanted:
            assert len(steered.switching.asked) == 1  # the others wait for it
            steered.switching.now()
            steered.told()
        models = [entry.model for entry in entries(steered.crawling) if isinstance(entry, Begin)]
        assert models == ["the model", *wanted]
        assert newest_model(steered.run).digest == SECOND.digest

    def test_a_model_that_is_not_there_is_refused(
        self, steered: Steered, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.WARNING):
            steered.told(Adopt(SECOND.digest))
        assert f"the model {SECOND.digest[:12]}" in caplog.text
        assert steered.switching.asked == []
        assert list(take(steered.run)) == []

    def test_a_model_that_cannot_be_read_is_refused_and_the_old_one_stays(
        self, steered: Steered, caplog: pytest.LogCaptureFixture
    ) -> None:
        keep_model(steered.run, SECOND)
        steered.told(Adopt(SECOND.digest))
        with caplog.at_level(logging.WARNING):
            steered.switching.now(ModelError("it is damaged"))
        assert "it is damaged" in caplog.text
        assert newest_model(steered.run).digest == FIRST.digest
        assert entries(steered.crawling)[-1] == Begin(PAGES, "the model")
        assert not steered.told()

    def test_a_disk_that_is_full_in_that_moment_ends_the_crawl(
        self, steered: Steered, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keep_model(steered.run, SECOND)
        steered.told(Adopt(SECOND.digest))

        def full(*_: object, **__: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(steered.crawling.journal, "append", full)
        steered.switching.now()
        with pytest.raises(RunError, match="disk is full"):
            steered.told()

    def test_a_change_that_was_cut_off_does_not_stop_the_next(self, steered: Steered) -> None:
        keep_model(steered.run, SECOND)
        keep_model(steered.run, THIRD)
        place_of(steered.run, SECOND.digest).rename(steered.run / NEXT)
        adopt_model(steered.run, THIRD.digest)
        assert newest_model(steered.run).digest == THIRD.digest
        adopt_model(steered.run, SECOND.digest)
        assert newest_model(steered.run).digest == SECOND.digest
        digests = {load_model(place).digest for place in steered.run.glob(f"{MODEL}*")}
        assert digests == {FIRST.digest, SECOND.digest, THIRD.digest}


class TestTaughtModels:
    def test_one_is_adopted_like_one_that_was_ordered(self, steered: Steered) -> None:
        steered.taught = [SECOND]
        assert not steered.told()  # it is no order
        assert [place for place, _ in steered.switching.asked] == [
            place_of(steered.run, SECOND.digest)
        ]
        assert newest_model(steered.run).digest == FIRST.digest
        steered.switching.now()
        assert newest_model(steered.run).digest == SECOND.digest
        assert load_model(steered.run / "model-1").digest == FIRST.digest
        assert entries(steered.crawling)[-1] == Begin(PAGES, SECOND.digest)

    def test_it_does_not_wait_for_the_next_look_into_the_inbox(self, steered: Steered) -> None:
        """A crawl over an archive fetches hundreds of pages between two looks."""
        steered.told()
        steered.taught = [SECOND]
        steered.controller.carry_out_orders()
        assert len(steered.switching.asked) == 1

    def test_the_next_is_not_asked_for_before_it_is_adopted(self, steered: Steered) -> None:
        steered.taught = [SECOND, THIRD]
        steered.told()
        steered.told()
        assert steered.taught == [THIRD]
        steered.switching.now()
        steered.told()
        steered.switching.now()
        assert newest_model(steered.run).digest == THIRD.digest

    def test_an_order_waits_until_then(self, steered: Steered) -> None:
        keep_model(steered.run, THIRD)
        steered.taught = [SECOND]
        assert not steered.told(Adopt(THIRD.digest))
        assert len(steered.switching.asked) == 1
        steered.switching.now()
        assert steered.told()
        steered.switching.now()
        models = [entry.model for entry in entries(steered.crawling) if isinstance(entry, Begin)]
        assert models == ["the model", SECOND.digest, THIRD.digest]

    def test_the_model_that_judges_already_is_no_new_one(self, steered: Steered) -> None:
        steered.taught = [SECOND]
        steered.told()
        steered.switching.now()
        before = steered.crawling.journal.position
        steered.taught = [SECOND]
        steered.told()
        assert steered.switching.asked == []
        assert steered.crawling.journal.position == before

    def test_a_crawl_that_ends_learns_nothing_more(self, steered: Steered) -> None:
        steered.told(Stop())
        steered.taught = [SECOND]
        steered.told()
        assert steered.taught == [SECOND]
        assert steered.switching.asked == []

    def test_one_that_cannot_be_read_leaves_the_old_one_and_the_crawl_goes_on(
        self, steered: Steered
    ) -> None:
        steered.taught = [SECOND, THIRD]
        steered.told()
        steered.switching.now(ModelError("it is damaged"))
        assert newest_model(steered.run).digest == FIRST.digest
        assert entries(steered.crawling)[-1] == Begin(PAGES, "the model")
        steered.told()
        steered.switching.now()
        assert newest_model(steered.run).digest == THIRD.digest


def test_a_run_that_was_steered_leaves_no_state_of_its_own(steered: Steered) -> None:
    steered.told(Pause())
    assert (steered.run / STATE).exists()
    assert run_state(steered.run).doing is Doing.STOPPED  # nobody holds the run
