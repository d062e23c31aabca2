"""Nothing that strangers write raises what nobody has named; `benchmarks/fuzz.py` goes further."""

from __future__ import annotations

import pytest
from benchmarks.fuzz import TARGETS, Target, fuzz, inputs, limited
from benchmarks.fuzz_targets import WIRE
from benchmarks.fuzz_wire import nothing_logged
from tests.support.fuzz import EXAMPLES
from twisted.logger import Logger
from twisted.python.failure import Failure

from tres.engines.scrapy.connections import BoundedParser


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_broken_input_raises_nothing(target: Target) -> None:
    outcome = fuzz(target, EXAMPLES)
    assert outcome.findings == []
    assert outcome.inputs == EXAMPLES


def test_a_finding_is_told_with_its_input() -> None:
    def read(data: bytes) -> None:
        if b"\xff" in data:
            raise KeyError("ouch")

    outcome = fuzz(Target("fragile", read, (b"sound", b"\xff")), 50)
    assert 0 < len(outcome.findings) < 50
    assert "fragile" in outcome.findings[0]
    assert "KeyError" in outcome.findings[0]


def test_a_response_is_read_by_the_parts_that_a_crawl_has(monkeypatch: pytest.MonkeyPatch) -> None:
    strange = b"HTTP\xed\xa0\x80/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"
    WIRE.read(strange)
    monkeypatch.delattr(BoundedParser, "statusReceived")
    with pytest.raises(AssertionError, match="UnicodeDecodeError"):
        WIRE.read(strange)


def test_what_twisted_only_logs_is_a_finding() -> None:
    with pytest.raises(KeyError, match="ouch"), nothing_logged():
        Logger().failure("unhandled", Failure(KeyError("ouch")))  # type: ignore[no-untyped-call]


def test_the_shares_of_all_kinds_make_a_whole() -> None:
    assert sum(target.share for target in TARGETS) == 100


def test_the_same_seed_gives_the_same_inputs_and_another_one_others() -> None:
    first, again, other = (list(inputs(TARGETS[0], 20, seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_what_takes_too_long_is_a_finding() -> None:
    with pytest.raises(TimeoutError), limited(0.05):
        sum(iter(lambda: 0, 1))  # for ever
