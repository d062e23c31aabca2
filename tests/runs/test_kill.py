"""Hard to kill: ended at any moment, by any means, and taken up, it is the same crawl.

The crawls run in processes of their own, which are really killed. They are forked, so that
the web and the model need not be made anew for each of them.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from tests.support.missing import skip_without

from tres.engines.replay import PerceivedWeb
from tres.engines.stop_signals import interrupt_sessions
from tres.errors import RunError
from tres.offline.generated.generator import GeneratedWeb
from tres.offline.web import Web
from tres.runs import offline_run
from tres.runs.offline_run import crawl_offline, resume_offline
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection, TreeSection
from tres.settings.topic_file import TopicConfig
from tres.store import snapshot_files as snapshots
from tres.store.journal import JOURNAL, Journal
from tres.web.page import Failed
from tres.web.percept import Perceiver, Percept

FORK = multiprocessing.get_context("fork")


class LoggedWeb(PerceivedWeb):
    """A web that notes down what was fetched, for whoever kills the fetcher."""

    def __init__(self, web: Web, perceiver: Perceiver) -> None:
        super().__init__(web, perceiver)
        self.log: Path | None = None

    def perceive(self, url: str) -> Percept | Failed:
        if self.log is not None:
            with self.log.open("a") as file:
                file.write(f"{url}\n")
        return super().perceive(url)


@pytest.fixture(scope="module")
def seen() -> LoggedWeb:
    web = GeneratedWeb(3000, 1)
    return LoggedWeb(web, perceive_topic(configured(web, 1, 1), web))


def configured(web: GeneratedWeb, k: int, pages: int) -> TopicConfig:
    topic, keywords = next(iter(web.topics.items()))
    return TopicConfig(
        name="kill",
        topic=TopicSection(keywords=keywords, seeds=tuple(web.seeds(topic, 3))),
        training=TrainingSection(labels=(topic,)),
        crawl=CrawlSection(pages=pages, in_flight=k),
        tree=TreeSection(representatives=2),
    )


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, seen: LoggedWeb) -> None:
    """Snapshots often enough to be met, and no page perceived twice in all processes."""
    monkeypatch.setattr(snapshots, "EVERY", 150)
    monkeypatch.setattr(offline_run, "PerceivedWeb", lambda *_: seen)


def crawling(config: TopicConfig, seen: LoggedWeb, run: Path) -> None:
    """Begin a crawl, or go on with it, as the command would."""
    with interrupt_sessions() as started:
        if (run / JOURNAL).exists():
            resume_offline(run, seen.web, on_start=started)
        else:
            crawl_offline(config, seen, run, overwrite=True, on_start=started)


def outcomes(run: Path) -> list[str]:
    """The URLs that have an outcome, in order, read while the crawl may be writing."""
    query = "SELECT seq, asked FROM pages UNION ALL SELECT seq, url FROM failures ORDER BY seq"
    if not (run / JOURNAL).exists():
        return []  # it has not begun
    with closing(sqlite3.connect(run / JOURNAL)) as database:
        return [url for _, url in database.execute(query)]


def position(run: Path) -> int:
    with Journal.open(run / JOURNAL) as journal:
        return journal.position


def let_go_on(child: BaseProcess, run: Path, records: int, pause: float) -> None:
    """Until the journal has grown by so many records, and a moment longer."""
    while child.is_alive() and not (run / JOURNAL).exists():
        time.sleep(0.01)
    enough = position(run) + records
    while child.is_alive() and position(run) < enough:
        time.sleep(0.01)
    time.sleep(pause)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("sign", "k", "times", "pages"),
    [(signal.SIGKILL, 1, 20, 2000), (signal.SIGKILL, 4, 5, 700), (signal.SIGTERM, 4, 4, 700)],
)
def test_however_often_it_is_killed_it_is_the_crawl_that_was_not(
    tmp_path: Path, seen: LoggedWeb, sign: signal.Signals, k: int, times: int, pages: int
) -> None:
    config = configured(seen.web, k, pages)  # type: ignore[arg-type]
    whole, run = tmp_path / "whole", tmp_path / "run"
    seen.log = None
    crawl_offline(config, seen, whole)
    moments = random.Random(k)
    share = position(whole) // (2 * times)  # a busy machine kills late: the last finds it at work
    for attempt in range(times + 1):
        known = outcomes(run)
        seen.log = tmp_path / f"fetched-{attempt}"
        child = FORK.Process(target=crawling, args=(config, seen, run))
        child.start()
        if attempt < times:
            let_go_on(child, run, moments.randrange(share), moments.random() * 0.004)
            assert child.is_alive(), (
                f"it had ended before it was killed for the {attempt + 1}. time"
            )
            os.kill(child.pid or 0, sign)
        child.join()
        assert child.exitcode in ((0, -sign) if attempt < times else (0,))
        fetched = seen.log.read_text().splitlines() if seen.log.exists() else []
        assert not set(fetched) & set(known)  # nothing that has an outcome is fetched again
        assert outcomes(run)[: len(known)] == known  # and nothing is lost
        assert len(outcomes(run)) >= len(known) + len(fetched) - (attempt < times)
    seen.log = None
    assert len(set(outcomes(run))) == len(outcomes(run))
    for name in ("pages.csv", "failures.csv", "tree.json"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name


@contextmanager
def small_disk(directory: Path) -> Iterator[Callable[[], None]]:
    """A file system of its own that is soon full; what is given makes it larger."""
    directory.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", str(directory)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if mounted.returncode:
        skip_without("permission to mount a file system", mounted.stderr.strip())

    def enlarge() -> None:
        subprocess.run(["mount", "-o", "remount,size=64m", str(directory)], check=True)

    try:
        yield enlarge
    finally:
        subprocess.run(["umount", str(directory)], check=True)


def refused(config: TopicConfig, seen: LoggedWeb, run: Path, largest: int | None) -> None:
    """In a child: a crawl that must end with the way to go on."""
    if largest is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    with pytest.raises(RunError) as caught:
        crawling(config, seen, run)
    assert caught.value.message.startswith(f"{run}: cannot be written (")
    assert caught.value.message.endswith(f"; free some space, then: tres resume {run}")


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("way", ["a full disk", "a limit on files"])
def test_a_full_disk_ends_the_crawl_and_room_lets_it_go_on(
    tmp_path: Path, seen: LoggedWeb, way: str
) -> None:
    config = configured(seen.web, 1, pages=800)  # type: ignore[arg-type]
    seen.log = None
    whole, disk = tmp_path / "whole", tmp_path / "disk"
    crawl_offline(config, seen, whole)
    if way == "a full disk":
        with small_disk(disk) as enlarge:
            _fill(config, seen, disk / "run", None, enlarge, whole)
    else:
        _fill(config, seen, disk, 600_000, lambda: None, whole)


def _fill(
    config: TopicConfig, seen: LoggedWeb, run: Path, largest: int | None,
    enlarge: Callable[[], None], whole: Path,
) -> None:  # fmt: skip
    for _ in range(2):  # a disk that is still full is told again, and does no harm
        child = FORK.Process(target=refused, args=(config, seen, run, largest))
        child.start()
        child.join()
        assert child.exitcode == 0
    assert 0 < len(outcomes(run)) < len(outcomes(whole))
    enlarge()
    resume_offline(run, seen.web)
    for name in ("pages.csv", "failures.csv", "tree.json"):
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name
