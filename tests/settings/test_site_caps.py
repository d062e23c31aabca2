"""Caps on the pages of one site: fixed, falling, or none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.settings.site_caps import SiteCap


def test_inf_means_no_cap():
    assert SiteCap.parse("inf") == SiteCap.parse(math.inf) == SiteCap()
    assert SiteCap().at(1999, 2000) == math.inf


def test_a_number_is_the_cap_at_every_step():
    assert SiteCap.parse(10) == SiteCap.parse("10")
    assert [SiteCap.parse(10).at(step, 3) for step in range(3)] == [10, 10, 10]


def test_a_falling_cap_is_halved_at_each_third_of_the_budget():
    cap = SiteCap.parse("20..3")

    assert [cap.at(step, 9) for step in range(9)] == [20, 20, 20, 10, 10, 10, 5, 5, 5]


def test_a_falling_cap_never_falls_below_its_floor():
    assert [SiteCap.parse("5..2").at(step, 3) for step in range(3)] == [5, 2, 2]


def test_after_the_budget_the_last_third_goes_on():
    assert SiteCap.parse("20..3").at(9, 9) == 5


@pytest.mark.parametrize(
    "wrong", ["", "5..", "..2", "5..5", "2..5", "5..2..1", "5.2", "-1", "0", 0, -3, True, 2.5]
)
def test_anything_else_is_refused_with_what_is_valid(wrong):
    with pytest.raises(ValueError, match='must be "inf", a whole number of at least 1, or'):
        SiteCap.parse(wrong)


@pytest.mark.parametrize("wrong", [None, [5], "\u0665", "\u00b2", "9" * 5000])
def test_so_are_things_that_only_look_like_numbers(wrong):
    with pytest.raises(ValueError, match="must be"):
        SiteCap.parse(wrong)


caps = st.one_of(
    st.just(SiteCap()),
    st.integers(1, 1000).map(SiteCap),
    st.tuples(st.integers(1, 500), st.integers(1, 500)).map(lambda t: SiteCap(sum(t), t[1])),
)


@given(caps)
def test_a_cap_parses_its_own_text(cap):
    assert SiteCap.parse(str(cap)) == SiteCap.parse(cap) == cap


@given(caps, st.integers(1, 10_000), st.data())
def test_a_cap_never_rises(cap, budget, data):
    early, late = sorted(data.draw(st.tuples(*[st.integers(0, budget)] * 2)))

    assert cap.at(early, budget) >= cap.at(late, budget) >= 1
