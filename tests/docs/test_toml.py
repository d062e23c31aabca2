"""Every piece of TOML in the documentation is valid: a topic file, an experiment, or a part."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import Block, all_pages

from tres.bench.experiment_file import load_experiment
from tres.errors import ConfigError
from tres.settings.setting import toml
from tres.settings.topic_file import load_topic

BLOCKS = [
    pytest.param(block, id=f"{page.name}:{block.line}")
    for page in all_pages()
    for block in page.blocks
    if block.language == "toml" and not block.not_run
]
PATHS = ("positives", "negatives", "load")


@pytest.mark.parametrize("block", BLOCKS)
def test_toml_loads_as_the_file_it_is_or_as_a_part_of_one(block: Block, tmp_path: Path) -> None:
    load(block.text, tmp_path)


def test_a_setting_that_does_not_exist_would_be_noticed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"unknown setting crawl\.page"):
        load("[crawl]\npage = 3", tmp_path)


def load(text: str, directory: Path) -> None:
    table = tomllib.loads(text)
    for name in PATHS:
        if path := table.get("training", {}).get(name):
            (directory / path).mkdir(parents=True)
    file = directory / "block.toml"
    if "policies" in table.get("crawl", {}):
        file.write_text(text)
        load_experiment(file)
    else:
        file.write_text(_written(_completed(table)))
        load_topic(file)


def _completed(table: dict[str, Any]) -> dict[str, Any]:
    """Add to a part of a topic file the minimum that makes it valid."""
    topic = {"keywords": ["bee"]} | table.get("topic", {})
    training = table.get("training", {})
    if training.get("model") != "auto" and not {"labels", "positives", "load"} & set(training):
        training = {"labels": ["Bees"]} | training
    return table | {"topic": topic, "training": training}


def _written(table: dict[str, Any]) -> str:
    plain = _lines(table)
    for name, section in table.items():
        if isinstance(section, dict):
            plain += [f"[{name}]", *_lines(section)]
    return "\n".join(plain)


def _lines(table: dict[str, Any]) -> list[str]:
    return [
        f"{key} = {toml(tuple(value) if isinstance(value, list) else value)}"
        for key, value in table.items()
        if not isinstance(value, dict)
    ]
