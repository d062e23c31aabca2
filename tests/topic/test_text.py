"""Words: one rule for text, anchors, URLs and keywords."""

import unicodedata
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.topic.text import STOP_WORDS, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("The Cell, and its DNA.", ["the", "cell", "and", "its", "dna"]),
        ("snake_case x2 3.14", ["snake", "case", "x2", "3", "14"]),
        ("the cell's wall", ["the", "cell", "s", "wall"]),
        ("the cell\u2019s wall", ["the", "cell", "s", "wall"]),
        ("open-source", ["open", "source"]),
        ("l'eau", ["l", "eau"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("Τίτλος", ["τίτλοσ"]),
        ("Жизнь", ["жизнь"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("कैंसर", ["कैंसर"]),
        ("生物学", ["生", "物", "学"]),
        ("DNA生物", ["dna", "生", "物"]),
        ("ジョン・スミス", ["ジ", "ョ", "ン", "ス", "ミ", "ス"]),
        ("ｶﾀ𠮷", ["ｶ", "ﾀ", "𠮷"]),
        ("ชีวิต", ["ชี", "วิ", "ต"]),
        ("ຊີວິດ", ["ຊີ", "ວິ", "ດ"]),
        ("ဇီဘ", ["ဇီ", "ဘ"]),
        ("ជីវិត", ["ជី", "វិ", "ត"]),
        ("생명 과학", ["생명", "과학"]),
        ("الأحياء", ["الأحياء"]),
        ("\x00\ud800\U0001f9ec", []),
    ],
)
def test_how_text_is_cut(text, found):
    assert words(text) == found


def test_composed_and_decomposed_letters_are_the_same():
    for text in ("Crème brûlée", "Ångström"):
        assert words(unicodedata.normalize("NFD", text)) == words(text)
    assert words("cafe\u0301") == ["café"]


@given(st.text())
def test_any_text_gives_clean_words(text):
    for word in words(text):
        assert word
        assert not any(char.isspace() or char == "_" for char in word)


@given(st.lists(st.text(st.characters(max_codepoint=0x24F), max_size=5)))
def test_words_are_cut_only_once(texts):
    once = words(" ".join(texts))

    assert words(" ".join(once)) == once


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_and_accented_text_are_cut_by_the_same_rule(text):
    assert words(f"{text} é") == [*words(text), "é"]


def test_stop_words_are_words():
    assert all(words(word) == [word] for word in STOP_WORDS)


def test_marks_without_end_take_no_time_without_end():
    marks = "".join(chr(0x300 + number % 60) for number in range(100_000))
    began = process_time()
    (word,) = words(f"a{marks}")
    assert process_time() - began < 1
    assert word.startswith("à")
    assert words("Ångström " + "e\u0301") == ["ångström", "é"]
    assert words("a" + "\u0301" * 30 + "b") == [
        unicodedata.normalize("NFC", "a" + "\u0301" * 30 + "b")
    ]
