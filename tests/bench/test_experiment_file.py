"""The experiment file: policies with settings, caps and runs, checked before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tres.bench.experiment_file import Experiment, Variant, load_experiment
from tres.errors import ConfigError
from tres.policies.registry import feature_set

FILE = """
name = "astronomy"
web = "generated:pages=800,seed=2"
[topic]
keywords = ["telescope", "galaxy"]
[training]
labels = ["astronomy"]
[crawl]
pages = 40
runs = 2
max_per_site = ["inf", 10, "5..2"]
policies = [{policies}]
"""


def experiment(tmp_path: Path, policies: str = '"tres", "random"', more: str = "") -> Experiment:
    path = tmp_path / "experiment.toml"
    path.write_text(FILE.format(policies=policies) + more)
    return load_experiment(path)


def test_the_plan_is_the_product_of_policies_caps_and_runs(tmp_path: Path) -> None:
    tasks = list(experiment(tmp_path).tasks())
    assert len(tasks) == len({task.key for task in tasks}) == 2 * 3 * 2
    assert [task.run for task in tasks] == sorted(task.run for task in tasks)


def test_the_paper_is_a_setting_of_a_policy_like_any_other(tmp_path: Path) -> None:
    plan = experiment(tmp_path, '"tres", "tres:preset=paper", "tres:preset=paper,warmup=5"')
    ours, paper, changed = (plan.config(variant) for variant in plan.variants)
    assert (feature_set(ours.crawl), feature_set(paper.crawl)) == ("evidence", "paper")
    assert (ours.agent.warmup, paper.agent.warmup, changed.agent.warmup) == (0, 100, 5)


def test_every_committed_experiment_can_be_read() -> None:
    files = sorted((Path(__file__).parents[2] / "experiments").glob("*.toml"))
    assert len(files) >= 6
    for file in files:
        assert load_experiment(file).name == file.stem


def test_a_policy_may_bring_settings_of_its_own(tmp_path: Path) -> None:
    plan = experiment(tmp_path, '"tres:features=paper,gamma=0.1,representatives=1"')
    config = plan.config(plan.variants[0], "10", seed=7)
    assert config.crawl.policy == "tres"
    assert config.crawl.features == "paper"
    assert config.agent.gamma == 0.1
    assert config.tree.representatives == 1
    assert str(config.crawl.max_per_site) == "10"
    assert config.crawl.seed == 7


def test_crawls_that_teach_their_own_judges_are_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(FILE.format(policies='"tres"').replace('labels = ["astronomy"]', ""))
    with pytest.raises(ConfigError, match="give labels, positives with negatives, or load the"):
        load_experiment(path)


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ('"tress"', "tress"),
        ('"tres:gama=0.1"', "gamma"),
        ('"tres:features"', "key=value"),
        ('"tres:gamma=2"', "below 1"),
    ],
)
def test_a_wrong_policy_is_told_before_anything_starts(
    tmp_path: Path, policies: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        experiment(tmp_path, policies)


def test_a_wrong_key_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"crawl\.judg"):
        experiment(tmp_path, more='judg = "labels"\n')


def test_the_archive_is_named_relative_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(FILE.format(policies='"tres"').replace("generated:pages=800,seed=2", "w.jsonl"))
    assert load_experiment(path).web == str(tmp_path / "w.jsonl")


@pytest.mark.parametrize("value", ["[" * 5_000, "9" * 5_000, "a." * 50_000])
def test_a_value_that_no_reader_likes_is_a_word(value: str) -> None:
    assert Variant.parse(f"tres:gamma={value}").options == {"gamma": value}


def test_values_are_numbers_truths_or_words() -> None:
    options = Variant.parse("tres:gamma=0.1,pages=5,expand=true,features=paper").options
    assert options == {"gamma": 0.1, "pages": 5, "expand": True, "features": "paper"}
