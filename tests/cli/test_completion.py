"""Shell completion: what Tab offers, asked for as the shells ask for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete
from tests.support.missing import reason_for

from tres.cli.command_group import commands
from tres.settings.policy_names import POLICIES
from tres.settings.sections import FEATURES
from tres.store.export_pages import FORMATS

from .conftest import Tres


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with two runs, something that looks like one, and two topic files."""
    for run in ("runs/bees", "runs/birds", "lone"):
        (tmp_path / run).mkdir(parents=True)
        (tmp_path / run / "config.toml").touch()
        (tmp_path / run / "journal.db").touch()
    (tmp_path / "runs/no run").mkdir()
    (tmp_path / "topics").mkdir()
    for topic in ("bees.toml", "topics/birds.toml", "notes.txt"):
        (tmp_path / topic).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def offered(*words: str) -> list[str]:
    """What is offered for the last of these words."""
    *before, typed = words
    items = BashComplete(commands, {}, "tres", "_TRES_COMPLETE").get_completions(before, typed)
    return [item.value if item.type == "plain" else f"({item.type})" for item in items]


def test_commands_and_options_are_completed() -> None:
    assert offered("expo") == ["export"]
    assert offered("bench", "re") == ["report"]
    assert offered("crawl", "--max") == ["--max-per-site"]


def test_names_are_completed_where_only_some_are_valid() -> None:
    assert offered("crawl", "--policy", "") == list(POLICIES)
    assert offered("crawl", "--policy", "tree") == ["tree-random"]
    assert offered("crawl", "--features", "no-") == [n for n in FEATURES if n.startswith("no-")]
    assert offered("export", "run", "--to", "") == list(FORMATS)
    assert offered("tree", "run", "--format", "d") == ["dot"]
    assert offered("completion", "") == ["bash", "zsh", "fish"]


@pytest.mark.parametrize(
    "command", ["resume", "tree", "export", "label", "steer", "report", "explain"]
)
def test_runs_are_completed_and_nothing_that_is_none(here: Path, command: str) -> None:
    assert offered(command, "") == ["lone", "runs/bees", "runs/birds"]
    assert offered(command, "runs/be") == ["runs/bees"]
    assert offered(command, f"{here}/l") == [f"{here}/lone"]


@pytest.mark.parametrize("command", ["crawl", "train", "keywords"])
def test_topic_files_are_completed(here: Path, command: str) -> None:
    assert offered(command, "") == ["bees.toml", "topics/birds.toml"]
    assert offered(command, "topics/") == ["topics/birds.toml"]


def test_where_nothing_fits_the_shell_completes_paths_itself(here: Path) -> None:
    assert offered("crawl", "nowhere/") == ["(file)"]
    assert offered("tree", "top") == ["(dir)"]


def test_a_name_that_a_shell_would_take_apart_is_left_to_the_shell(here: Path) -> None:
    (here / "lone").rename(here / "$(reboot)")
    assert offered("tree", "$") == ["(dir)"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_says_how_to_have_it_in_every_shell_to_come(tres: Tres, shell: str) -> None:
    ended = tres("completion", shell)
    assert ended.code == 0
    assert f"_TRES_COMPLETE={shell}_complete" in ended.out
    assert f"tres completion {shell}" in ended.out.splitlines()[-1]


def test_another_shell_is_refused_by_name(tres: Tres) -> None:
    ended = tres("completion", "csh")
    assert ended.code == 2
    assert "'csh' is not one of 'bash', 'zsh', 'fish'" in ended.err


PRESS_TAB = """
source ./script
COMP_WORDS=({words}) COMP_CWORD={place}
_tres_completion tres "{last}" ""
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH_TAB = "source ./script; complete --do-complete '{line}'"


def program(directory: Path) -> dict[str, str]:
    """An environment in which `tres` is the command of these sources."""
    (directory / "bin").mkdir()
    tres = directory / "bin" / "tres"
    tres.write_text(f'#!/bin/sh\nexec {sys.executable} -m tres "$@"\n')
    tres.chmod(0o755)
    return {**os.environ, "PATH": f"{tres.parent}:{os.environ['PATH']}"}


@pytest.mark.skipif(shutil.which("bash") is None, reason=reason_for("bash"))
def test_bash_itself_completes(
    tres: Tres, here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (here / "script").write_text(tres("completion", "bash").out)
    environment = program(tmp_path_factory.mktemp("program"))
    for words, answer in (
        ("tres tree runs/b", ["runs/bees", "runs/birds"]),
        ("tres crawl bees.toml --policy tres-", ["tres-sync", "tres-async"]),
    ):
        *_, last = words.split()
        text = PRESS_TAB.format(words=words, place=len(words.split()) - 1, last=last)
        ended = subprocess.run(
            ["bash", "--norc", "-c", text],
            env=environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert ended.stdout.split() == answer, ended.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason=reason_for("fish"))
def test_fish_itself_completes(
    tres: Tres, here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (here / "script").write_text(tres("completion", "fish").out)
    ended = subprocess.run(
        ["fish", "-c", FISH_TAB.format(line="tres tree runs/b")],
        env=program(tmp_path_factory.mktemp("program")),
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert [line.split()[0] for line in ended.stdout.splitlines()] == ["runs/bees", "runs/birds"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason=reason_for("zsh"))
def test_zsh_reads_the_script(tres: Tres, here: Path) -> None:
    (here / "script").write_text(tres("completion", "zsh").out)
    assert subprocess.run(["zsh", "-n", "script"], check=False).returncode == 0
