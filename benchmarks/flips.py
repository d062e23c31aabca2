"""Is every changed bit harmless or reported? Flips bits in all files of a run, one at a time.

Two live runs are made over a generated web, with raw pages, a model, a snapshot and judgements: one
finished, and one killed, with its write-ahead log. In a copy of each, one bit after another is
flipped in some file, and everything in the run is read again, as the commands read it. A flip is

- *harmless*: everything reads the same, to the last bit;
- *named*: an error or a warning names the file, or the journal;
- *unread*: the file is for people (`pages.csv`, `failures.csv`, `keywords.csv`, `scrapy.log`), and
  no command reads it; the journal holds its content, and `summary.json` its checksum;
- *unnoticed*: something else is read without a message. That must not happen.

    python -m benchmarks.flips --flips 10000
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory

from benchmarks.kill import Scene, served, wait_until

from tres.errors import TresError
from tres.settings.topic_file import load_topic
from tres.store.journal import JOURNAL, Journal
from tres.store.journal_records import encode
from tres.store.judgements import Judgement, append_judgement, read_judgements
from tres.store.model_versions import newest_model
from tres.store.page_source import web_of
from tres.store.run_directory import SUMMARY, TREE, config_of
from tres.store.run_results import read_summary, read_tree
from tres.store.session_rebuild import first_lost, refuse_foreign
from tres.store.snapshot_files import Snapshot, read_snapshot, write_snapshot
from tres.store.warc_writer import WarcStore

UNREAD = {"pages.csv", "failures.csv", "keywords.csv", "scrapy.log", "state.json"}


def made(scene: Scene, run: Path, pages: int, is_killed: bool) -> Path:
    """Make a run, finished or killed, with a snapshot and judgements."""
    begin = scene.asked()
    with Popen(scene.crawl(run, pages, 1), stdout=DEVNULL, stderr=DEVNULL) as crawl:
        if is_killed:
            wait_until(lambda: scene.asked() - begin >= pages // 2, crawl)
            crawl.send_signal(signal.SIGKILL)
        crawl.wait()
    with Journal.open(run / JOURNAL) as journal:
        rows = list(journal.pages())
        place = journal.position // 2
        write_snapshot(run, Snapshot(place, journal.link(place), 3, "config", {"steps": 3}))
    for row in rows[:5]:
        append_judgement(run, Judgement(row["url"], bool(row["reward"]), row["step"], 0.5))
    return run


def read(run: Path) -> Iterator[object]:
    """Read everything in a run, as the commands do."""
    yield load_topic(config_of(run)).to_toml()
    with Journal.open(run / JOURNAL) as journal:
        journal.verify()
        yield journal.meta, journal.position, journal.seconds(), journal.segments()
        yield [(seq, encode(entry)) for seq, entry in journal.entries()]
        yield list(journal.pages()), list(journal.failures()), list(journal.times_after(0))
        warc = WarcStore(run, {})
        yield first_lost(journal, warc)
        refuse_foreign(journal, warc)
        snapshot = read_snapshot(run, "config", journal.position, journal.link)
    yield snapshot and (snapshot.position, snapshot.state)
    yield newest_model(run).digest
    yield read_judgements(run)
    if (web := web_of(run)) is not None:
        yield sorted((page.url, page.title, page.text, page.links) for page in web.pages())
    if (run / SUMMARY).exists():
        yield read_summary(run)
        yield read_tree(run).to_json() if (run / TREE).exists() else None


@dataclass(frozen=True)
class Flip:
    """One bit of one file, and the effect of changing it."""

    file: str
    at: int
    became: str
    said: str = ""


class Flipper:
    """Flips bits of a run, and restores each after the check."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._kept = {file: file.read_bytes() for file in files_of(run)}
        self._expected = repr(list(read(run)))
        self._restore()

    @property
    def sizes(self) -> dict[Path, int]:
        return {file: len(content) for file, content in self._kept.items() if content}

    def flip(self, file: Path, at: int, bit: int) -> Flip:
        """Change one bit, read everything, and restore it."""
        content = bytearray(self._kept[file])
        content[at] ^= 1 << bit
        name = str(file.relative_to(self._run))
        file.write_bytes(content)
        try:
            became, said = self._outcome(name)
        finally:
            self._restore()
        return Flip(name, at, became, said)

    def _outcome(self, name: str) -> tuple[str, str]:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                same = repr(list(read(self._run))) == self._expected
            except TresError as problem:
                return "named", problem.message
        if warned:
            return "named", str(warned[0].message)
        if same:
            return ("unread" if name in UNREAD else "harmless"), ""
        return "unnoticed", ""

    def _restore(self) -> None:
        for file in files_of(self._run):
            if file not in self._kept:
                file.unlink()  # what a reader of the write-ahead log has made
        for file, content in self._kept.items():
            if not file.exists() or file.read_bytes() != content:
                file.write_bytes(content)


def files_of(run: Path) -> list[Path]:
    return sorted(file for file in run.rglob("*") if file.is_file() and file.suffix != ".db-shm")


def flips(runs: list[Path], count: int, seed: int = 1) -> Iterator[Flip]:
    """Yield flips spread evenly over the files, small and large."""
    chance = random.Random(seed)
    flippers = [Flipper(run) for run in runs]
    for number in range(count):
        flipper = flippers[number % len(flippers)]
        file, size = chance.choice(sorted(flipper.sizes.items()))
        yield flipper.flip(file, chance.randrange(size), chance.randrange(8))


def scene_of(scratch: Path, pages: int) -> list[Path]:
    """Make the two runs whose bits are flipped."""
    with served(scratch, 600) as scene:
        return [
            made(scene, scratch / "ended", pages, False),
            made(scene, scratch / "killed", pages, True),
        ]


def main() -> None:
    """Flip bits and print the results; exit code 1 if anything went unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=24, help="pages of the runs")
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    bad = 0
    with TemporaryDirectory() as scratch:
        for flip in flips(scene_of(Path(scratch), options.pages), options.flips):
            counts.setdefault(flip.file, Counter())[flip.became] += 1
            if flip.became == "unnoticed":
                bad += 1
                print(f"unnoticed: {flip.file} at {flip.at}", flush=True)
    kinds = ("harmless", "named", "unread", "unnoticed")
    print(f"{'file':28}" + "".join(f"{kind:>10}" for kind in kinds))
    for file, found in sorted(counts.items()):
        print(f"{file:28}" + "".join(f"{found[kind]:10,}" for kind in kinds))
    total = sum(counts.values(), Counter())
    print(f"{'all':28}" + "".join(f"{total[kind]:10,}" for kind in kinds))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
