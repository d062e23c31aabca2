"""Nothing that strangers write raises what nobody has named; `benchmarks/fuzz.py` goes further."""

from __future__ import annotations

import pytest
from benchmarks.fuzz import TARGETS, Target, fuzz, inputs, limited
from tests.support.fuzz import EXAMPLES


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


def test_the_same_seed_gives_the_same_inputs_and_another_one_others() -> None:
    first, again, other = (list(inputs(TARGETS[0], 20, seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_what_takes_too_long_is_a_finding() -> None:
    with pytest.raises(TimeoutError), limited(0.05):
        sum(iter(lambda: 0, 1))  # for ever
