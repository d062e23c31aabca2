"""`--log-json`: every line on standard error is one JSON object, whatever happens."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import signal
import subprocess
import typing
import warnings
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from tests.support.local_web import Answer, LocalWeb
from tests.support.webs import start

from tres.cli.crawl import report_stop
from tres.cli.json_log import EVENTS, JsonLog
from tres.crawl.events import Continued, Event, Paused, Stepped
from tres.crawl.page_record import LOGGED
from tres.engines.stop_signals import interrupt_sessions
from tres.store.journal import JOURNAL

from .conftest import Tres
from .test_live import bees_and_markets, rows, taught_topic, tres_command, wait_until

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "logs.md").read_text()


def lines(text: str) -> list[dict[str, Any]]:
    """The objects of a log; anything else in it is an error."""
    assert text.isascii()
    found = [json.loads(line) for line in text.splitlines()]
    for each in found:
        assert datetime.fromisoformat(each["at"]).tzinfo is not None
    return found


def names(log: list[dict[str, Any]]) -> list[str]:
    return [each["event"] for each in log]


@pytest.fixture
def log() -> JsonLog:
    return JsonLog(io.StringIO(), lambda: datetime(2026, 1, 1, tzinfo=UTC))


def written(log: JsonLog) -> list[dict[str, Any]]:
    stream = log._stream
    assert isinstance(stream, io.StringIO)
    return lines(stream.getvalue())


def test_a_crawl_is_told_from_its_start_to_its_end(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    seeds = ["--seed-url", "http://site0.example/page/0", "--seed-url", "http://gone.example/"]
    ended = tres("crawl", topic, "--web", archive, "--run", run, *seeds, "--log-json",
                 "--max-per-site", 3)  # fmt: skip
    assert ended.code == 0
    log = lines(ended.err)
    assert names(log)[0] == "started"
    assert names(log)[-1] == "finished"
    pages = [each for each in log if each["event"] == "page"]
    assert [each["url"] for each in pages] == [row["url"] for row in rows(run)]
    assert [each["relevant"] for each in pages] == [row["reward"] == "1" for row in rows(run)]
    assert {"failed", "split", "capped"} <= set(names(log))
    summary = json.loads((run / "summary.json").read_text())
    assert summary == summary | {k: v for k, v in log[-1].items() if k in summary}
    assert pages[-1]["harvest_rate"] == summary["harvest_rate"]
    assert_documented(log)


def assert_documented(log: list[dict[str, Any]]) -> None:
    """The page about logs names every event, and every field of it in its line."""
    for each in log:
        line = re.search(rf"^\| `{each['event']}` \|.*$", DOCUMENTED, re.MULTILINE)
        assert line, each["event"]
        for field in each.keys() - {"at", "event"}:
            assert f"`{field}`" in line[0], (each["event"], field)


def test_standard_output_is_what_it_is_without(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    def out(*more: str) -> str:
        run = tmp_path / "run"
        ended = tres("crawl", topic, "--web", archive, "--run", run, "--overwrite", *more)
        return re.sub(r"in [\d.]+ s", "", ended.out)

    assert out() == out("--log-json") != ""


def test_what_goes_wrong_is_a_line_as_well(tres: Tres, topic: Path, tmp_path: Path) -> None:
    ended = tres("crawl", topic, "--web", tmp_path / "none.jsonl", "--log-json")
    assert ended.code == 2
    assert names(lines(ended.err)) == ["started", "error"]
    assert "none.jsonl: no such file" in lines(ended.err)[-1]["message"]


def test_seeds_that_give_no_page_are_named_in_the_details(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    seed = "http://gone.example/"
    ended = tres("crawl", topic, "--web", archive, "--run", tmp_path / "run",
                 "--seed-url", seed, "--log-json")  # fmt: skip
    assert ended.code == 3
    assert names(lines(ended.err)) == ["started", "failed", "error"]
    assert f"seed {seed}: http-404" in lines(ended.err)[-1]["details"]
    assert_documented(lines(ended.err))


def test_a_run_that_goes_on_tells_what_it_stumbles_over(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 10)
    (run / "snapshot.bin").write_bytes(b"\x1b[2J")
    ended = tres("resume", run, "--pages", 12, "--log-json")
    log = lines(ended.err)
    assert names(log)[:3] == ["started", "replaying", "log"]
    assert log[0]["resumed"] is True
    assert "snapshot.bin: not used" in log[2]["message"]
    assert [each["step"] for each in log if each["event"] == "page"] == [11, 12]
    assert_documented(log)


def test_every_event_of_a_session_has_a_name_and_its_fields_are_documented() -> None:
    assert set(EVENTS) == set(typing.get_args(Event))
    for kind, name in EVENTS.items():
        told = LOGGED if kind is Stepped else [field.name for field in fields(kind)]
        assert_documented([{"event": name, **dict.fromkeys(told)}])


def test_what_somebody_tells_the_crawl_to_do_is_told(log: JsonLog) -> None:
    session = start({}, ["a/1"])
    for event in (Paused(), Continued(), *session.block("b.example")):
        log(session, event)
    assert names(written(log)) == ["paused", "continued", "blocked"]
    assert written(log)[-1]["site"] == "b.example"


HOSTILE = 'a"\n{"event": "finished"}\r\u2028\x1b[2J\x00\ud800\U0001f41d'
SENDABLE = HOSTILE.replace("\ud800", "")
"""Without half a character, which pytest cannot tell its other processes of in a log record."""


def test_no_string_can_break_a_line(log: JsonLog) -> None:
    log.write("page", url=HOSTILE)
    with log:
        logging.getLogger("scrapy.core").warning("%s", SENDABLE)
    url, message = written(log)
    assert (url["url"], message["message"]) == (HOSTILE, SENDABLE)


def test_what_is_no_number_is_null(log: JsonLog) -> None:
    log.write("page", q=float("nan"), relevance=float("inf"))
    assert written(log)[0] == {
        "at": "2026-01-01T00:00:00.000+00:00", "event": "page", "q": None, "relevance": None,
    }  # fmt: skip


def test_what_libraries_say_is_told_once(log: JsonLog) -> None:
    before = logging.getLogger().handlers[:]
    with log:
        logging.getLogger("tres.engines").error("lost")
        logging.getLogger("elsewhere").warning("slow")
        logging.getLogger("elsewhere").info("not worth a line")
        warnings.warn("old", UserWarning, stacklevel=1)
    told = [(each["level"], each["logger"], each["message"]) for each in written(log)]
    assert told == [
        ("error", "tres.engines", "lost"),
        ("warning", "elsewhere", "slow"),
        ("warning", "py.warnings", "old"),
    ]
    assert logging.getLogger().handlers == before


@pytest.fixture(autouse=True)
def warnings_are_shown() -> typing.Iterator[None]:
    """As they are for a user; in tests they are errors otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        yield


def test_a_bug_is_told_with_its_traceback(log: JsonLog) -> None:
    with pytest.raises(click.exceptions.Exit) as ended, log:
        raise ZeroDivisionError("by nothing")
    assert ended.value.exit_code == 1
    (told,) = written(log)
    assert told["message"] == "ZeroDivisionError: by nothing"
    assert "test_json_log.py" in told["traceback"]


def test_a_second_signal_is_told_with_the_way_to_go_on(log: JsonLog, tmp_path: Path) -> None:
    (tmp_path / JOURNAL).touch()

    def stopped_twice() -> None:
        with log, report_stop(tmp_path, log), interrupt_sessions():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(click.exceptions.Exit):
        stopped_twice()
    (told,) = written(log)
    assert (told["event"], told["go_on"]) == ("stopped", f"tres resume {tmp_path}")
    assert_documented([told])


def test_a_reader_that_has_gone_away_does_not_end_the_crawl(log: JsonLog) -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with JsonLog(Gone()) as gone:
        gone.write("page")


@pytest.mark.slow
def test_a_live_crawl_that_is_interrupted_is_told_to_its_end(tmp_path: Path) -> None:
    pages = bees_and_markets(400, seconds=0.02)
    for page in [url for url in pages if url.endswith("7")]:
        pages[page] = Answer(status=500)
    command = ["crawl", taught_topic(tmp_path), "--run", tmp_path / "run", "--pages", 390]
    with (
        LocalWeb(pages) as web,
        subprocess.Popen(
            tres_command(*command, "--proxy", web.proxy, "--log-json"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process,
    ):  # fmt: skip
        wait_until(lambda: len(web.urls) > 20, process)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    log = lines(err)
    assert process.returncode == 0
    assert "stopped: interrupted" in out
    assert (log[0]["event"], log[0]["web"]) == ("started", "live")
    assert (log[-1]["event"], log[-1]["stopped"]) == ("finished", "interrupted")
    assert names(log).count("page") == log[-1]["pages"] == len(rows(tmp_path / "run"))
    assert "log" not in names(log)  # nothing was worth a warning
    assert_documented(log)
