"""`tres serve`: a web for any crawler, from the command line."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.models import Half

from tres.cli.command_group import commands
from tres.engines.protocols import Exchange, Fetched
from tres.errors import ArchiveError, ConfigError
from tres.offline.serving import serving_process
from tres.runs.open_run import start_run
from tres.settings.sections import TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.store.warc_writer import WarcStore, parts_of
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.page import Page
from tres.web.percept import Perceiver

URL = "http://a.example/"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


@pytest.fixture
def web(tmp_path: Path) -> Path:
    path = tmp_path / "web.jsonl"
    path.write_text(json.dumps({"url": URL, "title": "A star", "text": "It shines."}))
    return path


def get(address: str, url: str) -> tuple[int, bytes]:
    client = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    try:
        client.request("GET", url)
        response = client.getresponse()
        return response.status, response.read()
    finally:
        client.close()


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_it_says_what_it_serves_and_stops_when_told(web, kind):
    command = [sys.executable, "-m", "tres", "serve", str(web), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            first, second = process.stdout.readline(), process.stdout.readline()
            address = re.search(r"http://127\.0\.0\.1:\d+", first)[0]
            assert first == f"serving web.jsonl (1 page) as a proxy at {address}\n"
            assert second == f"try: curl -x {address} {URL}\n"
            assert get(address, URL)[0] == 200
            process.send_signal(kind)
            assert process.wait(60) == 0
        finally:
            process.kill()


@pytest.fixture
def run(tmp_path):
    """A run with two pages, each in a WARC file of its own."""
    urls = [f"{URL}{i}" for i in range(2)]
    config = TopicConfig(
        name="stars",
        topic=TopicSection(keywords=["star"], seeds=urls),
        training=TrainingSection(labels=["a"]),
    )
    perceiver, run = Perceiver(Half(), KeywordMatcher(["star"])), tmp_path / "run"
    with start_run(config, perceiver, run, warc=lambda at: WarcStore(at, {}, 1)) as opened:
        for url in opened.recorded.next(2).urls:
            exchange = Exchange(f"{url}/there", b"", HEAD, b"<p>It shines.", at=1e9)
            percept = perceiver.judge_page(Page(url, "", ""))
            opened.recorded.receive(url, percept, Fetched(1e9, exchange=exchange))
    return run


def test_a_run_that_kept_its_pages_is_served_as_it_was(run):
    assert len(parts_of(run)) == 2
    with serving_process(str(run)) as address:
        for url in (f"{URL}0", f"{URL}1"):
            assert get(address, f"{url}/there") == (200, b"<p>It shines.")
            assert get(address, f"{url}/elsewhere")[0] == 404


def test_a_run_that_kept_nothing_is_refused_with_the_reason(run):
    for part in parts_of(run):
        part.unlink()
    with pytest.raises(ArchiveError, match="kept no pages, so there is nothing to serve"):
        CliRunner().invoke(commands, ["serve", str(run)], catch_exceptions=False)


def test_robots_delay_errors_and_log_reach_the_server(web, tmp_path):
    robots, log = tmp_path / "robots.txt", tmp_path / "log"
    robots.write_text("User-agent: *\n")
    options = ["--robots", str(robots), "--log", str(log), "--errors", "1", "--delay", "0.2..0.3"]
    with serving_process(str(web), *options) as address:
        began = time.monotonic()
        assert get(address, "http://b.example/robots.txt") == (200, b"User-agent: *\n")
        assert time.monotonic() - began >= 0.2
        assert [get(address, URL)[0] for _ in range(2)] == [503, 200]
        lines = [line.split("\t")[1:] for line in log.read_text().splitlines()]
    assert lines == [
        ["b.example", "GET", "http://b.example/robots.txt", "200"],
        ["a.example", "GET", URL, "503"],
        ["a.example", "GET", URL, "200"],
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--delay", "soon"], "--delay must be seconds, as in 0.2 or 0.05..0.2, not 'soon'"),
        (["--delay", "2..1"], "--delay must be seconds"),
        (["--delay", "nan"], "--delay must be seconds"),
        (["--robots", "nowhere/robots.txt"], "--robots: cannot read nowhere/robots.txt"),
        (["--log", "nowhere/log"], "--log: cannot write nowhere/log"),
    ],
)
def test_wrong_options_are_named(web, options, message):
    result = CliRunner().invoke(commands, ["serve", str(web), "--port", "0", *options])
    assert isinstance(result.exception, ConfigError)
    assert message in result.exception.message


def test_a_port_that_is_taken_is_named(web):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(commands, ["serve", str(web), "--port", port])
    assert isinstance(result.exception, ConfigError)
    assert (
        f"cannot listen on 127.0.0.1:{port} (Address already in use);" in result.exception.message
    )
    assert "--port 0" in result.exception.message
