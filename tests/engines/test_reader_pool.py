"""The reader's process: the same answers, whatever happens to it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.msgpack import decode
from tests.hostile.crawling import children_of
from tests.support.fuzz import fuzzed
from tests.support.reading import ENGLISH, URL, html, model, reader, received

from tres.engines.reading.page_reader import Reading, Received
from tres.engines.reading.reader_plan import ReaderPlan, make_reader
from tres.engines.reading.reader_pool import ReaderPool
from tres.engines.reading.tasks import ReadPage
from tres.engines.reading.wire import checked_reading, reading_message
from tres.errors import ModelError
from tres.settings.sections import LiveSection
from tres.web.page import Failed, FailureKind
from tres.web.percept import MAX_CONTENT_CHARS, Percept
from tres.web.percept_codec import pack, unpack

BAD = ReaderPlan("tests.support.reading:bad_reader", {})
LINKS = "".join(f"<a href='/{n}?x=1&utm_id=2'>link {n} to biology</a>" for n in range(30))
PAGES = [
    received(html("Cells é", ENGLISH, LINKS)),
    received(html("Money", "bank loan " * 80, "<a href=/x.jpg>x</a>")),
    received(b"", "text/html"),
    received(html("Page not found", "Sorry.")),
    received(html("", "1984", "<meta http-equiv=refresh content='0;url=/y'>")),
    Received("nonsense \ud800", 200, "text/html\n", b"\n\x00"),
]


@pytest.fixture(autouse=True)
def _children_find_the_factories(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", f"{root / 'src'}:{root}")


def same(one: Reading, other: Reading) -> bool:
    """Equal to the last bit; arrays have no equality of their own."""
    return reading_message(one) == reading_message(other)


def with_process(
    work: Callable[[ReaderPool], Awaitable[None]], plan: ReaderPlan = BAD, **limits: float
) -> None:
    async def run() -> None:
        process = ReaderPool(plan, **limits)  # type: ignore[arg-type]
        try:
            await work(process)
        finally:
            await process.close()

    asyncio.run(run())


async def read_all(process: ReaderPool, pages: Iterable[Received]) -> list[Reading]:
    return list(await asyncio.gather(*map(process.read, pages)))


def kinds(readings: list[Reading]) -> list[str]:
    return [r.outcome.kind if isinstance(r.outcome, Failed) else "page" for r in readings]


def test_it_answers_like_the_reader_in_process_to_the_last_bit(tmp_path):
    model().save(tmp_path / "model")
    live = LiveSection(exclude=("/1$",), languages=("en", "de"))
    plan = ReaderPlan.with_model(tmp_path / "model", ["biology"], [], live, 2026)
    here = make_reader(plan.factory, json.loads(json.dumps(plan.arguments)))

    async def work(process: ReaderPool) -> None:
        for page, there in zip(PAGES, await read_all(process, PAGES), strict=True):
            assert same(here.read(page), there)
        assert same(here.read(PAGES[0]), await process.read(PAGES[0]))
        assert process.restarts == 0

    with_process(work, plan)


class TestBadPages:
    def test_pages_that_break_the_process_are_unreadable_and_the_others_are_read(self):
        ruin = [received(way + b" <p>") for way in (b"crash", b"memory", b"babble", b"lie")]

        async def work(process: ReaderPool) -> None:
            readings = await read_all(process, [PAGES[0], *ruin, PAGES[0]])
            assert kinds(readings) == ["page", *[FailureKind.UNREADABLE] * 4, "page"]
            assert same(readings[0], readings[-1])
            assert process.restarts == 6  # who kills a process may be innocent, once

        with_process(work, memory=1 << 28)

    def test_a_page_that_takes_too_long_is_given_up(self):
        async def work(process: ReaderPool) -> None:
            await process.start()
            readings = await read_all(process, [received(b"sleep"), PAGES[0]])
            assert kinds(readings) == [FailureKind.UNREADABLE, "page"]
            assert "too long" in readings[0].note

        with_process(work, patience=6.0)

    def test_a_bug_costs_one_page_and_printing_costs_none(self):
        async def work(process: ReaderPool) -> None:
            readings = await read_all(process, [received(b"bug"), received(b"print <p>"), PAGES[0]])
            assert kinds(readings) == [FailureKind.UNREADABLE, "page", "page"]
            assert (readings[0].note, process.restarts) == ("RuntimeError", 0)

        with_process(work)

    def test_a_page_that_takes_too_much_of_the_processor_is_given_up_and_charged(self):
        charged: list[tuple[str, float]] = []

        async def work(process: ReaderPool) -> None:
            process.charge = lambda url, seconds: charged.append((url, seconds))
            readings = await read_all(process, [received(b"spin"), PAGES[0]])
            assert kinds(readings) == [FailureKind.UNREADABLE, "page"]
            assert readings[0].note == "took too long to read; its site rests"
            assert process.restarts == 1  # it is not tried a second time

        with_process(work, seconds=1.0, patience=300.0)
        least, most = sorted(seconds for _, seconds in charged)
        assert 0 < least < most == 1.0


class TestBystanders:
    """What happens to a page must not depend on the pages beside it, nor on who is killed."""

    def test_pages_behind_a_slow_one_are_read_by_another_process(self, tmp_path):
        slow = received(b"wait %s <p>" % bytes(tmp_path / "go"))
        elsewhere = replace(PAGES[0], url="http://other.example/")

        async def work(process: ReaderPool) -> None:
            first = asyncio.create_task(process.read(slow))
            own = asyncio.create_task(process.read(PAGES[0]))
            others = await read_all(process, [elsewhere] * 10)
            assert kinds(others) == ["page"] * 10
            assert not first.done()
            assert not own.done()  # no host holds up two processes
            (tmp_path / "go").touch()
            assert kinds([await first, await own]) == ["page", "page"]
            assert kinds(await read_all(process, [PAGES[0]] * 10)) == ["page"] * 10
            assert process.restarts == 0

        with_process(work, patience=300.0)

    def test_a_process_that_somebody_else_kills_costs_no_page(self, tmp_path):
        innocent = received(b"wait %s <p>" % bytes(tmp_path / "go"))

        async def work(process: ReaderPool) -> None:
            readings = asyncio.create_task(read_all(process, [innocent, PAGES[0]]))
            while not (tmp_path / "go.reached").exists():
                await asyncio.sleep(0.01)
            (child,) = children_of(os.getpid())
            os.kill(child, signal.SIGKILL)
            (tmp_path / "go").touch()
            assert kinds(await readings) == ["page", "page"]
            assert process.restarts == 1

        with_process(work, patience=300.0)

    def test_a_process_that_is_killed_while_it_starts_is_started_again(self, tmp_path):
        arguments = {"mark": str(tmp_path / "killed")}

        async def work(process: ReaderPool) -> None:
            await process.start()
            assert (tmp_path / "killed").exists()
            assert kinds([await process.read(PAGES[0])]) == ["page"]

        with_process(work, ReaderPlan("tests.support.reading:killed_reader", arguments))

    def test_a_process_that_answers_nonsense_at_its_start_is_started_again(self, tmp_path):
        arguments = {"mark": str(tmp_path / "babbled")}

        async def work(process: ReaderPool) -> None:
            reading = await asyncio.wait_for(process.read(PAGES[0]), 60)
            assert kinds([reading]) == ["page"]
            assert (tmp_path / "babbled").exists()

        with_process(work, ReaderPlan("tests.support.reading:babbling_reader", arguments))


def test_a_process_that_cannot_make_its_reader_says_why():
    async def work(process: ReaderPool) -> None:
        with pytest.raises(ModelError, match="there is no model"):
            await process.read(PAGES[0])

    with_process(work, ReaderPlan("tests.support.reading:no_reader", {}))


def test_closing_cancels_waiting_tasks():
    async def work(process: ReaderPool) -> None:
        waiting = asyncio.create_task(process.read(received(b"sleep")))
        await asyncio.sleep(0.1)
        await process.close()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    with_process(work)


def answer(page: int) -> tuple[list[Any], bytes]:
    """The list and the numbers in what the reader says about a page."""
    encoded, numbers = unpack(reading_message(reader().read(PAGES[page])))
    return json.loads(encoded), numbers


class TestMessages:
    @pytest.mark.parametrize("page", PAGES)
    def test_pages_and_readings_survive_encoding(self, page):
        sent = decode(ReadPage(page).message(), type=ReadPage).received
        assert sent == replace(page, url=page.url.replace("\ud800", "?"))
        reading = reader().read(page)
        assert same(checked_reading(reading_message(reading)), reading)

    def test_columns_keep_their_types(self):
        outcome = checked_reading(reading_message(reader().read(PAGES[0]))).outcome
        assert isinstance(outcome, Percept)
        types = (outcome.links.url_keyword.dtype, outcome.links.anchor_relevance.dtype)
        assert types == (np.bool_, np.float32)
        assert any(outcome.links.anchors)

    @pytest.mark.parametrize(
        ("note", "value"),
        [
            ("title", 1),
            ("title", "x" * 10_000),
            ("title", "\ud800"),
            ("fingerprint", 1 << 256),
            ("fingerprint", -1),
            ("fingerprint", True),
            ("text_chars", -1),
            ("refresh", "javascript:x"),
            ("dropped", []),
            ("dropped", {"file": -1}),
            ("dropped", {"x" * 41: 1}),
            ("note", "x" * 501),
            ("size", 1 << 63),
        ],
    )
    def test_a_note_out_of_bounds_is_refused(self, note, value):
        kind, outcome, notes = answer(0)[0]
        at = [field.name for field in fields(Reading)].index(note) - 1
        with pytest.raises(ValueError, match=r"."):
            checked_reading(pack([kind, outcome, [*notes[:at], value, *notes[at + 1 :]]]))

    @pytest.mark.parametrize(
        "failed",
        [
            {"url": URL, "kind": "invented", "retryable": False},
            {"url": URL, "kind": "timeout", "retryable": 1},
            {"url": "\ud800", "kind": "timeout", "retryable": False},
            {"kind": "timeout", "retryable": False},
            [URL, "timeout", False],
            None,
        ],
    )
    def test_a_message_without_a_valid_failure_is_refused(self, failed):
        (_, _, notes), _ = answer(0)
        with pytest.raises(ValueError, match=r"."):
            checked_reading(pack(["failed", failed, notes]))

    @pytest.mark.parametrize(
        ("at", "value"),
        [
            (0, None),
            (0, "\ud800"),
            (0, "x" * (MAX_CONTENT_CHARS + 1)),
            (1, "HTTP://x"),
            (1, None),
            (2, "ex\u00e4mple.org"),
            (2, ""),
            (2, "x" * 100),
            (3, "engl"),
            (3, 7),
            (3, "\ud800"),
        ],
    )
    def test_every_string_of_a_page_is_checked(self, at, value):
        (kind, texts, notes), numbers = answer(0)
        texts[at] = value
        with pytest.raises(ValueError, match=r"."):
            checked_reading(pack([kind, texts, notes], numbers))

    @pytest.mark.parametrize("column", [4, 5, 6])
    @pytest.mark.parametrize("value", [None, 2, [], float("inf"), "\ud800", "x" * 501])
    def test_every_column_of_strings_is_checked(self, column, value):
        (kind, texts, notes), numbers = answer(0)
        texts[column][0] = value
        with pytest.raises(ValueError, match=r"."):
            checked_reading(pack([kind, texts, notes], numbers))

    @pytest.mark.parametrize("column", [4, 5, 6])
    def test_columns_of_different_lengths_are_refused(self, column):
        for change in (lambda texts: texts.pop(), lambda texts: texts.append(texts[0])):
            (kind, texts, notes), numbers = answer(0)
            change(texts[column])
            with pytest.raises(ValueError, match=r"."):
                checked_reading(pack([kind, texts, notes], numbers))

    def test_a_url_that_is_listed_twice_is_refused(self):
        (kind, texts, notes), numbers = answer(0)
        texts[4][1] = texts[4][0]
        texts[5][1] = texts[5][0]
        with pytest.raises(ValueError, match=r"."):
            checked_reading(pack([kind, texts, notes], numbers))

    @pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), float("inf")])
    def test_numbers_out_of_range_are_refused(self, bad):
        whole, numbers = answer(0)
        wrong = (struct.pack("<d", bad) + numbers[8:], numbers[:-4] + struct.pack("<f", bad))
        for changed in (*wrong, numbers[:-1], numbers + b"\0", b""):
            with pytest.raises(ValueError, match=r"."):
                checked_reading(pack(whole, changed))

    def test_deep_nesting_and_wrong_lengths_are_refused(self):
        message = reading_message(reader().read(PAGES[0]))
        deep = b"[" * 100_000
        for bad in (message[:3], message[:100], message[4:], struct.pack("<I", len(deep)) + deep):
            with pytest.raises(ValueError, match=r"."):
                checked_reading(bad)

    @fuzzed
    @given(
        st.binary()
        | st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ).map(lambda value: json.dumps(value).encode())
    )
    def test_an_answer_causes_no_error_but_a_value_error(self, message):
        with pytest.raises(ValueError, match=r"."):
            checked_reading(message)
