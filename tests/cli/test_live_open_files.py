"""Where few files may be open, fewer pages are fetched at a time."""

from __future__ import annotations

import json
import resource
import subprocess
from pathlib import Path

import pytest
from tests.support.local_web import LocalWeb

from .test_live import bees_and_markets, rows, taught_topic, tres_command

LIMIT = 85


def few_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (LIMIT, LIMIT))


@pytest.mark.slow
def test_a_crawl_stays_below_the_limit_and_says_so(tmp_path: Path) -> None:
    topic, run = taught_topic(tmp_path), tmp_path / "run"
    topic.write_text(topic.read_text().replace("per_site = 8", "per_site = 64"))
    with LocalWeb(bees_and_markets(400, seconds=0.3)) as web:
        more = ["--proxy", web.proxy, "--run", run, "--pages", 200, "--concurrency", 64]
        ended = subprocess.run(
            tres_command("crawl", topic, *more),
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=few_files,
        )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert f"tres: only {LIMIT} files may be open here (ulimit -n)" in ended.stderr
    assert "7 pages at a time instead of 64" in ended.stderr
    assert len(rows(run)) == 200
    assert json.loads((run / "summary.json").read_text())["failures"] == {}
