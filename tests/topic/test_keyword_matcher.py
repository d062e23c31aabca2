"""Keyword matching: whole words in text, parts of words in URLs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.topic.keyword_matcher import KeywordMatcher
from tres.topic.text import words


@pytest.fixture
def biology():
    return KeywordMatcher(["biology", "cell", "DNA", "Évolution"], ["natural selection", "O'Brien"])


@pytest.mark.parametrize(
    "text",
    [
        "Cell",
        "a cell-wall",
        "the cell's wall",
        "DNA!",
        "e\u0301volution",
        "by NATURAL  selection,",
        "natural-selection",
        "Ms O\u2019Brien",
    ],
)
def test_text_that_speaks_of_the_topic(biology, text):
    assert biology.in_text(text)


@pytest.mark.parametrize(
    "text", ["", "cells", "excellent", "microbiology", "natural", "selection natural", "natural x"]
)
def test_text_that_does_not(biology, text):
    assert not biology.in_text(text)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/Cell_(biology)",
        "http://marinebiology.org/",
        "http://example.org/cells",
        "http://example.org/?q=dna",
        "http://dna.example.org/",
        "http://example.org/%C3%89volution",
        "http://example.org/e%CC%81volution",
    ],
)
def test_urls_that_hold_a_keyword(biology, url):
    assert biology.in_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "http://example.org/dnase",
        "http://example.org/ce-ll",
        "http://example.org/natural_selection",
        "http://example.org/%FF%zz%",
    ],
)
def test_urls_that_do_not(biology, url):
    assert not biology.in_url(url)


def test_a_keyword_of_several_words_is_a_phrase_in_text_and_in_urls():
    matcher = KeywordMatcher(["machine learning"])

    assert matcher.in_text("on Machine-Learning")
    assert matcher.in_url("http://example.org/machine_learning.html")
    assert not matcher.in_text("learning by machine")
    assert not matcher.in_url("http://example.org/machine/tools/learning")


def test_scripts_without_spaces():
    matcher = KeywordMatcher(["生物"])

    assert matcher.in_text("海洋生物学")
    assert matcher.in_url("http://example.org/%E6%B5%B7%E6%B4%8B%E7%94%9F%E7%89%A9")
    assert not matcher.in_text("生きた物")


@pytest.mark.parametrize(
    ("keyword", "clause", "other"),
    [
        ("ชีวิต", "วิทยาศาสตร์ชีวิตและโลก", "ชีวะวิต"),
        ("ជីវិត", "វិទ្យាសាស្ត្រជីវិតថ្មី", "ជីតវិ"),
    ],
)
def test_a_keyword_is_found_in_a_clause_without_spaces(keyword, clause, other):
    matcher = KeywordMatcher([keyword])

    assert matcher.in_text(clause)
    assert not matcher.in_text(other)


def test_long_keywords_that_begin_alike():
    long = ["\u0390" * n + "x" for n in range(1, 100)]
    matcher = KeywordMatcher([*long, "b" * 2_000])
    assert matcher.in_url("http://a.example/" + "b" * 2_000)
    assert not matcher.in_url("http://a.example/" + "b" * 1_999)
    assert matcher.in_url(f"http://a.example/{long[50]}")


def test_keywords_without_a_letter_match_nothing():
    matcher = KeywordMatcher(["++", "", "_"], ["--"])

    assert not matcher.in_text("++ _ --")
    assert not matcher.in_url("http://++/--")


keywords = st.text("abc é", min_size=1, max_size=6)


@given(
    st.lists(keywords, max_size=8), st.lists(keywords, max_size=3), st.text("abcé -", max_size=20)
)
def test_text_matches_as_a_plain_search_over_words_does(keys, phrases, text):
    found = words(text)
    terms = [words(term) for term in keys + phrases]
    expected = any(
        term and term == found[at : at + len(term)] for term in terms for at in range(len(found))
    )

    assert KeywordMatcher(keys, phrases).in_text(text) == expected


@given(st.lists(keywords, max_size=8), st.text("abcé/", max_size=20))
def test_urls_match_as_a_plain_search_for_each_keyword_does(keys, path):
    line = " ".join(words(path))
    terms = [" ".join(words(key)) for key in keys]
    expected = any(
        term and (term in line if len(term) >= 4 else f" {term} " in f" {line} ") for term in terms
    )

    assert KeywordMatcher(keys).in_url(path) == expected
