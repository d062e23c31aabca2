"""The programs in examples/: all of them run, and show what they say they show."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from tests.support.missing import need_package

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str) -> Any:
    """The module of an example."""
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_of_examples_is_complete() -> None:
    listed = (EXAMPLES / "README.md").read_text()
    for path in EXAMPLES.iterdir():
        if path.name not in ("README.md", "__pycache__"):
            assert f"[{path.name}]({path.name})" in listed


def test_every_example_says_what_it_shows_and_how_to_run_it() -> None:
    for path in EXAMPLES.glob("*.py"):
        assert f"python examples/{path.name}" in path.read_text().split('"""')[1]


def test_first_crawl_runs_as_a_program(tmp_path: Path) -> None:
    script = [sys.executable, EXAMPLES / "first_crawl.py"]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "200 pages fetched" in done.stdout
    assert list(tmp_path.iterdir()) == []  # what it crawls it throws away


def test_the_policy_of_ones_own_is_far_better_than_chance(tmp_path: Path) -> None:
    rates = example("own_policy").main(tmp_path)
    assert rates["odds"] > 2 * rates["random"]


def test_the_judge_of_ones_own_finds_what_is_truly_relevant() -> None:
    found, right = example("own_judge").main()
    assert found == 100
    assert right > 90


def test_the_web_of_ones_own_is_crawled_bees_first(tmp_path: Path) -> None:
    run = example("own_web").main(tmp_path)
    assert [page.relevant for page in run.pages] == [True] * 8 + [False] * 8


def test_a_run_that_was_left_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = example("read_a_run")
    run = module.crawled(tmp_path)
    module.main(run)
    shown = capsys.readouterr().out
    assert "interrupted; 150 of 400 pages" in shown
    assert "the best choice" in shown


@pytest.mark.slow
def test_an_agent_of_another_library_learns_to_crawl() -> None:
    """Far shorter than the example itself, and all the same better than chance and than before."""
    need_package("stable_baselines3")
    gym_agent = example("gym_agent")
    env = gym_agent.CrawlEnv.of(*gym_agent.task("astronomy", 101), gym_agent.OFFERED)
    other = gym_agent.CrawlEnv.of(*gym_agent.task("sailing", 201), gym_agent.OFFERED)

    def rate(choose: Any) -> float:
        return mean(gym_agent.harvest_rate(other, choose, seed) for seed in range(3))

    trained = rate(gym_agent.greedy(gym_agent.trained(env, steps=600, seed=1)))
    assert trained > 1.4 * rate(gym_agent.blind(1))
    assert trained > 1.1 * rate(gym_agent.greedy(gym_agent.trained(env, steps=1, seed=1)))
