"""`tres steer`: a crawl in another process does as it is told, over HTTP and over an archive."""

from __future__ import annotations

import io
import json
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.support.crawls import session_of
from tests.support.local_web import LocalWeb

from tres.cli.progress import CrawlProgress
from tres.crawl.events import Continued, Paused
from tres.offline.generated.generator import GeneratedWeb
from tres.runs.labelling import learn_judgements
from tres.settings.topic_file import load_topic
from tres.store.journal import JOURNAL, Journal
from tres.store.judgements import Judgement, append_judgement
from tres.store.model_versions import newest_model
from tres.store.orders import ORDERS, Block, Budget, Pause, Stop, send, take
from tres.store.page_source import web_of
from tres.store.run_directory import config_of
from tres.store.run_state import Doing, run_state

from .conftest import TOPIC, Tres
from .test_live import bees_and_markets, taught_topic, tres_command, url

PATIENCE = 60.0
"""Seconds that anything may take on a busy machine."""


def wait_for(condition: Callable[[], Any], process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "it has not come to that"
        time.sleep(0.1)


def steps(run: Path) -> int:
    if not (run / JOURNAL).exists():
        return 0
    with closing(sqlite3.connect(f"file:{run / JOURNAL}?mode=ro", uri=True)) as database:
        (count,) = database.execute("SELECT count(*) FROM pages").fetchone()
    return int(count)


def sites_after(run: Path, step: int) -> list[str]:
    with closing(sqlite3.connect(run / JOURNAL)) as database:
        query = "SELECT site FROM pages WHERE step > ? ORDER BY step"
        return [site for (site,) in database.execute(query, (step,))]


@contextmanager
def crawling(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """`tres` in another process, which does not outlive the test."""
    command = tres_command(*arguments)
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def begin(tmp_path: Path, run: Path) -> tuple[object, ...]:
    return ("crawl", taught_topic(tmp_path), "--run", run, "--concurrency", 3)


def complaints(err: str) -> list[str]:
    """What a crawl wrote that is not its progress."""
    return [line for line in err.splitlines() if not re.match(r"tres: [\d,]+/[\d,]+ pages, ", line)]


@pytest.mark.slow
def test_a_live_crawl_does_as_it_is_told(tres: Tres, run: Path, begin: tuple[object, ...]) -> None:
    with (
        LocalWeb(bees_and_markets(600, seconds=0.05)) as web,
        crawling(*begin, "--proxy", web.proxy, "--pages", 590) as process,
    ):
        wait_for(lambda: steps(run) >= 5, process)
        assert run_state(run).doing is Doing.CRAWLING
        assert run_state(run).pid == process.pid

        told = tres("steer", run, "pause")
        assert (told.code, told.out) == (
            0, f"order sent; continue with: tres steer {run} continue\n"
        )  # fmt: skip
        wait_for(lambda: run_state(run).doing is Doing.PAUSED, process)
        time.sleep(1.0)  # what was asked for reaches the server
        wait_for(lambda: steps(run) == len(web.urls), process)  # and lands
        before = steps(run), len(web.urls)
        time.sleep(1.5)
        assert (steps(run), len(web.urls)) == before

        assert tres("steer", run, "block", "http://www.site1.example/some/page").code == 0
        assert tres("steer", run, "budget", before[0] + 30).code == 0
        wait_for(lambda: not list(take(run)), process)
        assert "site1.example" in {asked.url.split("/")[2] for asked in web.asked}
        assert tres("steer", run, "continue").out == "order sent; the crawl continues\n"
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints(err)) == (0, [])
    assert "stopped: budget" in out
    later = sites_after(run, before[0])
    assert len(later) == 30
    assert "site1.example" not in later
    asked = [url for url in web.urls[before[1] :] if "site1" in url]
    assert asked == []
    assert load_topic(config_of(run)).crawl.pages == before[0] + 30
    assert json.loads((run / "summary.json").read_text())["budget"] == before[0] + 30
    assert run_state(run).doing is Doing.FINISHED
    assert not (run / "state.json").exists()
    assert list((run / ORDERS).iterdir()) == []


@pytest.mark.slow
def test_a_blocked_site_stays_blocked_after_a_kill_and_to_stop_is_an_orderly_end(
    tres: Tres, run: Path, begin: tuple[object, ...]
) -> None:
    with LocalWeb(bees_and_markets(600, seconds=0.05)) as web:
        with crawling(*begin, "--proxy", web.proxy, "--pages", 590) as process:
            wait_for(lambda: steps(run) >= 5, process)
            send(run, Block("site2.example"))
            wait_for(lambda: not list(take(run)), process)
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert run_state(run).doing is Doing.STOPPED
        before, asked = steps(run), len(web.urls)
        send(run, Stop())  # means nothing to the crawl that comes
        with crawling("resume", run) as process:
            wait_for(lambda: steps(run) >= before + 20, process)
            send(run, Pause())
            wait_for(lambda: run_state(run).doing is Doing.PAUSED, process)
            assert tres("steer", run, "stop").code == 0  # a pause need not be ended first
            out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints(err)) == (0, [])
    assert "stopped: interrupted" in out
    assert f"continue: tres resume {run}" in out
    assert "site2.example" not in sites_after(run, before)
    assert [url for url in web.urls[asked:] if "site2" in url] == []
    assert run_state(run).doing is Doing.STOPPED
    refused = tres("steer", run, "continue")
    assert (refused.code, refused.err) == (
        2, f"tres: {run}: is not being crawled; to continue it: tres resume {run}\n"
    )  # fmt: skip


def judge_all(run: Path, relevant: Callable[[str], bool]) -> str:
    """Judge every page so far, and learn from it; the digest of what was learnt."""
    with Journal.open(run / JOURNAL) as journal:
        rows = [row for row in journal.pages() if row["title"] is not None]
    for row in rows:
        append_judgement(run, Judgement(row["url"], relevant(row["url"]), row["step"], 0.5))
    web = web_of(run)
    assert web is not None
    learnt = learn_judgements(run, web, load_topic(config_of(run)))
    assert learnt.sent
    return learnt.model.digest


@pytest.mark.slow
def test_a_crawl_judges_by_what_it_is_told_meanwhile(run: Path, begin: tuple[object, ...]) -> None:
    """Bees were wanted. Then somebody says again and again that markets are, and not bees."""
    with (
        LocalWeb(bees_and_markets(3000, seconds=0.02)) as web,
        crawling(*begin, "--proxy", web.proxy, "--pages", 2990) as process,  # learning takes time
    ):
        wait_for(lambda: steps(run) >= 25, process)
        digest = judge_all(run, lambda url: int(url.rsplit("/", 1)[1]) % 3 != 0)
        wait_for(lambda: segment(run) == digest, process)
        adopted = newest_model(run).digest
        now = steps(run)
        wait_for(lambda: steps(run) >= now + 20, process)
        send(run, Pause())
        wait_for(lambda: run_state(run).doing is Doing.PAUSED, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints(err), adopted) == (0, [], digest)
    assert "stopped: interrupted" in out
    before, after = verdicts(run, digest)
    assert before == [number % 3 == 0 for number in numbers(run)[: len(before)]]
    assert after != [number % 3 == 0 for number in numbers(run)[len(before) :]]
    model, web_here = newest_model(run), web_of(run)
    assert web_here is not None
    for row in rows_of_journal(run)[len(before) :]:
        chance = float(model.probabilities([web_here.fetch(row["url"]).content])[0])  # type: ignore[union-attr]
        assert row["relevance"] == pytest.approx(chance, abs=1e-5)


def segment(run: Path) -> str:
    with Journal.open(run / JOURNAL) as journal:
        return journal.segments()[-1].model


def rows_of_journal(run: Path) -> list[dict[str, Any]]:
    with Journal.open(run / JOURNAL) as journal:
        return list(journal.pages())


def numbers(run: Path) -> list[int]:
    return [int(row["url"].rsplit("/", 1)[1]) for row in rows_of_journal(run)]


def verdicts(run: Path, digest: str) -> tuple[list[bool], list[bool]]:
    """The verdicts of the records before the segment of a model, and of those behind it."""
    with Journal.open(run / JOURNAL) as journal:
        moment = next(
            seq for seq, entry in journal.entries() if getattr(entry, "model", "") == digest
        )
    with closing(sqlite3.connect(run / JOURNAL)) as database:
        rows = database.execute("SELECT seq, reward FROM pages ORDER BY seq").fetchall()
    before = [bool(reward) for seq, reward in rows if seq < moment]
    return before, [bool(reward) for seq, reward in rows if seq > moment]


def test_over_an_archive_it_is_just_the_same(
    tres: Tres, topic: Path, archive: Path, run: Path
) -> None:
    crawled = tres("crawl", topic, "--web", archive, "--run", run, "--pages", 10)
    assert crawled.code == 0
    for order in (Pause(), Stop(), Budget(22), Block("site1.example")):
        send(run, order)
    assert run_state(run).doing is Doing.FINISHED
    assert tres("resume", run).code == 0  # with the budget that was ordered meanwhile
    assert steps(run) == 22
    assert "site1.example" not in sites_after(run, 10)
    assert load_topic(config_of(run)).crawl.pages == 22
    assert list(take(run)) == []
    fetched = {row["url"] for row in rows_of_journal(run)}
    never = next(url(i) for i in range(1, 60, 6) if url(i) not in fetched)
    explained = " ".join(tres("explain", run, never).out.split())
    assert "the site site1.example was blocked" in explained
    with Journal.open(run / JOURNAL) as journal:
        assert journal.blocked() == {"site1.example"}


def test_a_new_run_in_its_place_hears_nothing_of_what_was_said_to_the_old_one(
    tres: Tres, topic: Path, archive: Path, run: Path
) -> None:
    command = ("crawl", topic, "--web", archive, "--run", run, "--pages", 10)
    tres(*command)
    for order in (Budget(3), Stop()):
        send(run, order)
    assert tres(*command, "--overwrite").code == 0
    assert steps(run) == 10
    assert not (run / ORDERS).exists()


def test_a_budget_on_the_command_line_overtakes_one_that_was_left(
    tres: Tres, topic: Path, archive: Path, run: Path
) -> None:
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 10)
    kept = tres("steer", run, "budget", 40)
    assert kept.out == (
        f"the run is not being crawled; the order will hold when you continue: tres resume {run}\n"
    )
    assert tres("resume", run, "--pages", 15).code == 0
    assert steps(run) == 15


@pytest.mark.slow
def test_a_crawl_of_an_archive_is_paused_by_another_process(
    tres: Tres, tmp_path: Path, run: Path
) -> None:
    web = GeneratedWeb(3000, 1)
    text = TOPIC.replace('"Nature"', '"astronomy"')
    topic = tmp_path / "stars.toml"
    topic.write_text(text.replace("http://site0.example/page/0", web.seeds("astronomy", 1)[0]))
    command = ("crawl", topic, "--web", "generated:pages=3000,seed=1", "--run", run)
    with crawling(*command, "--pages", 2900) as process:
        wait_for(lambda: steps(run) >= 10, process)
        assert tres("steer", run, "pause").code == 0
        wait_for(lambda: run_state(run).doing is Doing.PAUSED, process)
        before = steps(run)
        time.sleep(1.0)
        assert steps(run) == before < 2900
        assert tres("steer", run, "budget", before + 7).code == 0
        assert tres("steer", run, "continue").code == 0
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints(err)) == (0, [])
    assert "stopped: budget" in out
    assert steps(run) == before + 7


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pause",), "is not being crawled; to continue it: tres resume RUN --pages N"),
        (("continue",), "is not being crawled; to continue it: tres resume RUN --pages N"),
        (("stop",), "is not being crawled; to continue it: tres resume RUN --pages N"),
        (("budget", "0"), "0 is not a budget; give a number of pages, at least 1"),
        (("budget", "9" * 30), "is not a budget; give a number of pages, at least 1"),
        (("budget", "many"), "write: tres steer RUN budget N, a number of pages"),
        (("budget",), "write: tres steer RUN budget N, a number of pages"),
        (("block",), "write: tres steer RUN block SITE, a host or an address"),
        (("block", "http://"), "is not a site; name a host such as example.org, or an address"),
        (("pause", "now"), "write: tres steer RUN pause"),
        (("explode",), "'explode' is not one of 'pause', 'continue', 'stop', 'budget', 'block'"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_do(
    tres: Tres, topic: Path, archive: Path, run: Path, words: tuple[str, ...], said: str
) -> None:
    tres("crawl", topic, "--web", archive, "--run", run, "--pages", 10)
    refused = tres("steer", run, *words)
    assert refused.code == 2
    assert said.replace("resume RUN", f"resume {run}") in refused.err
    assert list(take(run)) == []


def test_what_is_no_run_is_named(tres: Tres, tmp_path: Path) -> None:
    refused = tres("steer", tmp_path / "nowhere", "block", "a.org")
    assert (refused.code, "no such run directory" in refused.err) == (2, True)


def test_the_progress_line_says_that_a_crawl_is_paused() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    session = session_of(["http://a.example/"], pages=10)
    with CrawlProgress(console, "tres", 10) as progress:
        progress(session, Paused())
    assert "paused, 0% relevant" in screen.getvalue()
    screen.truncate(0)
    with CrawlProgress(console, "tres", 10, every=1) as progress:
        session.pages = 25
        progress(session, Paused())
        progress(session, Continued())
    shown = screen.getvalue()
    assert "0/25 pages" in shown
    assert "0% relevant" in shown.rpartition("paused, 0% relevant")[2]


@pytest.mark.parametrize("word", ["pause", "continue", "stop", "budget", "block"])
def test_every_order_has_an_example_in_the_help(tres: Tres, word: str) -> None:
    shown = tres("steer", "--help")
    assert (shown.code, f"tres steer runs/biology {word}" in shown.out) == (0, True)
