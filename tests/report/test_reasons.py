"""The reasons of a report are those of `tres explain`, for all pages at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.report.runs import finished
from tests.support.bees import bees_config, crawl_bees, write_bees

from tres.report.explain.facts import Fetched
from tres.report.explain.gather import explain
from tres.report.explain.sentences import summarize_page
from tres.report.reasons import reasons_of
from tres.report.run_reader import RunReader


def without_words(sentence: str) -> str:
    """The sentence without what links say: for that the journal is looked through."""
    return re.sub(r'(, \w+ of them)? with the words? "[^"]*"', "", sentence)


@pytest.mark.parametrize("policy", ["tres", "parent", "breadth-first", "random"])
def test_a_page_has_the_reason_that_explain_gives(tmp_path: Path, policy: str) -> None:
    config = bees_config(policy=policy)
    run = crawl_bees(tmp_path / "run", write_bees(tmp_path / "bees.jsonl"), config)
    reader = RunReader(run)
    for page, why in zip(reader.pages, reasons_of(reader), strict=True):
        explained = explain(run, str(page.step))
        assert isinstance(explained, Fetched)
        cause = why.removeprefix("Fetched ").removesuffix(".")
        assert cause in without_words(summarize_page(explained))
        assert explained.decision.how in ("seed", *HOWS[policy])


HOWS = {
    "tres": ("guess", "value"),
    "parent": ("value",),
    "breadth-first": ("order",),
    "random": ("random",),
}


def test_values_are_given_once_the_agent_chooses(tmp_path: Path) -> None:
    reader = RunReader(finished(tmp_path / "run", 60))
    whys = reasons_of(reader)
    assert whys[0] == "Fetched because it is a seed."
    assert any(why.startswith("Fetched because it looked best of ") for why in whys)
    assert any("relevant page links to it" in why for why in whys)
