"""Excerpts show the part of a page that tells most, and say nothing that is not there."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tres.topic.excerpt import CHARS, excerpt
from tres.topic.text import words

FILLER = "Nothing to see here, only weather and prices of the day. " * 20
TEXTS = st.text(st.sampled_from("honey bee.?! \n\u0301éßİ蜂蜜"), max_size=700)


def test_the_part_with_most_different_keywords_is_shown() -> None:
    text = f"A bee, a bee, a bee. {FILLER} Hives hold honey and bees: a bee is there. {FILLER}"
    found = excerpt(text, ["bee", "bees", "honey", "hives"])
    assert found.keywords == ("Hives", "honey", "bees", "bee")
    assert str(found).startswith("… Hives hold honey and bees: a bee is there. Nothing")
    assert str(found).endswith(" …")


def test_a_page_without_keywords_is_shown_from_its_start() -> None:
    found = excerpt(FILLER, ["honey"])
    assert found.keywords == ()
    assert str(found).startswith("Nothing to see here")


def test_a_short_page_is_shown_as_a_whole() -> None:
    text = f"{FILLER[:100]}. Then honey."
    assert str(excerpt(text, ["honey"])) == text


def test_a_phrase_is_marked_as_a_whole_and_only_as_one() -> None:
    found = excerpt("The honey of a Honey\n bee, not of a bee.", ["honey bee"])
    assert found.keywords == ("Honey bee",)


def test_words_of_other_scripts_and_spellings_are_found() -> None:
    assert excerpt("Il caffe\u0301 e` nero", ["CAFFÉ"]).keywords == ("caffé",)
    assert excerpt("私は蜂蜜が好き", ["蜂蜜"]).keywords == ("蜂蜜",)


def test_a_page_of_nothing_but_keywords_is_quick_and_short() -> None:
    assert len(str(excerpt("honey bee " * 100_000, ["honey", "bee"]))) <= CHARS + 4


@given(TEXTS, st.integers(20, 300))
def test_an_excerpt_is_a_part_of_the_page(text: str, chars: int) -> None:
    found = excerpt(text, ["honey", "bee", "蜂蜜"], chars)
    line = unicodedata.normalize("NFC", " ".join(text.split()))
    assert str(found).removeprefix("… ").removesuffix(" …").strip() in line
    assert len(str(found)) <= chars + 4
    assert len(found.pieces) % 2 == 1


@given(TEXTS)
def test_a_keyword_of_the_page_is_in_its_excerpt(text: str) -> None:
    line = " ".join(text.split())
    assert bool(excerpt(text, ["honey"]).keywords) == ("honey" in words(line))
