"""Near-duplicates: small edits are found, other pages are not."""

from __future__ import annotations

import doctest
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.web import duplicates as duplicates_module
from tres.web.duplicates import NEAR, SHORT, NearDuplicates, fingerprint

WORDS = [f"word{number}" for number in range(2_000)]
SIGNED = st.integers(-(1 << 63), (1 << 63) - 1)


def text(seed: int, size: int = 400) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def distance(one: str, other: str) -> int:
    return ((known(one) ^ known(other)) & ((1 << 64) - 1)).bit_count()


def known(text: str) -> int:
    found = fingerprint(text)
    assert found is not None
    return found


def test_the_examples_of_the_documentation_hold():
    assert doctest.testmod(duplicates_module).failed == 0


def test_a_fingerprint_is_the_same_in_every_run():
    assert fingerprint("Black holes") == -684921021578715655
    assert fingerprint(" ".join(WORDS[:60])) == -2408975907506130236


def test_case_and_blanks_do_not_count():
    assert fingerprint("Black \n holes") == fingerprint("black holes")


def test_a_text_without_words_has_none():
    assert fingerprint(" \n ") is None


def test_scripts_without_blanks_have_words_too():
    chinese = "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9FFF), k=400)))
    edited = chinese[:200] + "猫" + chinese[201:]
    assert 0 < distance(chinese, edited) <= NEAR


def test_small_edits_of_most_pages_are_near_and_other_pages_are_far():
    def edited(original: str) -> str:
        return original.replace(original.split()[400], "changed", 1)

    originals = [text(seed, 800) for seed in range(40)]
    near = [distance(original, edited(original)) <= NEAR for original in originals]
    assert sum(near) >= 34
    assert all(distance(*pair) > 10 for pair in pairwise(originals))


def test_order_matters():
    words = text(1).split()
    assert distance(" ".join(words), " ".join(reversed(words))) > NEAR


def test_short_pages_are_near_only_if_they_are_equal():
    short = text(1, SHORT - 1)
    assert distance(short, short) == 0
    assert distance(short, short + "x") > NEAR
    assert distance("a b", "b a") > NEAR
    assert distance("page 1", "page 2") > NEAR


@pytest.mark.parametrize("bits", range(6))
def test_the_index_finds_what_differs_in_few_bits_wherever_they_are(bits):
    draw = random.Random(bits)
    pages = NearDuplicates()
    pages.add(known(text(1)))
    for _ in range(200):
        flips = sum(1 << place for place in draw.sample(range(64), bits))
        flipped = (known(text(1)) ^ flips) & ((1 << 64) - 1)
        signed = flipped - (1 << 64) if flipped >> 63 else flipped
        assert pages.seen(signed) == (bits <= NEAR)


@fuzzed
@given(st.lists(SIGNED | st.integers(-20, 20), max_size=40), SIGNED | st.integers(-20, 20))
def test_the_index_answers_like_a_plain_search(known_prints, asked):
    pages = NearDuplicates()
    for each in known_prints:
        pages.add(each)
    # Python's negative numbers have endless leading ones, which cancel out in the difference.
    differences = [(each ^ asked) & ((1 << 64) - 1) for each in known_prints]
    assert pages.seen(asked) == any(each.bit_count() <= NEAR for each in differences)


def test_it_grows():
    pages = NearDuplicates()
    prints = [known(text(seed, 60)) for seed in range(3_000)]
    for each in prints:
        pages.add(each)
    assert len(pages) == 3_000
    assert all(map(pages.seen, prints))


@fuzzed
@given(st.text())
def test_every_text_has_a_signed_fingerprint_or_none(anything):
    found = fingerprint(anything)
    assert found is None or -(1 << 63) <= found < 1 << 63
