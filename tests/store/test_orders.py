"""Orders to a crawl: written in one piece by anybody, read in order, never the end of a crawl."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.errors import ConfigError, RunError
from tres.files.durable import replace_parts
from tres.store import orders
from tres.store.orders import (
    AT_ONCE,
    LARGEST,
    OF_THE_MOMENT,
    ORDERS,
    Adopt,
    Block,
    Budget,
    Continue,
    Order,
    Pause,
    Stop,
    forget,
    ordered_budget,
    send,
    take,
)

DIGEST = "0123456789abcdef" * 4
EVERY: list[Order] = [Pause(), Continue(), Stop(), Budget(7), Block("a.org"), Adopt(DIGEST)]


def waiting(run: Path) -> list[Order]:
    return [order_file.order for order_file in take(run)]


def left(run: Path, content: bytes, name: str = "0.json") -> Path:
    (run / ORDERS).mkdir(exist_ok=True)
    file = run / ORDERS / name
    file.write_bytes(content)
    return file


def test_orders_are_read_as_they_were_given_and_stay_until_they_are_done(tmp_path: Path) -> None:
    for order in EVERY:
        send(tmp_path, order)
    assert waiting(tmp_path) == EVERY == waiting(tmp_path)
    for order_file in take(tmp_path):
        order_file.done()
        order_file.done()  # whoever comes second finds nothing, and that is all
    assert waiting(tmp_path) == []
    assert list((tmp_path / ORDERS).iterdir()) == []


def test_a_run_without_an_inbox_has_no_orders(tmp_path: Path) -> None:
    assert waiting(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_time_of_an_order_decides_not_the_directory(tmp_path: Path) -> None:
    send(tmp_path, Budget(3), clock=lambda: 10**18)
    send(tmp_path, Budget(1), clock=lambda: 5)
    send(tmp_path, Budget(2), clock=lambda: 2 * 10**9)
    assert waiting(tmp_path) == [Budget(1), Budget(2), Budget(3)]
    assert ordered_budget(tmp_path) == 3


def test_many_may_write_in_the_same_instant_and_nothing_is_lost(tmp_path: Path) -> None:
    def write(writer: int) -> None:
        for number in range(25):
            send(tmp_path, Block(f"{writer}-{number}"), clock=lambda: number)  # noqa: B023

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [order.site for order in waiting(tmp_path) if isinstance(order, Block)]
    assert sorted(found) == sorted(f"{w}-{n}" for w in range(4) for n in range(25))
    assert [int(site.split("-")[1]) for site in found] == sorted([*range(25)] * 4)


def test_half_an_order_is_never_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that looks at every moment of a writer sees no order, or all of it."""
    seen: list[list[Order]] = []

    def slowly(file: Path, content: bytes, durable: bool) -> None:
        def byte_by_byte() -> Iterator[bytes]:
            for place in range(len(content)):
                seen.append(waiting(tmp_path))
                yield content[place : place + 1]

        replace_parts(file, byte_by_byte(), durable)

    monkeypatch.setattr("tres.store.orders.replace_file", slowly)
    send(tmp_path, Block("a.org"))
    assert len(seen) > 20
    assert all(orders_then == [] for orders_then in seen)
    assert waiting(tmp_path) == [Block("a.org")]


def test_what_a_killed_writer_left_is_no_order(tmp_path: Path) -> None:
    left(tmp_path, b'{"order": "st', "00000000000000000001-aaaaaaaa.json.part")
    assert waiting(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'"pause"',
        b'{"order": "explode"}',
        b'{"order": ["pause"]}',
        b'{"order": "pause", "site": "a.org"}',
        b'{"order": "budget"}',
        b'{"order": "budget", "pages": 0}',
        b'{"order": "budget", "pages": true}',
        b'{"order": "budget", "pages": 2.5}',
        b'{"order": "block", "site": ""}',
        b'{"order": "block", "site": ["a"]}',
        b'{"order": "adopt", "model": "../../model"}',
        b'{"order": "block", "site": "' + b"a" * LARGEST + b'"}',
        b"[" * (LARGEST - 1),
        b"\xff\xfe",
    ],
)
def test_what_is_no_order_is_set_aside_with_a_remark(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file = left(tmp_path, content)
    send(tmp_path, Pause())
    with caplog.at_level(logging.WARNING):
        assert waiting(tmp_path) == [Pause()]
        assert waiting(tmp_path) == [Pause()]
    (remark,) = caplog.messages
    assert remark.startswith(f"the order {file} was not carried out: ")
    assert not file.exists()
    assert file.with_suffix(".refused").read_bytes() == content


@fuzzed
@given(
    content=st.one_of(
        st.binary(max_size=60),
        st.builds(
            lambda name, rest: json.dumps({"order": name, **rest}).encode(),
            st.sampled_from([*orders.KINDS, "other"]),
            st.dictionaries(
                st.sampled_from(["pages", "site", "model", "x"]),
                st.one_of(st.none(), st.integers(), st.text(max_size=5), st.lists(st.integers())),
            ),
        ),
    )
)
def test_any_file_is_an_order_or_set_aside(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    run = tmp_path_factory.getbasetemp() / "fuzzed-orders"
    run.mkdir(exist_ok=True)
    file = left(run, content)
    for order_file in take(run):
        assert isinstance(order_file.order, tuple(orders.KINDS.values()))
        order_file.done()
    assert not file.exists()


def test_a_directory_that_has_filled_up_is_read_piece_by_piece(tmp_path: Path) -> None:
    ticks = count(1)
    for number in range(AT_ONCE + 5):
        send(tmp_path, Budget(number + 1), clock=lambda: next(ticks))
    assert waiting(tmp_path) == [Budget(number + 1) for number in range(AT_ONCE)]
    for order_file in take(tmp_path):
        order_file.done()
    assert waiting(tmp_path) == [Budget(AT_ONCE + number + 1) for number in range(5)]


def test_when_too_many_wait_no_more_are_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orders, "MOST", 3)
    for _ in range(3):
        send(tmp_path, Pause())
    with pytest.raises(RunError, match="3 orders wait there already; let a crawl carry them out"):
        send(tmp_path, Pause())
    assert len(waiting(tmp_path)) == 3


def test_orders_of_the_moment_can_be_forgotten_and_others_stay(tmp_path: Path) -> None:
    for order in [*EVERY, *EVERY]:
        send(tmp_path, order)
    forget(tmp_path, *OF_THE_MOMENT)
    assert waiting(tmp_path) == [Budget(7), Block("a.org"), Adopt(DIGEST)] * 2


def test_an_order_that_cannot_be_left_is_an_error_with_the_place(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="orders: the order cannot be written"):
        send(tmp_path / "no-run", Pause())


def bad_orders() -> Iterator[tuple[type, object]]:
    yield from ((Budget, pages) for pages in (0, -1, 2**60, True, 1.5))
    yield from ((Block, site) for site in ("", "a b", "a\n", "a" * 301, "\ud800", 5))
    yield from ((Adopt, model) for model in ("", "../model", DIGEST + "/", "zz" * 12, None))


@pytest.mark.parametrize(("kind", "value"), list(bad_orders()))
def test_an_order_that_means_nothing_cannot_be_made(kind: type, value: object) -> None:
    with pytest.raises(ConfigError):
        kind(value)
