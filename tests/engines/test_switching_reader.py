"""Another model takes over between two pages, and the crawl does not wait for it to start."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.reading import ENGLISH, html, model, received

from tres.engines.reading.page_reader import Reading
from tres.engines.reading.reader_plan import ReaderPlan
from tres.engines.reading.switching_reader import SwitchingReader
from tres.errors import ModelError
from tres.settings.sections import LiveSection
from tres.web.percept import Percept

PAGE = received(html("Cells", ENGLISH))
BROKEN = ReaderPlan("tests.support.reading:no_reader", {})


@pytest.fixture(autouse=True)
def _children_find_the_factories(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", f"{root / 'src'}:{root}")


@pytest.fixture
def plans(tmp_path: Path) -> tuple[ReaderPlan, ReaderPlan]:
    """By the first, the page is about biology; by the second it is not."""
    known = model()
    other = replace(known, weights=-np.asarray(known.weights))
    for name, each in (("first", known), ("second", other)):
        each.save(tmp_path / name)
    first, second = (
        ReaderPlan.with_model(tmp_path / name, ["biology"], [], LiveSection(), 2026)
        for name in ("first", "second")
    )
    return first, second


def with_reader(
    plan: ReaderPlan, work: Callable[[SwitchingReader], Awaitable[None]]
) -> SwitchingReader:
    made: list[SwitchingReader] = []

    async def run() -> None:
        reader = SwitchingReader(plan)
        made.append(reader)
        try:
            await work(reader)
        finally:
            await reader.close()

    asyncio.run(run())
    return made[0]


def relevant(reading: Reading) -> bool:
    assert isinstance(reading.outcome, Percept)
    return reading.outcome.relevant


def test_pages_are_read_during_a_switch_and_the_models_do_not_overlap(
    plans: tuple[ReaderPlan, ReaderPlan],
) -> None:
    first, second = plans
    story: list[object] = []

    def between() -> ReaderPlan:
        story.append("switched")
        return second

    def failed(problem: ModelError) -> None:
        raise AssertionError(problem)

    async def work(reader: SwitchingReader) -> None:
        await reader.start()
        reader.switch_soon(second, between, failed)

        async def keep_reading() -> None:
            while "switched" not in story or len(story) - story.index("switched") < 5:
                story.append(relevant(await reader.read(PAGE)))

        await asyncio.wait_for(asyncio.gather(*(keep_reading() for _ in range(3))), 60)

    with_reader(first, work)
    moment = story.index("switched")
    assert moment > 0  # a process takes longer to start than a page to be read
    assert set(story[:moment]) == {True}
    assert set(story[moment + 1 :]) == {False}


def test_a_model_that_cannot_be_read_changes_nothing(plans: tuple[ReaderPlan, ReaderPlan]) -> None:
    problems: list[ModelError] = []

    def between() -> ReaderPlan:
        raise AssertionError("it must not come to that")

    async def work(reader: SwitchingReader) -> None:
        reader.switch_soon(BROKEN, between, problems.append)
        while not problems:
            await asyncio.sleep(0.01)
        assert relevant(await reader.read(PAGE))

    with_reader(plans[0], work)
    assert [problem.message for problem in problems] == ["there is no model"]


def test_a_crawl_that_ends_meanwhile_leaves_no_process_behind(
    plans: tuple[ReaderPlan, ReaderPlan],
) -> None:
    told: list[object] = []

    async def work(reader: SwitchingReader) -> None:
        reader.switch_soon(plans[1], lambda: told.append("switched") or plans[1], told.append)
        await asyncio.sleep(0.05)

    reader = with_reader(plans[0], work)
    assert told == []
    assert reader._switches == set()
