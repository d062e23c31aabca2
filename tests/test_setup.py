"""What `make` installs for a command, and the name under which tres is installed."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from tests.support.missing import skip_without

from tres.distribution import DISTRIBUTION, pip_install

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# An interpreter that notes what it is asked to install. `-m venv` gives the environment a copy of
# it, and commands that do nothing.
PYTHON = """#!/bin/sh
case "$*" in
  "-m venv "*)
    echo venv >> "$PWD/calls"
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    for name in tres ruff mypy lint-imports zensical; do ln -sf /bin/true "$3/bin/$name"; done ;;
  "-m pip install "*) for last; do :; done; echo "$last" >> "$PWD/calls" ;;
esac
"""


@pytest.fixture
def make(tmp_path):
    """Return a function that runs `make` in a fresh folder; it returns what was installed."""
    if shutil.which("make") is None:
        skip_without("make")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)

    def run(*goals):
        command = ["make", "--silent", f"PYTHON={python}", *goals]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        calls = tmp_path / "calls"
        return calls.read_text().split() if calls.exists() else []

    return run


DEMO = ["venv", ".[dashboard]"]
EVERYTHING = f".[{','.join(sorted(PROJECT['optional-dependencies']))}]"


def test_the_demo_installs_little_and_the_tests_everything(make):
    assert make("demo") == DEMO
    assert make("demo") == DEMO
    assert make("bench") == DEMO
    assert make("test") == [*DEMO, EVERYTHING]
    assert make("lint", "docs", "demo") == [*DEMO, EVERYTHING]


def test_after_the_tests_nothing_is_left_to_install(make):
    assert make("test") == ["venv", EVERYTHING]
    assert make("demo", "docs") == ["venv", EVERYTHING]


def test_the_documentation_needs_only_its_tools(make):
    assert make("docs") == ["venv", ".[docs]"]


@pytest.mark.parametrize("changed", ["pyproject.toml", "constraints.txt"])
def test_new_requirements_are_installed_into_the_same_environment(make, tmp_path, changed):
    make("test")
    for path in (*(tmp_path / ".venv").glob(".*"), *tmp_path.glob("*.t*")):
        os.utime(path, (1, 1))
    (tmp_path / changed).touch()

    assert make("demo") == ["venv", EVERYTHING, ".[dashboard]"]
    assert make("test") == ["venv", EVERYTHING, ".[dashboard]", EVERYTHING]


def test_two_commands_at_once_do_not_install_at_once(make):
    assert make("--jobs=4", "demo", "test") == [*DEMO, EVERYTHING]


def test_every_command_to_install_names_our_distribution():
    assert PROJECT["name"] == DISTRIBUTION
    assert pip_install() == f"pip install {DISTRIBUTION}"
    stranger = re.compile(r"""pip install [^\n`]*?(?<![\w./-])tres(?![\w-])(?=[\['"`\s]|$)""", re.M)
    assert stranger.search("pip install 'tres[neural]'")
    assert stranger.search("pip install --upgrade tres")
    assert not stranger.search(pip_install("neural"))
    for folder in ("src", "docs", "examples", "README.md"):
        for path in [ROOT / folder, *(ROOT / folder).rglob("*.*")]:
            if path.suffix in (".py", ".md", ".toml"):
                found = stranger.search(path.read_text(encoding="utf-8"))
                assert not found, f"{path}: {found and found[0]}"


def test_every_extra_that_is_named_exists():
    named = set()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        text = path.read_text(encoding="utf-8")
        ours = r"pip_install\(['\"](\w+)['\"]\)|'(?:tres-crawler|\.)\[(\w+)\]'"
        named |= set(re.findall(ours, text))
    extras = {extra for pair in named for extra in pair if extra}
    assert {"neural", "dashboard", "vectors"} <= extras <= set(PROJECT["optional-dependencies"])
