"""The page of experiments: every figure in its tables comes from results, none by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tools.experiments import CHOICES, PAGE, SPOT, TOPICS, filled

from tres.bench.experiment_file import load_experiment

EXPERIMENTS = PAGE.parents[1] / "experiments"
SEEDS = ("http://a.example/", "http://b.example/", "http://c.example/")


def record(policy: str, relevant: int, seed: str, cap: str = "inf", **options: Any) -> Any:
    return {
        "policy": policy,
        "options": options,
        "max_per_site": cap,
        "seed_url": seed,
        "budget": 100,
        "pages": 100,
        "relevant": relevant,
        "relevant_sites": 3,
        "model_harvest_rate": 0.5,
        "evaluations": 1000,
        "decision_ms": 2.0,
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """On every topic: 60 pages, and ten less (and a bit) with the features of the paper."""
    runs = []
    for i, seed in enumerate(SEEDS):
        for cap in ("inf", "10", "5..2"):
            runs += [record("tres", 60 + i, seed, cap), record("oracle", 80 + i, seed, cap)]
            runs.append(record("tres", 50 + 2 * i, seed, cap, features="paper"))
            runs.append(record("ache", 40, seed, cap))
    for topic in (*TOPICS, *CHOICES):
        write(tmp_path, topic, runs)
    return tmp_path


def write(results: Path, name: str, runs: list[Any]) -> None:
    (results / name).mkdir()
    (results / name / "results.json").write_text(json.dumps({"runs": runs}))


def page(what: str) -> str:
    return f"before\n<!-- results: {what} -->\nold\n<!-- end -->\nafter\n"


def test_table_3_leaves_our_own_variants_to_table_4(results: Path) -> None:
    text, missing = filled(page("policies of sound"), results)
    assert "| ache | 0.400 ± 0.000 |" in text
    assert "features=paper" not in text
    assert "old" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert not missing


def test_table_4_has_the_differences_to_the_default(results: Path) -> None:
    text, _ = filled(page("variants with caps"), results)
    assert "| variant | biology, 10 |" in text
    assert "databases, 5..2 |" in text
    assert "| `features=paper` |" in text
    assert " **-0.090** |" in text
    assert "ache" not in text


def test_what_is_the_default_itself_under_a_cap_has_no_row_there(results: Path) -> None:
    for topic in TOPICS:
        path = results / topic / "results.json"
        runs = json.loads(path.read_text())["runs"]
        for i, seed in enumerate(SEEDS):
            runs.append(record("tres", 60 + i, seed, "inf", features="evidence"))
            runs.append(record("tres", 58 + 2 * i, seed, "10", features="evidence"))
        path.write_text(json.dumps({"runs": runs}))

    without, _ = filled(page("variants without a cap"), results)
    capped, _ = filled(page("variants with caps"), results)
    assert "features=evidence" not in without
    assert "| `features=evidence` |" in capped


def test_the_oracle_is_the_measure(results: Path) -> None:
    text, _ = filled(page("oracle"), results)
    share = f"{61 / 81:.3f}"
    assert f"| inf | {' | '.join([share] * 6)} | **{61 / 81:.4f}** |" in text


def test_what_a_new_site_is_worth_is_read_from_the_curves(results: Path) -> None:
    lines = ["policy,max_per_site,seed_url,step,relevant,sites"]
    for policy, sites in (("tres", 10), ("tres:new_sites=0.5", 20), ("tres:new_sites=1", 30)):
        for step in (25, 50, 100):
            lines += [f"{policy},{cap},x,{step},{step // 2},{sites + step}" for cap in ("inf", 5)]
    (results / "sound-choices" / "curves.csv").write_text("\n".join(lines))
    text, _ = filled(page("new sites of sound-choices"), results)
    assert "| relevant pages, 25 | sites, 25 | relevant pages, 100 | sites, 100 |" in text
    assert "| 0 (default) | 12 | 35 | 50 | 110 |" in text
    assert "| 0.5 | 12 | 45 | 50 | 120 |" in text


def test_filling_twice_is_filling_once(results: Path) -> None:
    once, _ = filled(page("policies of sound"), results)
    assert filled(once, results)[0] == once


def test_what_has_no_results_stays_and_is_named(results: Path) -> None:
    text, missing = filled(page("policies of chess"), results)
    assert text == page("policies of chess")
    assert [Path(name).name for name in missing] == ["chess"]


def test_every_table_of_the_page_belongs_to_a_committed_experiment() -> None:
    spots = [spot[2] for spot in SPOT.finditer(PAGE.read_text(encoding="utf-8"))]
    assert len(spots) >= 9
    named = {what.partition(" of ")[2] for what in spots} - {""}
    for name in named | {*TOPICS, *CHOICES}:
        assert load_experiment(EXPERIMENTS / f"{name}.toml").name == name
