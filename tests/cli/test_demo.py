"""`tres demo`: two live crawls of a generated web, and a table that a person understands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_demo_compares_tres_with_random_choice_over_http(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tres", "demo", "--pages", "150", "--size", "2000"]
    demo = subprocess.run(
        [*command, "--run", str(tmp_path)], capture_output=True, text=True, check=False, timeout=300
    )
    assert demo.returncode == 0, demo.stderr
    learnt, blind = (
        json.loads((tmp_path / policy / "summary.json").read_text())
        for policy in ("tres", "random")
    )
    assert learnt["web"] == blind["web"] == "live"
    assert learnt["pages"] == blind["pages"] == 150
    assert learnt["relevant"] > blind["relevant"]
    assert f"{learnt['harvest_rate']:.1%}" in demo.stdout
    assert f"{blind['harvest_rate']:.1%}" in demo.stdout
    assert "times as many relevant pages as random choice" in demo.stdout
    assert list((tmp_path / "tres").glob("pages-*.warc.gz"))
