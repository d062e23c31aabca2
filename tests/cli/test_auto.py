"""A crawl from seeds and keywords or a description teaches its model without a single label."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tres.store.journal import JOURNAL, Journal

from .conftest import TOPIC, Label, Tres
from .test_crawl import rows_of

AUTO = TOPIC.replace('labels = ["Nature"]', "")


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    path = tmp_path / "bees.toml"
    path.write_text(AUTO)
    return path


def summary_of(run: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((run / "summary.json").read_text())
    return summary


def models_of(run: Path) -> list[str]:
    """The models that judged, in the order in which the journal says so."""
    with Journal.open(run / JOURNAL) as journal:
        return [segment.model for segment in journal.segments()]


@pytest.mark.parametrize(
    "said",
    [
        'keywords = ["bee", "honey"]',
        'description = "Bees, the honey that they make, and the hives in which they live."',
    ],
)
def test_it_learns_the_topic_without_labels(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, said: str
) -> None:
    topic.write_text(AUTO.replace('keywords = ["bee", "honey"]', said))
    run = tmp_path / "run"
    outcome = tres("crawl", topic, "--web", archive, "--run", run)
    assert outcome.code == 0, outcome.err
    assert len(set(models_of(run))) > 1  # the crawl has taught it
    assert (summary_of(run)["pages"], summary_of(run)["model"]) == (30, "auto")
    for row in rows_of(run):
        assert (row["reward"] == "1") == (int(row["url"].rpartition("/")[2]) % 3 == 0), row["url"]


def test_every_page_that_it_learns_from_is_in_the_journal_and_within_the_budget(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 25)
    with Journal.open(run / JOURNAL) as journal:
        fetched = [row["url"] for row in journal.pages()]
        assert journal.page_texts().keys() == set(fetched)
    assert len(fetched) == len(set(fetched)) == 25


def test_labels_of_the_web_are_never_looked_at(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    pages = []
    for name, labels in (("true", None), ("none", []), ("false", ["Nature/Bees"])):
        records = [json.loads(line) for line in archive.read_text().splitlines()]
        if labels is not None:
            records = [record | {"labels": labels} for record in records]
        web = tmp_path / f"{name}.jsonl"
        web.write_text("\n".join(map(json.dumps, records)))
        assert tres("crawl", topic, "--web", web, "--run", tmp_path / name).code == 0
        pages.append((tmp_path / name / "pages.csv").read_bytes())
    assert pages[0] == pages[1] == pages[2]


@pytest.mark.parametrize("first", [10, 20, 25])
def test_it_is_the_same_every_time_and_can_be_resumed(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, first: int
) -> None:
    """Whether it is stopped before, at or after the page at which it learns."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    tres("crawl", topic, "--web", archive, "--run", whole)
    tres("crawl", topic, "--web", archive, "--run", parts, "--pages", first)
    assert tres("resume", parts, "--pages", 30).code == 0
    assert (whole / "pages.csv").read_bytes() == (parts / "pages.csv").read_bytes()
    assert models_of(parts)[-1] == models_of(whole)[-1]


def test_judgements_join_what_the_crawl_has_shown(
    tres: Tres, label: Label, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run)
    outcome = label(run, "y\nn\n")
    assert outcome.code == 0, outcome.err
    assert re.search(r"2 judgements and 2\d guesses", outcome.out)


def test_judgements_of_a_crawl_too_short_to_learn_from_are_kept(
    tres: Tres, label: Label, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 4)
    outcome = label(run, "y\nn\nq\n")
    assert outcome.code == 2
    assert outcome.err == (
        "tres: 4 pages say too little of the topic; judge more pages; your judgements are kept\n"
    )
    assert len((run / "judgements.jsonl").read_text().splitlines()) == 2
    assert len(models_of(run)) == 1


def test_with_labels_auto_takes_the_labels(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    topic.write_text(TOPIC)
    run = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", run).code == 0
    assert len(models_of(run)) == 1
    facts = json.loads((run / "model" / "model.json").read_text())["training"]
    assert (facts["relevant"], facts["irrelevant"]) == (10, 20)


@pytest.mark.parametrize(
    ("change", "code", "messages"),
    [
        (('["bee", "honey"]', '["!", "?"]'),
         2, ["topic: none of its words is known to the encoder, so no page can be judged by them; "
             "name English words as keywords, or give examples (labels, or positives and "
             "negatives)"]),
        (('["bee", "honey"]', "[]"),
         2, ["{topic}: topic.keywords is missing: name some words that pages about the topic use, "
             "or say in topic.description what they are about"]),
        (("page/0", "page/777"),
         3, ["seed http://site0.example/page/777: http-404",
             "the seed gave no page; name seeds that this web holds"]),
    ],
)  # fmt: skip
def test_what_cannot_be_learnt_from_is_told(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path,
    change: tuple[str, str], code: int, messages: list[str],
) -> None:  # fmt: skip
    topic.write_text(AUTO.replace(*change))
    outcome = tres("crawl", topic, "--web", archive, "--run", tmp_path / "run")
    assert outcome.code == code
    assert outcome.err.splitlines() == [f"tres: {m.format(topic=topic)}" for m in messages]
