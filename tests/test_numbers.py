"""Numbers in sentences: singular and plural, none, small ones as words."""

from __future__ import annotations

import doctest

import pytest

from tres import numbers
from tres.numbers import format_count, format_duration, spell_count


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(numbers).failed == 0


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "no relevant pages link"),
        (1, "one relevant page links"),
        (2, "two relevant pages link"),
        (12, "twelve relevant pages link"),
        (1234, "1,234 relevant pages link"),
    ],
)
def test_small_counts_are_spelled_with_the_form_of_the_noun_and_verb(
    count: int, expected: str
) -> None:
    assert spell_count(count, "relevant page links", "relevant pages link") == expected


def test_a_noun_without_a_plural_gets_an_s() -> None:
    assert [format_count(n, "URL") for n in (0, 1, 2)] == ["no URLs", "1 URL", "2 URLs"]


def test_a_duration_never_shows_sixty_seconds() -> None:
    assert format_duration(119.6) == "2 min 0 s"
