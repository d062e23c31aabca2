"""A site that is down for a while: its links wait, the crawl says so, and resume goes on."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.support.http_server import Request
from tests.support.local_web import Answer, LocalWeb, html

from tres.store.journal import JOURNAL, Journal

from .test_live import BEES, run_tres, taught_topic

SITE = "http://bees.example"
LINKS = [f"{SITE}/{i}" for i in range(12)]
TEXT = " ".join(BEES)


class Outage(LocalWeb):
    """A page that links to all others of its site, which is too busy for them until it is not."""

    def __init__(self, retry_after: int) -> None:
        pages = {link: html(link, f"{TEXT} {link}") for link in LINKS}
        super().__init__(pages | {f"{SITE}/": html("All", TEXT, LINKS)})
        self.busy: Answer | None = Answer(status=429, headers={"Retry-After": str(retry_after)})

    def answer(self, request: Request) -> Answer:
        usual = super().answer(request)
        return self.busy if self.busy is not None and request.path in LINKS else usual


def begun(topic: Path, run: Path, proxy: str) -> None:
    asking = ["--seed-url", f"{SITE}/", "--proxy", proxy, "--pages", 100]
    first = run_tres("crawl", topic, "--run", run, *asking)
    assert first.returncode == 0, first.stderr
    assert "stopped: sites-down" in first.stdout
    assert f"continue later: tres resume {run}" in first.stdout
    assert json.loads((run / "summary.json").read_text())["failures"] == {}


def test_what_retry_after_asks_for_holds_beyond_the_end_of_a_crawl(tmp_path: Path) -> None:
    topic, run = taught_topic(tmp_path), tmp_path / "run"
    with Outage(retry_after=3601) as web:
        begun(topic, run, web.proxy)
        assert len(web.urls) == 2
        assert "stopped: sites-down" in run_tres("resume", run).stdout
        assert len(web.urls) == 2


def test_after_an_outage_resume_goes_on_with_every_link(tmp_path: Path) -> None:
    topic, run = taught_topic(tmp_path), tmp_path / "run"
    topic.write_text(f"{topic.read_text()}max_wait = 0.5\ntimeout = 1.0\n")
    with Outage(retry_after=3) as web:
        begun(topic, run, web.proxy)
        web.busy = None
        with Journal.open(run / JOURNAL) as journal:
            time.sleep(max(0.0, max(journal.resting().values()) - time.time()))
        assert "stopped: frontier-exhausted" in run_tres("resume", run).stdout
    with Journal.open(run / JOURNAL) as journal:
        assert journal.steps() == len(LINKS) + 1
        assert list(journal.failures()) == []
