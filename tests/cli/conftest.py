"""A small labelled web in a file, a topic file for it, and a way to call the command."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tres.cli import main
from tres.relevance.neural import fit_lstm as network


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


Tres = Callable[..., Outcome]
Label = Callable[..., Outcome]


@pytest.fixture
def tres(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tres:
    """Run `tres ARGUMENTS` as a user would and tell how it ended."""

    def call(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["tres", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Outcome(code, *capsys.readouterr())

    return call


@pytest.fixture
def label(tres: Tres, monkeypatch: pytest.MonkeyPatch) -> Label:
    """Judge with these answers, as from a pipe."""

    def call(run: Path, answers: str, *arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO(answers))
        return tres("label", run, *arguments)

    return call


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Sixty pages on six sites; every third is about bees and links to the next such page."""
    lines = []
    for i in range(60):
        bees = i % 3 == 0
        words = "honey bee hive nectar queen swarm" if bees else "stock market price bond share"
        links = [(i + 1) % 60, (i + 3) % 60, (7 * i + 2) % 60, 60 + i]
        lines.append(
            json.dumps(
                {
                    "url": url(i),
                    "title": f"{'Bees' if bees else 'Markets'} {i}",
                    "text": f"{words} page number {i} of the example " * 3,
                    "links": [[url(j), "bees" if j % 3 == 0 else "markets"] for j in links],
                    "labels": ["Nature/Bees"] if bees else [],
                }
            )
        )
    path = tmp_path / "web.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tiny vectors for the words of the archive, and small networks."""
    rng = np.random.default_rng(1)
    words = "honey bee hive nectar queen swarm stock market price bond share page bees markets"
    lines = [f"{w} {' '.join(f'{x:.3f}' for x in rng.standard_normal(6))}" for w in words.split()]
    (tmp_path / "tiny.txt").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("TRES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(network, "HIDDEN", 8)
    monkeypatch.setattr(network, "MIN_STEPS", 100)
    return tmp_path / "tiny.txt"


def url(i: int) -> str:
    return f"http://site{i % 6}.example/page/{i}"


TOPIC = """
name = "bees"
[topic]
keywords = ["bee", "honey"]
seeds = ["http://site0.example/page/0"]
[training]
labels = ["Nature"]
relevant = 10
irrelevant = 20
[crawl]
pages = 30
"""


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    path = tmp_path / "bees.toml"
    path.write_text(TOPIC, encoding="utf-8")
    return path
