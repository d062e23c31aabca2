"""`tres bench`: all crawls of a plan, resumable, and the tables of the paper from them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.bench.test_experiment_file import FILE

from tres.bench.comparison import RUNS, ExperimentContext, prepare_experiment
from tres.bench.experiment_file import Variant, load_experiment
from tres.bench.paper_tables import Comparison, difference, table_3, table_4, variant_name
from tres.cli.command_group import commands
from tres.engines.replay import replay_events
from tres.errors import RunError
from tres.offline import open_web
from tres.report.charts import pareto
from tres.runs.topic_session import new_session, perceive_seeds

POLICIES = (
    '"tres", "tres:features=paper", "tres-sync", "tres:model=svm", "ache", "random", "oracle"'
)


def bench(tmp_path: Path, policies: str = POLICIES, out: str = "out", workers: int = 2) -> Path:
    file = tmp_path / "experiment.toml"
    file.write_text(FILE.format(policies=policies))
    arguments = ["bench", str(file), "--out", str(tmp_path / out), "--workers", str(workers)]
    result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return tmp_path / out


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bench(tmp_path_factory.mktemp("bench"))


def context_of(tmp_path: Path, policies: str) -> ExperimentContext:
    file = tmp_path / "experiment.toml"
    file.write_text(FILE.format(policies=policies).replace("runs = 2", "runs = 1"))
    experiment = load_experiment(file)
    return prepare_experiment(experiment, open_web(experiment.web))


def records(out: Path) -> list[dict[str, Any]]:
    return list(json.loads((out / "results.json").read_text())["runs"])


def test_there_is_one_record_per_policy_cap_and_seed(results: Path) -> None:
    runs = records(results)
    assert len(runs) == 7 * 3 * 2
    wanted = """policy options max_per_site seed_url seed pages relevant harvest_rate
        model_harvest_rate relevant_sites stopped seconds decision_ms frontier leaves""".split()
    assert set(wanted) <= set(runs[0])
    assert all(run["harvest_rate"] == run["relevant"] / run["pages"] for run in runs)
    assert len({run["seed_url"] for run in runs}) == 2


def test_every_policy_starts_from_the_same_seeds(results: Path) -> None:
    by_policy: dict[str, set[str]] = {}
    for run in records(results):
        by_policy.setdefault(run["policy"], set()).add(run["seed_url"])
    assert len({frozenset(seeds) for seeds in by_policy.values()}) == 1


def test_the_oracle_is_the_ceiling_and_learning_pays(results: Path) -> None:
    rows = {row[0]: row for row in table_3(Comparison.of(records(results)))}
    rate = {name: float(row[1].strip("*").split()[0]) for name, row in list(rows.items())[1:]}
    assert rate["oracle"] > rate["tres"] > rate["random"]


def test_the_oracle_knows_the_judges_answers_not_the_models(tmp_path: Path) -> None:
    context = context_of(tmp_path, '"oracle"')
    assert context.web_graph is not None
    foreseen = context.web_graph.index.items()
    assert all(context.is_relevant(url) == context.web_graph.relevant[i] for url, i in foreseen)
    view = context.webs["auto"]
    assert any(context.is_relevant(page.url) != page.relevant for page in view.perceive_all())


def test_several_fetches_may_be_in_flight_as_in_a_replay(tmp_path: Path) -> None:
    context = context_of(tmp_path, '"tres", "tres:in_flight=8"')
    for task in list(context.experiment.tasks())[:2]:
        record = context.measure(task)
        seen = context.webs["auto"]
        config = context.experiment.config(task.variant, task.cap, record["seed"])
        config = config.override(seeds=[record["seed_url"]])
        session = new_session(config, perceive_seeds(config, seen.perceiver), seen.known)
        list(replay_events(session, seen, config.crawl.in_flight))
        assert record["model_harvest_rate"] == session.harvest_rate
        assert record["frontier"] == len(session.policy)
        assert (record["gap"] is None) == (config.crawl.in_flight > 1)


def test_curves_hold_the_values_over_time(results: Path) -> None:
    with (results / "curves.csv").open() as file:
        points = list(csv.DictReader(file))
    of_tres = [p for p in points if p["policy"] == "tres" and p["max_per_site"] == "inf"]
    assert {int(p["step"]) for p in of_tres} == set(range(1, 41))
    assert all(int(p["relevant"]) <= int(p["step"]) for p in points)
    exact = [float(p["gap"]) for p in points if p["policy"] == "tres-sync" and p["gap"]]
    assert exact
    assert max(exact) == pytest.approx(0.0, abs=1e-6)  # the brute force takes the greedy choice


def test_the_same_plan_gives_the_same_figures_on_one_core(results: Path, tmp_path: Path) -> None:
    again = bench(tmp_path, workers=1)
    timing = ("seconds", "decision_ms")
    for one, other in zip(records(results), records(again), strict=True):
        assert {k: v for k, v in one.items() if k not in timing} == {
            k: v for k, v in other.items() if k not in timing
        }


def test_a_stopped_bench_goes_on_where_it_was(tmp_path: Path) -> None:
    out = bench(tmp_path, '"random", "parent"', workers=1)
    before = records(out)
    lines = (out / RUNS).read_text().splitlines(keepends=True)
    (out / RUNS).write_text("".join(lines[:5]) + lines[5][:40])  # killed while it wrote the sixth
    bench(tmp_path, '"random", "parent"', workers=1)
    kept = [json.loads(line) for line in (out / RUNS).read_text().splitlines()]
    assert [run["seconds"] for run in kept[:5]] == [
        json.loads(line)["seconds"] for line in lines[:5]
    ]
    assert [run["relevant"] for run in records(out)] == [run["relevant"] for run in before]


def test_policies_can_be_added_to_what_is_there(tmp_path: Path) -> None:
    out = bench(tmp_path, '"random"', workers=1)
    first = (out / RUNS).read_text()
    bench(tmp_path, '"random", "parent"', workers=1)
    assert (out / RUNS).read_text().startswith(first)
    assert {run["policy"] for run in records(out)} == {"random", "parent"}


def test_another_experiment_in_the_same_place_is_refused(tmp_path: Path) -> None:
    bench(tmp_path, '"random"', workers=1)
    file = tmp_path / "experiment.toml"
    file.write_text(FILE.format(policies='"random"').replace("pages = 40", "pages = 30"))
    with pytest.raises(RunError, match="another"):
        CliRunner().invoke(
            commands, ["bench", str(file), "--out", str(tmp_path / "out")], catch_exceptions=False
        )


def test_the_report_is_one_page_that_loads_nothing(results: Path) -> None:
    done = CliRunner().invoke(commands, ["bench", "report", str(results)], catch_exceptions=False)
    assert done.exit_code == 0
    page = (results / "report.html").read_text()
    assert "<svg" in page
    assert "http://" not in page
    assert "<script" not in page
    text = (results / "report.md").read_text()
    assert "Table 3" in text
    assert "tres:features=paper" in text


def test_hostile_names_are_harmless_in_the_report(results: Path, tmp_path: Path) -> None:
    runs = records(results)
    for run in runs:
        run["options"] = {"x": "<script>alert(1)</script>"}
    (tmp_path / "results.json").write_text(json.dumps({"runs": runs}))
    (tmp_path / "curves.csv").write_text((results / "curves.csv").read_text())
    CliRunner().invoke(commands, ["bench", "report", str(tmp_path)], catch_exceptions=False)
    assert "<script" not in (tmp_path / "report.html").read_text()


def run_of(policy: str, seed: str, rate: float, sites: int = 1, **options: Any) -> dict[str, Any]:
    return {
        "policy": policy,
        "options": options,
        "max_per_site": "inf",
        "seed_url": seed,
        "budget": 1000,
        "pages": 1000,
        "relevant": round(1000 * rate, 3),
        "relevant_sites": sites,
    }


def test_a_crawl_that_ends_early_does_not_win_by_it() -> None:
    long = [run_of("tres", s, 0.6) for s in "abc"]
    short = [run_of("ache", s, 0.2) | {"pages": 250} for s in "abc"]
    rows = {row[0]: row[1] for row in table_3(Comparison.of([*long, *short]))}
    assert rows["tres"] == "**0.600 ± 0.000***"
    assert rows["ache"] == "0.200 ± 0.000 †250"  # 200 of 250 pages, and nothing more


def test_the_best_mean_is_marked_and_starred_if_it_is_more_than_chance() -> None:
    clear = [run_of("tres", s, 0.8 + i / 100) for i, s in enumerate("abcde")]
    other = [run_of("ache", s, 0.5 + i / 90) for i, s in enumerate("abcde")]
    ceiling = [run_of("oracle", s, 1.0) for s in "abcde"]
    rows = {row[0]: row[1] for row in table_3(Comparison.of(clear + other + ceiling))}
    assert rows["tres"] == "**0.820 ± 0.014***"
    assert rows["ache"] == "0.522 ± 0.016"
    assert rows["oracle"] == "1.000 ± 0.000"


def test_a_lead_by_chance_has_no_star() -> None:
    rates = {"tres": [0.5, 0.9, 0.2, 0.6], "ache": [0.6, 0.4, 0.5, 0.5]}
    runs = [run_of(p, s, r) for p, rs in rates.items() for s, r in zip("abcd", rs, strict=True)]
    rows = {row[0]: row[1] for row in table_3(Comparison.of(runs))}
    assert rows["tres"] == "**0.550 ± 0.250**"


def test_a_policy_is_named_as_the_file_writes_it() -> None:
    for spec in ("tres", "tres:soft=false", "tres:preset=paper,epsilon=0.1", "ache:focus=soft"):
        variant = Variant.parse(spec)
        assert variant_name({"policy": variant.policy, "options": variant.options}) == spec


def test_differences_are_taken_seed_by_seed() -> None:
    comparison = Comparison.of(
        [run_of("tres", s, r) for s, r in zip("abc", (0.1, 0.5, 0.9), strict=True)]
        + [run_of("tres", s, r, x=1) for s, r in zip("cba", (0.8, 0.41, 0.0), strict=True)]
    )
    cells = comparison.cells["inf"]
    mean, chance = difference(cells["tres:x=1"], cells["tres"], "rates")
    assert mean == pytest.approx(-0.0967, abs=1e-3)
    assert chance < 0.01
    assert table_4(comparison)[1][:4] == ["tres:x=1", "tres", "inf", "-0.097"]


def test_the_front_holds_what_nothing_beats_in_both() -> None:
    assert pareto([(1, 1), (5, 0.2), (3, 0.9), (2, 0.9), (4, 0.1)]) == [(1, 1), (3, 0.9), (5, 0.2)]
