"""What was skipped for want of what is said at the end of the tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.missing import reason_for, summary

ROOT = Path(__file__).parents[1]


def test_skips_are_counted_by_what_is_missing() -> None:
    reasons = [
        "Skipped: " + reason_for("Chromium", "install it"),
        reason_for("zsh"),
        "Skipped: " + reason_for("Chromium", "say: another why"),
        "Skipped: it rains",
    ]
    assert summary(reasons) == [
        "Chromium: 2 skipped",
        "zsh: 1 skipped",
        "other reasons (it rains): 1 skipped",
    ]


def test_a_run_without_a_browser_fails_nothing_and_says_what_is_missing(tmp_path: Path) -> None:
    """As root, the real programs are hidden; for others, the variable that names one misleads."""
    command = [
        ".ci/without-chromium",
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    tests = ["tests/dashboard/browser/test_page.py", "tests/engines/browser/test_rendered_pages.py"]
    ended = subprocess.run(
        [*command, f"--basetemp={tmp_path / 'tests'}", *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    assert "skipped for want of" in ended.stdout
    assert "Chromium: " in ended.stdout
