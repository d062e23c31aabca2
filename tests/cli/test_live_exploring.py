"""The exploration of a live crawl: in a directory of its own from the first page on, and kept."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.local_web import Answer, LocalWeb

from .test_live import AUTO, LIVE, bees_and_markets, run_tres, tres_command, url, wait_until

PAGES = 40
"""That the exploration may fetch."""


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    path = tmp_path / "bees.toml"
    path.write_text(AUTO + LIVE)
    return path


@contextmanager
def exploring(topic: Path, run: Path, web: LocalWeb, pages: int) -> Iterator[subprocess.Popen[str]]:
    """A crawl whose exploration has fetched some pages."""
    command = tres_command("crawl", topic, "--proxy", web.proxy, "--run", run, "--log-json")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            wait_until(lambda: len(web.urls) > pages, process)
            yield process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize(("sign", "again"), [(signal.SIGKILL, "crawl"), (signal.SIGTERM, "resume")])
def test_an_exploration_that_was_stopped_goes_on(
    topic: Path, tmp_path: Path, sign: signal.Signals, again: str
) -> None:
    run = tmp_path / "run"
    slow = bees_and_markets(seconds=0.05)
    with LocalWeb(slow) as web:
        with exploring(topic, run, web, 15) as process:
            process.send_signal(sign)
            _, err = process.communicate(timeout=60)
        if sign is signal.SIGTERM:
            assert f"the pages fetched so far are kept; continue: tres resume {run}" in err
            assert process.returncode == 1
        arguments = [topic, "--proxy", web.proxy, "--run", run] if again == "crawl" else [run]
        ended = run_tres(again, *arguments, "--log-json", "--pages", 5)
        assert ended.returncode == 0, ended.stderr
        explored = web.urls[: -json.loads((run / "summary.json").read_text())["pages"]]
        assert len(explored) <= PAGES + 1  # what was in flight when it was killed
        assert len(set(explored)) >= len(explored) - 1
    told = [json.loads(line) for line in (err + ended.stderr).splitlines() if line[0] == "{"]
    counts = [(line["pages"], line["of"]) for line in told if line["event"] == "explored"]
    assert counts[0] == (1, PAGES)
    assert counts[-1] == (PAGES, PAGES)
    assert not (run / "exploration.jsonl").exists()


@pytest.mark.slow
def test_two_explorations_do_not_share_a_directory_and_other_settings_are_told(
    topic: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with LocalWeb(bees_and_markets(seconds=0.05)) as web:
        with exploring(topic, run, web, 2):
            second = run_tres("crawl", topic, "--proxy", web.proxy, "--run", run)
        assert second.returncode == 2
        assert second.stderr == (
            f"tres: {run}: another tres is crawling there; wait until it has ended, or stop it\n"
        )
        topic.write_text((AUTO + LIVE).replace("explore = 40", "explore = 41"))
        other = run_tres("crawl", topic, "--proxy", web.proxy, "--run", run)
        assert other.returncode == 2
        assert "an exploration was started there with other settings" in other.stderr
        anew = ["--overwrite", "--pages", 3]
        ended = run_tres("crawl", topic, "--proxy", web.proxy, "--run", run, *anew)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_what_cannot_be_learnt_from_leaves_nothing_behind(topic: Path, tmp_path: Path) -> None:
    with LocalWeb({url(0): Answer("<title>Page not found</title><p>Sorry.")}) as web:
        ended = run_tres("crawl", topic, "--proxy", web.proxy, "--run", tmp_path / "run")
    assert ended.returncode == 3
    assert f"seed {url(0)}: soft-404" in ended.stderr
    assert not (tmp_path / "run").exists()
