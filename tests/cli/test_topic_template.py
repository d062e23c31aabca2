"""The topic file that `tres init` writes, and what it says of keywords and seeds."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.cli.seed_check import SeedCheck, check_offline_seeds, occurring
from tres.cli.topic_template import (
    ACTIVE,
    OFFERED,
    draft_topic,
    format_topic_file,
    keyword_problems,
    terms_of,
)
from tres.errors import ConfigError
from tres.settings.topic_file import KEYS, load_topic
from tres.web.page import Failed, FailureKind, Link, Page

SEEDS = ["https://www.example.org/bees"]
DRAFT = draft_topic("bees", ["bee", "honey bee"], SEEDS, "me@example.org", 500)


def loaded(text: str, directory: Path) -> object:
    path = directory / "topic.toml"
    path.write_text(text, encoding="utf-8")
    return load_topic(path)


def test_the_file_gives_the_topic_that_was_draft_topic(tmp_path: Path) -> None:
    assert loaded(format_topic_file(DRAFT), tmp_path) == DRAFT


def test_what_it_offers_as_comments_are_the_defaults(tmp_path: Path) -> None:
    text = format_topic_file(DRAFT)
    offered = re.sub(r'^#(\w+ = (?!"\.\.\.").*)$', r"\1", text, flags=re.MULTILINE)
    assert offered.count("\n#") < text.count("\n#")
    assert loaded(offered, tmp_path) == DRAFT


def test_it_names_settings_that_there_are_and_explains_each() -> None:
    assert set(ACTIVE + OFFERED) <= set(KEYS)
    lines = format_topic_file(DRAFT).splitlines()
    for key in ACTIVE + OFFERED:
        name = key.partition(".")[2]
        place = next(i for i, line in enumerate(lines) if line.lstrip("#").startswith(f"{name} ="))
        assert lines[place - 1].startswith("# ")


@given(st.text(min_size=1).filter(str.strip), st.text(min_size=1, max_size=100).filter(str.strip))
def test_whatever_is_answered_the_file_is_valid(name: str, term: str) -> None:
    if any("\ud800" <= c <= "\udfff" for c in name + term):
        return  # no file can hold it
    draft = draft_topic(name.strip(), [term.strip()], SEEDS, "", 10)
    with tempfile.TemporaryDirectory() as directory:
        assert loaded(format_topic_file(draft), Path(directory)) == draft


def test_terms_of_several_words_become_phrases() -> None:
    topic = draft_topic("x", terms_of(["bee,  honey   bee ,", "hive"]), SEEDS, "", 1).topic
    assert (topic.keywords, topic.phrases) == (("bee", "hive"), ("honey bee",))


def test_a_topic_of_phrases_alone_has_them_as_keywords() -> None:
    topic = draft_topic("x", ["honey bee"], SEEDS, "", 1).topic
    assert (topic.keywords, topic.phrases) == (("honey bee",), ())


def test_what_cannot_be_is_named() -> None:
    with pytest.raises(ConfigError, match=r"topic\.keywords is missing: name some words"):
        draft_topic("x", [], SEEDS, "", 1)


@pytest.mark.parametrize(
    ("terms", "doubt"),
    [
        (["bee", "Bee"], "'bee' is given twice"),
        (["the"], "'the' says nothing about a topic"),
        (["of the"], "'of the' says nothing"),
        (["!!"], "'!!' contains no word"),
        (["website"], "'website' occurs on pages about anything"),
        (["2024"], "'2024' occurs on pages about anything"),
        (["ai"], "'ai' is short"),
    ],
)
def test_doubtful_keywords_are_doubted(terms: list[str], doubt: str) -> None:
    (said,) = keyword_problems(terms)
    assert said.startswith(doubt)


def test_good_keywords_are_not_doubted() -> None:
    assert list(keyword_problems(["bee", "world history", "search engine", "蜂", "Öl-Bild"])) == []


TEXT = "The hives of honey bees. " * 6
PAGE = Page(SEEDS[0], "Bees", TEXT, (Link("http://a.example/", "a"),))


class Here:
    """A web of one page."""

    name = "here"

    def fetch(self, url: str) -> Page | Failed:
        return PAGE if url == PAGE.url else Failed(url, FailureKind.NOT_FOUND)


def test_seeds_are_looked_at_in_a_web_that_is_here() -> None:
    config = draft_topic(
        "x", ["bee", "the", "wax", "honey bee"], [*SEEDS, "http://gone.example"], "", 1
    )
    good, dead = check_offline_seeds(config, Here())  # type: ignore[arg-type]
    assert (good.seed, good.found, good.terms) == (SEEDS[0], ("bee",), 3)
    assert not good.likely
    assert (good.language, good.problem) == ("en", "")
    assert dead.problem == "gave no page: http-404 (there is no such page)"


def test_a_seed_that_is_named_twice_is_fetched_once() -> None:
    config = draft_topic("x", ["bee"], [SEEDS[0], SEEDS[0] + "#top"], "", 1)
    assert len(check_offline_seeds(config, Here())) == 1  # type: ignore[arg-type]


def test_a_word_counts_in_its_plural_and_a_phrase_as_it_is() -> None:
    assert occurring(["bee", "hive", "honey bees", "honey bee", "he"], PAGE) == (
        *("bee", "hive", "honey bees"),
    )


@pytest.mark.parametrize(
    ("text", "links", "found", "doubt"),
    [
        ("", PAGE.links, (), "has hardly any text"),
        (TEXT, PAGE.links, (), "has none of your keywords"),
        (TEXT, (), ("bee",), "has no links"),
    ],
)
def test_a_poor_seed_is_doubted(
    text: str, links: tuple[Link, ...], found: tuple[str, ...], doubt: str
) -> None:
    check = SeedCheck("http://a.example/", Page("http://a.example/", "A", text, links), found, 2)
    assert check.problem.startswith(doubt)


def test_two_terms_make_a_page_likely_or_all_where_there_are_fewer() -> None:
    def likely(found: int, terms: int) -> bool:
        return SeedCheck("u", PAGE, ("a", "b", "c")[:found], terms).likely

    assert [likely(0, 1), likely(1, 1), likely(1, 5), likely(2, 5)] == [False, True, False, True]
