"""Which word of a text an entry of a vocabulary stands for, and which row a word gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.topic.text import words
from tres.topic.vectors.vocabulary import UNKNOWN, fallback_row, word_of


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("gene", "gene"),
        ("Gene", "gene"),
        ("ZU\u0308RICH", "z\u00fcrich"),
        ("Straße", "strasse"),
        ("mp3", "mp3"),
        ("1984", "1984"),
        ("inc.", "inc"),
        ("'s", "s"),
        ("\u2019s", "s"),
        ("n't", "t"),
        ("##", "10"),
        ("####", "1000"),
        ("生", "生"),
    ],
)
def test_an_entry_stands_for_the_word_that_a_text_gives(entry, word):
    assert word_of(entry) == word


@pytest.mark.parametrize("entry", ["", "...", ",", "New_York", "open-source", "1,000", "u.s.", "'"])
def test_an_entry_that_no_text_gives_is_left_out(entry):
    assert word_of(entry) is None


@given(st.text())
def test_every_entry_maps_to_a_word(entry):
    word = word_of(entry)

    assert word is None or words(word) == [word]


INDEX = {"1": 0, "10": 1, "1000": 2, "bronte": 3, "brontë": 4, "й": 5, "и": 6}


@pytest.mark.parametrize(
    ("word", "row"),
    [
        ("7", 0),
        ("42", 1),
        ("421", 1),  # there is no 100, so the next shorter one
        ("4213", 2),
        ("9" * 4000, 2),
        ("brónte", 3),
        ("ѝ", UNKNOWN),  # Cyrillic letters are not Latin ones with accents
        ("qwxz", UNKNOWN),
        ("4x", UNKNOWN),
    ],
)
def test_a_word_without_an_entry_goes_by_its_size_or_its_letters(word, row):
    assert fallback_row(word, INDEX) == row


def test_without_any_round_number_a_number_is_unknown():
    assert fallback_row("42", {"43": 0}) == UNKNOWN
