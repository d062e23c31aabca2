"""`tres demo`: two crawls of a generated web and a table that a person understands."""

from __future__ import annotations

import json
from pathlib import Path

from .conftest import Tres


def test_the_demo_compares_tres_with_random_choice(tres: Tres, tmp_path: Path) -> None:
    outcome = tres("demo", "--pages", 200, "--size", 2000, "--run", tmp_path)
    assert outcome.code == 0, outcome.err
    learnt, blind = (
        json.loads((tmp_path / policy / "summary.json").read_text())
        for policy in ("tres", "random")
    )
    assert learnt["pages"] == blind["pages"] == 200
    assert learnt["relevant"] > blind["relevant"]
    assert f"{learnt['harvest_rate']:.1%}" in outcome.out
    assert f"{blind['harvest_rate']:.1%}" in outcome.out
    assert "times as many relevant pages as random choice" in outcome.out
