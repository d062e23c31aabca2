"""Near-duplicates: small edits are found, other pages are not."""

from __future__ import annotations

import doctest
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.web import near_duplicates as duplicates_module
from tres.web.near_duplicates import BITS, DISTANCE, SAMPLE, SHORT, NearDuplicates, fingerprint

WORDS = [f"word{number}" for number in range(2_000)]
PRINTS = st.integers(0, (1 << BITS) - 1)


def text(seed: int, size: int = 400) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def distance(one: str, other: str) -> int:
    return (known(one) ^ known(other)).bit_count()


def known(text: str) -> int:
    found = fingerprint(text)
    assert found is not None
    return found


def test_the_examples_of_the_documentation_hold():
    assert doctest.testmod(duplicates_module).failed == 0


def test_a_fingerprint_is_the_same_in_every_run():
    assert (
        fingerprint("Black holes")
        == 0x5885B926B872A4D009D0B04F9B36D1098F9DF0C9B39940A4F67EABF5B19A5DF9
    )
    assert (
        fingerprint(" ".join(WORDS[:60]))
        == 0x2EF9E0367F73A62250B8232F60290909EA0E2B3DA455873DFA8EA96C54805848
    )


def test_case_and_blanks_do_not_count():
    assert fingerprint("Black \n holes") == fingerprint("black holes")


def test_a_text_without_words_has_none():
    assert fingerprint(" \n ") is None


def test_scripts_without_blanks_have_words_too():
    chinese = "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9FFF), k=400)))
    edited_page = chinese[:200] + "猫" + chinese[201:]
    assert distance(chinese, edited_page) <= DISTANCE < distance(chinese, chinese[::-1])


def edited(original: str, changes: int, seed: int) -> str:
    words, draw = original.split(), random.Random(seed)
    for place in draw.sample(range(len(words)), changes):
        words[place] = f"changed{draw.random()}"
    return " ".join(words)


@pytest.mark.parametrize(
    ("changes", "least"), [(1, 1.0), (2, 1.0), (4, 1.0), (8, 0.97), (12, 0.85), (16, 0.5)]
)
def test_pages_with_some_of_240_words_changed_are_near(changes, least):
    originals = [text(seed, 240) for seed in range(60)]
    near = [distance(page, edited(page, changes, 1)) <= DISTANCE for page in originals]
    assert sum(near) >= least * len(near)


@pytest.mark.parametrize(("changes", "least"), [(1, 1.0), (4, 0.97), (8, 0.5)])
def test_copies_of_one_page_are_near_to_each_other_though_nobody_has_the_original(changes, least):
    originals = [text(seed, 240) for seed in range(60)]
    copies = [[edited(page, changes, seed) for seed in (1, 2)] for page in originals]
    assert sum(distance(*pair) <= DISTANCE for pair in copies) >= least * len(copies)


def test_pages_that_share_half_of_their_words_are_not_near():
    originals = [text(seed, 240) for seed in range(60)]
    halves = [
        f"{' '.join(page.split()[:120])} {text(99 + n, 120)}" for n, page in enumerate(originals)
    ]
    pairs = zip(originals, halves, strict=True)
    assert all(distance(*pair) > DISTANCE for pair in pairs)
    assert all(distance(*pair) > BITS // 4 for pair in pairwise(originals))


def test_long_pages_are_near_by_a_sample_of_their_shingles():
    page = text(1, 40 * SAMPLE)
    assert distance(page, edited(page, SAMPLE, 1)) <= DISTANCE
    assert distance(page, text(2, 40 * SAMPLE)) > DISTANCE


def test_order_matters():
    words = text(1).split()
    assert distance(" ".join(words), " ".join(reversed(words))) > DISTANCE


def test_short_pages_are_near_only_if_they_are_equal():
    short = text(1, SHORT - 1)
    assert distance(short, short) == 0
    assert distance(short, short + "x") > DISTANCE
    assert distance("a b", "b a") > DISTANCE
    assert distance("page 1", "page 2") > DISTANCE


@pytest.mark.parametrize("bits", [0, 1, DISTANCE, DISTANCE + 1, 128, BITS])
def test_the_memory_finds_what_differs_in_few_bits_wherever_they_are(bits):
    draw = random.Random(bits)
    pages = NearDuplicates()
    pages.add(known(text(1)))
    for _ in range(50):
        flips = sum(1 << place for place in draw.sample(range(BITS), bits))
        assert pages.seen(known(text(1)) ^ flips) == (bits <= DISTANCE)


@fuzzed
@given(st.lists(PRINTS | st.integers(0, 20), max_size=40), PRINTS | st.integers(0, 20))
def test_the_memory_answers_like_a_plain_search(known_prints, asked):
    pages = NearDuplicates()
    for each in known_prints:
        pages.add(each)
    assert pages.seen(asked) == any((each ^ asked).bit_count() <= DISTANCE for each in known_prints)


def test_it_remembers_the_last_pages_and_no_more():
    pages = NearDuplicates(remembered=1_500)
    prints = [known(text(seed, 60)) for seed in range(2_000)]
    for each in prints:
        pages.add(each)
    assert len(pages) == 1_500
    assert not any(map(pages.seen, prints[:500]))
    assert all(map(pages.seen, prints[500:]))


def test_it_grows():
    pages = NearDuplicates()
    prints = [known(text(seed, 60)) for seed in range(3_000)]
    for each in prints:
        pages.add(each)
    assert len(pages) == 3_000
    assert all(map(pages.seen, prints))


@fuzzed
@given(st.text())
def test_every_text_has_a_fingerprint_or_none(anything):
    found = fingerprint(anything)
    assert found is None or 0 <= found < 1 << BITS
