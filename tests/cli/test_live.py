"""`tres crawl` without `--web`: the live Web, here a small one on loopback behind `--proxy`."""

from __future__ import annotations

import csv
import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.support.local_web import Answer, LocalWeb, html

from tres.offline.generated.generator import GeneratedWeb
from tres.offline.serving import serving

from .conftest import TOPIC, Tres

AUTO = TOPIC.replace('labels = ["Nature"]', 'model = "auto"')
TAUGHT = TOPIC.replace('labels = ["Nature"]', 'positives = "bees"\nnegatives = "markets"')
LIVE = "[live]\ndelay = 0.0\nthrottle = false\nper_site = 8\nnear_duplicates = false\n"


def url(i: int) -> str:
    return f"http://site{i % 6}.example/page/{i}"


BEES = "honey bee hive nectar queen swarm".split()
MARKETS = "stock market price bond share".split()


def bees_and_markets(pages: int = 120, seconds: float = 0.0) -> dict[str, Any]:
    web: dict[str, Any] = {}
    for i in range(pages):
        words = (BEES if i % 3 == 0 else MARKETS) * 5
        text = " ".join(f"{word}{(i * 7 + k) % 97} {word}" for k, word in enumerate(words))
        links = [url((i + 1) % pages), url((i + 3) % pages), url((7 * i + 2) % pages)]
        web[url(i)] = Answer(html(f"Page {i}", text, links), seconds=seconds)
    return web


def tres_command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "tres", *map(str, arguments)]


def run_tres(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        tres_command(*arguments), capture_output=True, text=True, check=False, timeout=120
    )


def rows(run: Path, name: str = "pages.csv") -> list[dict[str, str]]:
    with (run / name).open() as file:
        return list(csv.DictReader(file))


def taught_topic(directory: Path) -> Path:
    """A topic with examples of its own."""
    for name, words in (("bees", BEES), ("markets", MARKETS)):
        (directory / name).mkdir()
        for i in range(8):
            (directory / name / f"{i}.txt").write_text(" ".join(words[i % 5 :] + words[:4]))
    path = directory / "bees.toml"
    path.write_text(TAUGHT + LIVE)
    return path


@pytest.fixture
def topic(tmp_path: Path) -> Path:
    return taught_topic(tmp_path)


@pytest.mark.slow
def test_it_learns_the_topic_crawls_the_web_and_goes_on(topic: Path, tmp_path: Path) -> None:
    topic.write_text(AUTO + LIVE)
    run, more = tmp_path / "run", ["--concurrency", 4]
    with LocalWeb(bees_and_markets()) as web:
        ended = run_tres("crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", 25, *more)
        assert ended.returncode == 0, ended.stderr
        assert "stopped: budget" in ended.stdout
        assert f"continue: tres resume {run} --pages 50" in ended.stdout
        first = (run / "pages.csv").read_text()
        before = len(web.urls)
        again = run_tres("resume", run, "--pages", 40)
    assert again.returncode == 0, again.stderr
    summary = json.loads((run / "summary.json").read_text())
    assert (summary["pages"], summary["web"], summary["model"]) == (40, "live", "auto")
    assert len(web.urls) == 40  # every page counts
    assert (run / "pages.csv").read_text().startswith(first)
    assert len(web.urls) == before + 15  # nothing is fetched again
    right = [(row["reward"] == "1") == (int(row["url"].rpartition("/")[2]) % 3 == 0)
             for row in rows(run)]  # fmt: skip
    assert sum(right) > 30
    agents = {asked.headers["User-Agent"] for asked in web.asked}
    assert len(agents) == 1
    assert agents.pop().startswith("tres/")


@pytest.mark.slow
def test_one_at_a_time_it_is_the_replay_byte_for_byte(tres: Tres, tmp_path: Path) -> None:
    web = GeneratedWeb(500, 1)
    text = (TAUGHT + LIVE).replace('positives = "bees"', 'labels = ["astronomy"]')
    text = text.replace('negatives = "markets"', "").replace(
        "http://site0.example/page/0", web.seeds("astronomy", 1)[0]
    )
    topic, live = tmp_path / "stars.toml", tmp_path / "live.toml"
    topic.write_text(text)
    offline = tres("crawl", topic, "--web", "generated:pages=500,seed=1", "--run", tmp_path / "off")
    assert offline.code == 0, offline.err
    live.write_text(
        text.replace('labels = ["astronomy"]', 'load = "off/model"') + "traps = false\n"
    )
    with serving(web) as address:
        ended = run_tres("crawl", live, "--proxy", address, "--run", tmp_path / "live")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "live/pages.csv").read_bytes() == (tmp_path / "off/pages.csv").read_bytes()
    assert len(rows(tmp_path / "live")) == 30


@pytest.mark.slow
def test_a_signal_finishes_what_is_in_flight_and_says_how_to_go_on(
    topic: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with LocalWeb(bees_and_markets(400, seconds=0.05)) as web:
        command = ["crawl", topic, "--proxy", web.proxy, "--run", run, "--pages", 390]
        with subprocess.Popen(
            tres_command(*command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            wait_until(lambda: len(web.urls) > 10, process)
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "stopped: interrupted" in out
    assert f"continue: tres resume {run}" in out
    summary = json.loads((run / "summary.json").read_text())
    assert summary["stopped"] == "interrupted"
    assert 0 < summary["pages"] == len(rows(run)) < 390
    assert len(web.urls) == summary["pages"]  # what was asked for has come back
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_second_signal_stops_at_once(topic: Path, tmp_path: Path) -> None:
    run, pages = tmp_path / "run", bees_and_markets(60)
    pages |= {url(i): Answer("late", seconds=30) for i in range(60) if i % 5 == 4}
    with LocalWeb(pages) as web:
        command = ["crawl", topic, "--proxy", web.proxy, "--run", run, "--concurrency", 2]
        with subprocess.Popen(
            tres_command(*command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            late = {page for page, answer in pages.items() if answer.seconds}
            wait_until(lambda: late & set(web.urls), process)
            begin = time.monotonic()
            process.send_signal(signal.SIGINT)
            time.sleep(1.5)  # two that wait together would be one
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode != 0
    assert time.monotonic() - begin < 30
    assert not (run / "summary.json").exists()


def wait_until(condition: Any, process: subprocess.Popen[str], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "it never came so far"
        time.sleep(0.02)


def test_without_its_proxy_nothing_is_started(tres: Tres, topic: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        proxy = f"http://127.0.0.1:{taken.getsockname()[1]}"
    for dead in (proxy, "http://127.0.0.1:99999"):
        ended = tres("crawl", topic, "--proxy", dead, "--run", tmp_path / "run")
        assert ended.code == 2
        assert f"live.proxy: nothing answers at {dead} (" in ended.err
        assert "; start the proxy, or name another with --proxy" in ended.err
    assert not (tmp_path / "run").exists()


def test_without_a_contact_nothing_is_started(tres: Tres, topic: Path, tmp_path: Path) -> None:
    ended = tres("crawl", topic, "--run", tmp_path / "run")
    assert ended.code == 2
    assert "live.contact is missing" in ended.err
    assert 'contact = "https://you.example/crawler"' in ended.err
    assert not (tmp_path / "run").exists()


def test_labels_need_an_archive(tres: Tres, topic: Path, tmp_path: Path) -> None:
    topic.write_text(TOPIC + LIVE)
    ended = tres("crawl", topic, "--run", tmp_path / "run")
    assert ended.code == 2
    assert "training.labels: the live Web has no labels; name an archive with --web" in ended.err


@pytest.mark.slow
def test_seeds_that_do_not_answer_are_named(topic: Path, tmp_path: Path) -> None:
    with LocalWeb({"http://broken.example/": Answer(status=500)}) as web:
        seeds = ["--seed-url", "http://gone.example/", "--seed-url", "http://broken.example/"]
        ended = run_tres("crawl", topic, "--proxy", web.proxy, "--run", tmp_path / "r", *seeds)
    assert ended.returncode == 3
    assert ended.stderr.splitlines()[:2] == [
        "tres: seed http://gone.example/: http-404",
        "tres: seed http://broken.example/: http-error",
    ]
