"""`model = "auto"`: a crawl from keywords and seeds, without a single label."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from .conftest import TOPIC, Tres
from .test_crawl import rows_of

AUTO = TOPIC.replace('labels = ["Nature"]', 'model = "auto"\nexplore = 40')


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    path = tmp_path / "bees.toml"
    path.write_text(AUTO)
    return path


def test_it_learns_the_topic_without_labels(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    outcome = tres("crawl", topic, "--web", archive, "--run", run)
    assert outcome.code == 0, outcome.err
    summary = json.loads((run / "summary.json").read_text())
    assert summary["exploration_pages"] == 40
    assert summary["model"] == "auto"
    for row in rows_of(run):
        assert (row["reward"] == "1") == (int(row["url"].rpartition("/")[2]) % 3 == 0), row["url"]


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


def test_it_is_the_same_every_time_and_can_be_resumed(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    tres("crawl", topic, "--web", archive, "--run", whole)
    tres("crawl", topic, "--web", archive, "--run", parts, "--pages", 10)
    assert tres("resume", parts, "--pages", 30).code == 0
    assert (whole / "pages.csv").read_bytes() == (parts / "pages.csv").read_bytes()
    assert json.loads((parts / "summary.json").read_text())["exploration_pages"] == 40


def test_judgements_join_the_examples_that_were_kept_without_exploring_again(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 10)
    monkeypatch.setattr("tres.runs.labelling.explore_topic", None)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\nn\n"))
    outcome = tres("label", run)
    assert outcome.code == 0, outcome.err
    assert re.search(r"2 judgements and 3\d guesses", outcome.out)
    (run / "examples.jsonl.gz").write_bytes(b"no gzip")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    outcome = tres("label", run)
    assert outcome.code == 2
    assert outcome.err.startswith(f"tres: {run}/examples.jsonl.gz: damaged (")


def test_with_labels_auto_takes_the_labels(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    topic.write_text(TOPIC.replace('labels = ["Nature"]', 'labels = ["Nature"]\nmodel = "auto"'))
    run = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", run).code == 0
    assert json.loads((run / "summary.json").read_text())["exploration_pages"] == 0


@pytest.mark.parametrize(
    ("change", "code", "messages"),
    [
        (('seeds = ["http://site0.example/page/0"]', ""),
         2, ['topic.seeds: model = "auto" learns from seeds; name some there or with --seed-url']),
        (('["bee", "honey"]', '["!", "?"]'),
         2, ["topic.keywords: none of them contains a word; write words"]),
        (('["bee", "honey"]', "[]"),
         2, ["{topic}: topic.keywords must be a list of words with at least 1 item"]),
        (("explore = 40", "explore = 12"),
         2, ["a topic cannot be learnt without labels from 12 pages (1 seed), 20 with a seed are "
             "needed; name seeds that link to more pages, or give examples (training.labels, or "
             "positives with negatives)"]),
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
    assert not (tmp_path / "run").exists()
