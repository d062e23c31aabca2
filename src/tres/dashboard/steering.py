"""What a user may do to a run from the browser: orders, judgements, going on.

A crawl that is going on is told through its inbox (`store.orders`) and decides itself when to
obey. A judgement is a line in a file. A crawl that has ended goes on as a process of its own
(`tres resume`), in a session of its own: it lives on when the dashboard ends.

A request carries numbers and names; what they mean is looked up here. So the URL of a page that
is judged is the one in the journal, and never one that a browser has sent.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from tres.config import load_topic
from tres.dashboard.counts import Json, harmless
from tres.dashboard.followed import FollowedRun
from tres.errors import ConfigError, RunError
from tres.store.judgements import Judgement, append_judgement
from tres.store.orders import Block, Budget, Order, Pause, Stop, order_named, send
from tres.store.run import config_of
from tres.store.source import web_of
from tres.store.state import run_state

MAY_ORDER = ("pause", "go-on", "stop", "budget", "block")
"""Orders that a browser may give; a model is adopted by whoever has trained it."""
TAIL = 2_000
"""Bytes of what such a crawl has said that are looked at."""


def give_order(run: FollowedRun, wanted: Json) -> str:
    """Tell a crawl that is going on what to do; what is said back to the user."""
    order = order_named(wanted, MAY_ORDER)
    if not run_state(run.directory).is_crawled:
        raise RunError("nobody is crawling this run now; go on with it first")
    send(run.directory, order)
    return _said(order)


def judge(run: FollowedRun, wanted: Json) -> str:
    """Keep what a person says about one of the last pages."""
    step, relevant = wanted.get("step"), wanted.get("relevant")
    page = run.page(step) if type(step) is int else None
    if page is None:
        raise RunError("this page is no longer among the last ones; reload the page")
    if not isinstance(relevant, bool):
        raise ConfigError("say whether the page is relevant: true or false")
    append_judgement(run.directory, Judgement(page.url, relevant, page.step, page.relevance))
    run.look_again()
    return f"Page {page.step:,} judged {'relevant' if relevant else 'not relevant'}."


def learn(run: Path) -> Json:
    """Train the model of a run anew with its judgements; for a process of its own."""
    from tres.experiment.label import learn_judgements  # slow to import

    web = web_of(run)
    if web is None:
        raise RunError(f'{run}: kept no pages to learn from; crawl with live.keep = "pages"')
    learnt = learn_judgements(run, web, load_topic(config_of(run)))
    return {"judged": learnt.judged, "guessed": learnt.guessed, "told": learnt.told}


@dataclass(slots=True)
class Resumed:
    """Crawls that were taken up from here, by the key of their run, and what they said."""

    _crawls: dict[str, tuple[subprocess.Popen[bytes], IO[bytes]]] = field(default_factory=dict)

    def start(self, run: FollowedRun, wanted: Json) -> str:
        """Go on with a run; with a larger budget if one is given."""
        pages = wanted.get("pages")
        if pages is not None:
            Budget(pages)  # refuses what is none
        if run_state(run.directory).is_crawled or self._is_starting(run.key):
            raise RunError("this run is being crawled already")
        command = [sys.executable, "-m", "tres", "resume", str(run.directory)]
        command += [] if pages is None else ["--pages", str(pages)]
        said = TemporaryFile()  # noqa: SIM115 -- the crawl may outlive this, and write on
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._crawls[run.key] = process, said
        return "The crawl is being taken up."

    def problem(self, run: FollowedRun) -> str:
        """Why a crawl that was taken up here did not go on; empty if it did."""
        process, said = self._crawls.get(run.key, (None, None))
        if process is None or said is None or process.poll() in (None, 0):
            return ""
        lines = _tail(said).splitlines()
        return harmless(lines[-1].removeprefix("tres: ")) if lines else "it ended without a word"

    def _is_starting(self, key: str) -> bool:
        return key in self._crawls and self._crawls[key][0].poll() is None


def _said(order: Order) -> str:
    match order:
        case Budget(pages):
            return f"The crawl is told to fetch {pages:,} pages in all."
        case Block(site):
            return f"The crawl is told to want nothing more of {site}."
        case Stop():
            return "The crawl is told to stop; what is in flight may land."
        case Pause():
            return "The crawl is told to pause."
        case _:
            return "The crawl is told to go on."


def _tail(said: IO[bytes]) -> str:
    said.seek(0, 2)
    said.seek(max(0, said.tell() - TAIL))
    return said.read().decode("utf-8", "replace").strip()
