"""What recording costs, and how fast a long crawl is resumed.

One crawl of a generated web is driven twice, without and with a journal. Perceiving pages is left
out, so only decisions and writing are compared. Then the recorded crawl is resumed with its
snapshot, and (`--fold`) from the journal alone. Prints processor time, so that a busy machine does
not matter, and wall time.

    python benchmarks/journal.py --pages 200000 --steps 20000 --fold
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from tres.engines.replay import PerceivedWeb, replay_events
from tres.offline.generated.generator import GeneratedWeb
from tres.runs.live_components import restore_memory
from tres.runs.offline_run import crawl_offline
from tres.runs.resume_run import resume_run
from tres.runs.topic_perceiver import perceive_topic
from tres.runs.topic_session import offline_session
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_records import Received
from tres.store.snapshot_files import SNAPSHOT
from tres.web.page import Failed
from tres.web.percept import Percept

Seconds = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pages", type=int, default=200_000, help="pages of the web")
    parser.add_argument("--steps", type=int, default=20_000, help="pages to fetch")
    parser.add_argument("--fold", action="store_true", help="resume without a snapshot, too")
    options = parser.parse_args()
    web = GeneratedWeb(options.pages, 1)
    config = configured(web, options.steps)
    seen = Timed(web, perceive_topic(config, web))
    plain = timed(lambda: list(replay_events(offline_session(config, seen), seen)))
    perceiving = seen.spent
    with TemporaryDirectory() as scratch:
        run = Path(scratch) / "run"
        recorded = timed(lambda: crawl_offline(config, seen, run))
        show("without a journal", plain - perceiving, options.steps)
        show("with a journal", recorded - (seen.spent - perceiving), options.steps)
        sizes(run, options.steps)
        resumed(run, options.steps, "with its snapshot")
        recalled(run, config)
        if options.fold:
            (run / SNAPSHOT).unlink(missing_ok=True)
            resumed(run, options.steps, "from its start")


class Timed(PerceivedWeb):
    """Measures the time spent perceiving."""

    spent = np.zeros(2)

    def perceive(self, url: str) -> Percept | Failed:
        begin = clocks()
        outcome = super().perceive(url)
        self.spent = self.spent + clocks() - begin
        return outcome


def configured(web: GeneratedWeb, steps: int) -> TopicConfig:
    topic, keywords = next(iter(web.topics.items()))
    return TopicConfig(
        name="journal",
        topic=TopicSection(keywords=keywords, seeds=tuple(web.seeds(topic, 3))),
        training=TrainingSection(labels=(topic,)),
        crawl=CrawlSection(pages=steps),
    )


def sizes(run: Path, steps: int) -> None:
    for name in (JOURNAL, SNAPSHOT):
        if (file := run / name).exists():
            print(f"{name:18} {file.stat().st_size / steps / 1e3:8.2f} kB a page")
    with Journal.open(run / JOURNAL) as journal:
        outcomes = [entry.outcome for _, entry in journal.entries() if isinstance(entry, Received)]
    links = [len(outcome.links) for outcome in outcomes if isinstance(outcome, Percept)]
    print(f"{'links of a page':18} {sum(links) / len(links):8.1f}")


def resumed(run: Path, steps: int, how: str) -> None:
    def taken_up() -> None:
        with resume_run(run, steps + 1) as opened:
            assert opened.session.steps == steps

    processor, clock = timed(taken_up)
    print(f"{'resumed in':18} {processor:8.2f} s ({clock:.2f} s on the clock), {how}")


def recalled(run: Path, config: TopicConfig) -> None:
    """What a live crawl adds: it remembers near-duplicates and endless spaces."""
    with Journal.open(run / JOURNAL) as journal:
        processor, clock = timed(lambda: restore_memory(config, journal))
    print(f"{'recalled in':18} {processor:8.2f} s ({clock:.2f} s on the clock), if it is live")


def show(what: str, seconds: Seconds, steps: int) -> None:
    processor, clock = 1e3 * seconds / steps
    print(f"{what:18} {processor:8.2f} ms a step ({clock:.2f} ms on the clock)", flush=True)


def timed(work: Callable[[], object]) -> Seconds:
    begin = clocks()
    work()
    return clocks() - begin


def clocks() -> Seconds:
    """Processor time and wall time."""
    return np.array([time.process_time(), time.perf_counter()])


if __name__ == "__main__":
    main()
