"""`tres tree`: the decision tree of a run, in four forms, and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Tres


@pytest.fixture
def run(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    path = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", path, "--pages", 50).code == 0
    return path


def test_the_rules_list_every_leaf_best_first(tres: Tres, run: Path) -> None:
    leaves = json.loads((run / "summary.json").read_text())["leaves"]
    assert leaves > 1
    lines = tres("tree", run, "--top", 999).out.splitlines()[1:]
    rows = [line.split() for line in lines if not line.startswith(" " * 8)]
    assert len(rows) == leaves
    rewards = [float(reward) for reward, *_ in rows]
    assert rewards == sorted(rewards, reverse=True)
    waiting = json.loads((run / "summary.json").read_text())["frontier"]
    assert sum(int(row[2].replace(",", "")) for row in rows) == waiting


def test_the_conditions_of_a_rule_are_words_on_short_lines(tres: Tres, run: Path) -> None:
    out = tres("tree", run, "--top", 999).out
    assert max(map(len, out.splitlines())) <= 80
    assert "_" not in out
    assert "        mean relevance of link texts and address at least 0." in out


def test_rules_that_are_not_shown_are_counted(tres: Tres, run: Path) -> None:
    leaves = json.loads((run / "summary.json").read_text())["leaves"]
    last = tres("tree", run, "--top", leaves - 1).out.splitlines()[-1]
    assert last == f"... and 1 more leaf (--top {leaves})"


def test_the_json_form_is_the_whole_tree(tres: Tres, run: Path) -> None:
    nodes = json.loads(tres("tree", run, "--format", "json").out)["nodes"]
    assert [node["id"] for node in nodes] == list(range(len(nodes)))
    for node in nodes:
        if node["feature"] is not None:
            children = [nodes[node["left"]], nodes[node["right"]]]
            assert all(child["parent"] == node["id"] for child in children)
            assert node["experiences"] == sum(child["experiences"] for child in children)
    assert nodes[0]["experiences"] == 50


def test_text_and_dot_name_the_same_leaves(tres: Tres, run: Path) -> None:
    text = tres("tree", run, "--format", "text").out
    dot = tres("tree", run, "--format", "dot").out
    assert text.count("leaf ") == dot.count('label="leaf ')
    assert dot.startswith("digraph tree {")
    assert dot.rstrip().endswith("}")


def test_a_policy_without_a_tree_is_named(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "parent"
    tres("crawl", topic, "--web", archive, "--run", run, "--policy", "parent")
    assert tres("tree", run)[::2] == (
        2, f"tres: {run}: there is no tree.json: the policy 'parent' has no tree; try 'tres'\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda run: (run / "summary.json").write_text("{"), "summary.json: damaged ("),
        (lambda run: (run / "tree.json").write_text('{"nodes": [{"id": 0}]}'),
         "tree.json: damaged ("),
    ],
)  # fmt: skip
def test_a_damaged_run_is_refused_by_name(tres: Tres, run: Path, damage, message) -> None:
    damage(run)
    outcome = tres("tree", run)
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_what_is_no_run_is_refused(tres: Tres, tmp_path: Path) -> None:
    assert tres("tree", tmp_path / "nothing")[::2] == (
        2, f"tres: {tmp_path}/nothing: no such run directory; name one that 'tres crawl' has "
        "written\n"
    )  # fmt: skip
    assert tres("tree", tmp_path)[::2] == (
        2, f"tres: {tmp_path}: not a run directory; name one that 'tres crawl' has written\n"
    )  # fmt: skip


def test_the_tree_of_a_run_without_an_end_is_grown_again_from_its_journal(
    tres: Tres, run: Path
) -> None:
    kept = tres("tree", run)
    for name in ("summary.json", "tree.json"):
        (run / name).unlink()
    assert tres("tree", run) == kept
