"""An explanation reads well, and cannot control a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.bees import bees_config, crawl_bees, lexicon, write_bees

from tres.frontier.path_rows import HAN
from tres.mdp.feature_schema import SCHEMAS
from tres.report.explain.facts import (
    Citation,
    Condition,
    Explanation,
    Feature,
    Fetched,
    Leaf,
    Waiting,
)
from tres.report.explain.gather import explain
from tres.report.explain.layout import format_explanation
from tres.report.explain.sentences import (
    describe_leaf,
    describe_rank,
    describe_site,
    summarize_page,
)
from tres.report.feature_labels import (
    COUNT_LABELS,
    SHARE_LABELS,
    YES_LABELS,
    format_condition,
    value_and_label,
)
from tres.report.reasons import reasons

GOLDEN = Path(__file__).with_name("explained.txt")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("bees")
    config = bees_config().override(model="tfidf")  # the numbers of the example are its own
    return crawl_bees(directory / "run", write_bees(directory / "bees.jsonl"), config)


@pytest.fixture(scope="module")
def page(run: Path) -> Fetched:
    explained = explain(run, lexicon(11))
    assert isinstance(explained, Fetched)
    return explained


def test_an_explanation_reads_as_in_the_example(page: Fetched) -> None:
    assert format_explanation(page) + "\n" == GOLDEN.read_text(encoding="utf-8")


def test_nothing_but_an_address_is_wider_than_a_terminal(page: Fetched) -> None:
    far = "http://lexicon.example/" + "far/" * 40
    others = tuple(replace(each, url=far) for each in page.decision.runners_up)
    explained = format_explanation(
        replace(page, decision=replace(page.decision, runners_up=others))
    )
    wide = [line for line in explained.split("\n") if len(line) >= 80]
    assert {line.strip() for line in wide} == {far}


def test_the_first_sentence_says_it_all(page: Fetched) -> None:
    assert summarize_page(page) == (
        "tres fetched it as page 9 of 20, on a first guess, before it had learnt enough: two "
        'relevant pages link to it with the word "hive", all seven pages fetched from its site '
        "were relevant and the links beside it led to relevant pages (0.84 on average). "
        "It guessed 0.95 and got a relevant page (0.93)."
    )


def test_a_value_comes_with_its_meaning(page: Fetched) -> None:
    valued = replace(page, decision=replace(page.decision, how="value", q=0.81, frontier=400))
    text = " ".join(format_explanation(valued).split())
    assert "because it looked best of 9 links: two relevant pages link to it" in text
    assert "It valued the link at 0.81 and got a relevant page (0.93)" in text
    assert "1 for a relevant page, plus 0.3 of the best" in text


@pytest.mark.parametrize(
    ("descendants", "relevant", "explained"),
    [
        (1, 1, "One page was fetched through it; it is relevant."),
        (1, 0, "One page was fetched through it; it is not relevant."),
        (3, 0, "3 pages were fetched through it, 1 by its own links; none of them is relevant."),
        (3, 1, "3 pages were fetched through it, 1 by its own links; one of them is relevant."),
        (3, 2, "3 pages were fetched through it, 1 by its own links; two of them are relevant."),
    ],
)
def test_what_a_page_led_to(page: Fetched, descendants: int, relevant: int, explained: str) -> None:
    came = replace(
        page.consequences, children=1, descendants=descendants, relevant_descendants=relevant
    )
    assert explained in " ".join(format_explanation(replace(page, consequences=came)).split())


def test_a_link_of_little_promise_is_not_praised(page: Fetched) -> None:
    poor = replace(page, decision=replace(page.decision, how="value", q=0.04))
    assert "though not promising: it valued the link at 0.04" in summarize_page(poor)
    assert "hive" not in summarize_page(poor)


HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202e<script>\r\nfake line"


def test_what_pages_say_cannot_steer_a_terminal(page: Fetched) -> None:
    cited = tuple(
        replace(each, anchor=HOSTILE, url=f"http://x/{HOSTILE}") for each in page.citations
    )
    path = tuple(replace(each, anchor=HOSTILE, title=HOSTILE) for each in page.path)
    others = tuple(replace(each, url=HOSTILE) for each in page.decision.runners_up)
    hostile: Explanation = replace(
        page,
        title=HOSTILE,
        url=HOSTILE,
        asked=f"{HOSTILE}2",
        citations=cited,
        path=path,
        decision=replace(page.decision, runners_up=others),
    )
    text = format_explanation(hostile)
    assert "<script>" in text
    assert all(line.isprintable() for line in text.split("\n"))
    assert not any(line.startswith("fake line") for line in text.split("\n"))


def test_a_redirect_is_mentioned(page: Fetched) -> None:
    moved = replace(page, asked="http://old.example/")
    assert "It was requested as http://old.example/, which leads there." in format_explanation(
        moved
    )
    assert "requested as" not in format_explanation(page)


def test_a_page_that_is_not_relevant_names_the_words_against_it(page: Fetched) -> None:
    poor = replace(page, relevant=False, relevance=0.2)
    assert "got a page that is not relevant (0.20)" in summarize_page(poor)
    assert "made it relevant" not in format_explanation(poor)


@pytest.mark.parametrize(
    ("bounds", "phrase"),
    [
        (Condition("relevant_citations", 0.9, None), "at least two relevant pages link to it"),
        (Condition("relevant_citations", None, 0.5), "no relevant pages link to it"),
        (Condition("citations", None, 0.9), "at most one fetched page links to it"),
        (Condition("citations", 0.9, 1.5), "two to three fetched pages link to it"),
        (Condition("url_keyword", 0.5, None), "its address has a keyword"),
        (Condition("same_site", None, 0.5), "only other sites link to it"),
        (Condition("site_relevance", 0.62, None), "at least 0.62"),
        (Condition("path_relevance", 0.1, 0.25), "between 0.1 and 0.25"),
        (Condition("inverse_distance", 0.4, None), "is at most two links back"),
        (Condition("inverse_distance", None, 0.4), "no relevant page within two links back"),
        (Condition("of_somebody", None, 0.4), "of_somebody below 0.4"),
    ],
)
def test_conditions_are_phrases(bounds: Condition, phrase: str) -> None:
    assert phrase in format_condition(bounds)


def test_features_are_shown_on_a_natural_scale() -> None:
    assert value_and_label(Feature("citations", 0.6931, 1)) == ("1", "fetched page links to it")
    assert value_and_label(Feature("anchor_keyword", 0.0, 0.0))[0] == "no"
    assert value_and_label(Feature("site_known", 0.5, 0.5))[0] == "no"
    assert value_and_label(Feature("inverse_distance", 1 / 3, 1 / 3))[0] == "3"
    assert value_and_label(Feature("inverse_distance", 0.0, 0.0))[0] == "none"
    assert value_and_label(Feature("of_somebody", 0.123, 0.123)) == ("0.12", "of_somebody")


def test_every_feature_has_its_words() -> None:
    names = {name for schema in (*SCHEMAS.values(), HAN) for name in schema.features}
    assert names == {*COUNT_LABELS, *YES_LABELS, *SHARE_LABELS}


def cited(anchor: str, relevant: bool = True) -> Citation:
    return Citation(1, "http://a.example/", anchor, 0.9, relevant, relevant)


def test_reasons_name_what_links_share() -> None:
    three = [cited("the hive"), cited("a hive of bees"), cited("here")]
    assert reasons({}, three) == [
        'three relevant pages link to it, two of them with the word "hive"'
    ]
    assert reasons({}, [cited("hives")]) == ['one relevant page links to it with the word "hives"']
    assert reasons({}, [cited("here or there")]) == ["one relevant page links to it"]
    assert reasons({}, [cited("x", relevant=False)]) == []
    site = {"site_relevance": 0.85, "site_fetched": 9.0}
    assert reasons(site, []) == ["8 of 9 pages fetched from its site were relevant"]
    both = {"site_relevance": 2.5 / 3, "site_fetched": 2.0}
    assert reasons(both, []) == ["both pages fetched from its site were relevant"]
    assert reasons({"site_relevance": 0.75}, []) == ["75% of its site's pages were relevant so far"]


@pytest.mark.parametrize(
    ("frontier", "q", "sentence"),
    [
        (1, 0.5, "it is the only waiting link, with a value of 0.50."),
        (2, 0.5, "it ranks 1 of 2 waiting links, with a value of 0.50."),
        (1, None, "it waits with no other links."),
        (2, None, "it waits with 1 other link."),
        (3, None, "it waits with 2 other links."),
    ],
)
def test_a_rank_reads_well_among_few_links(
    page: Fetched, frontier: int, q: float | None, sentence: str
) -> None:
    rank = None if q is None else 1
    url, site = "http://a.example/", "a.example"
    link = Waiting(page.crawl, url, site, False, (), (), q, rank, frontier, (), None, 0, None)
    assert describe_rank(link) == f"tres has not fetched it yet: {sentence}"
    assert describe_site(link) == "Its site a.example has given no pages so far."


@pytest.mark.parametrize(
    ("fetched", "sentence"),
    [
        (0, "No such link has been fetched yet."),
        (1, "The only such link fetched so far earned 0.50; "),
        (2, "The 2 such links fetched so far earned 0.50 on average"),
    ],
)
def test_the_experience_of_a_leaf_reads_well(fetched: int, sentence: str) -> None:
    leaf = Leaf(3, "same_site", (Condition("same_site", 0.5, None),), fetched, 0.5)
    assert sentence in describe_leaf(leaf, "waits")
