"""Does a crawl survive power cuts? Record its writes, and cut the power in the log.

A live crawl over a generated web runs under `strace`, which records every write, sync, rename and
removal in its run directory. The log is then cut at random moments, and each time a disk is
constructed that a power cut may leave:

- what was synced is there;
- of everything else, every page of 4 kB of every file is as it was at one of three moments since
  the last sync of that file, and so is the length of the file (what lies between is zeros);
- names that were made, renamed or removed since the last sync of their directory are there up to
  some moment, chosen per directory.

This is harsher than real file systems, which keep some order. `tres resume` then continues from
every disk (or `--overwrite` starts again, if the cut came before there was a journal) and crawls to
the end, unless the crawl had finished.

    python -m benchmarks.power --cuts 60

What must hold, and is printed at the end: every run continues; at most the last seconds are lost;
the WARC files hold every page once, complete; `pages.csv` is byte for byte that of an undisturbed
crawl.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.kill import Scene, archived, served

from tres.store.high_water_mark import MARK, SLOT, HighWaterMark, read_mark
from tres.store.journal import JOURNAL, Journal
from tres.store.run_directory import PAGES, SUMMARY
from tres.store.session_rebuild import first_lost
from tres.store.warc_writer import WarcStore

PAGE = 4096
TRACED = (
    "open,openat,creat,write,pwrite64,ftruncate,truncate,fsync,fdatasync,"
    "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir"
)
_CALL = re.compile(r"(\d+) +(\d+\.\d+) (\w+)\((.*)\) += (-?\d+)", re.DOTALL)
_UNFINISHED = re.compile(r"(\d+) +(\d+\.\d+) (.*) <unfinished \.\.\.>$", re.DOTALL)
_RESUMED = re.compile(r"(\d+) +\d+\.\d+ <\.\.\. \w+ resumed>(.*)$", re.DOTALL)
_NAME = re.compile(r'<((?:\\x[0-9a-f]{2})*)>|"((?:\\x[0-9a-f]{2})*)"')


class Call(NamedTuple):
    """A system call that changed something in the run directory."""

    at: float
    name: str
    texts: list[bytes]
    """Files and data, in the order of the arguments."""
    rest: str
    result: int


def is_here() -> bool:
    """Whether calls can be recorded on this machine."""
    command = ["strace", "-o", "/dev/null", "true"]
    return (
        shutil.which("strace") is not None and not subprocess.run(command, check=False).returncode
    )


def record(command: list[str], log: Path) -> None:
    """Run a command to its end, and record what it does to files."""
    tracing = ["strace", "-f", "-ttt", "-y", "-xx", "-s", "100000000", "--seccomp-bpf"]
    whole = [*tracing, "-e", f"trace={TRACED}", "-o", str(log), *command]
    subprocess.run(whole, check=True, stdout=subprocess.DEVNULL)


def calls(log: Path, run: Path) -> Iterator[Call]:
    """The calls that concern a run, in order; other ones fail or change nothing."""
    inside = "".join(f"\\x{byte:02x}" for byte in str(run).encode())
    begun: dict[str, str] = {}
    with log.open() as lines:
        for noted in lines:
            line = noted.rstrip("\n")
            if (half := _UNFINISHED.match(line)) is not None:
                begun[half[1]] = f"{half[1]} {half[2]} {half[3]}"
                continue
            if (rest := _RESUMED.match(line)) is not None:
                line = begun.pop(rest[1], "") + rest[2]
            if inside in line and (call := _CALL.match(line)) is not None and int(call[5]) >= 0:
                texts = [
                    bytes.fromhex((a or b).replace("\\x", "")) for a, b in _NAME.findall(call[4])
                ]
                yield Call(float(call[2]), call[3], texts, _NAME.sub("", call[4]), int(call[5]))


@dataclass
class File:
    """What is on disk, and what has happened since: writes (place, data) and lengths."""

    durable: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def write(self, at: int, data: bytes) -> None:
        self.pending.append((at, data))

    def cut(self, size: int) -> None:
        self.pending.append((size, None))

    def now(self, moment: int | None = None) -> bytes:
        """The content after so many of the changes that are pending."""
        content = bytearray(self.durable)
        for at, data in self.pending[:moment]:
            if data is None:
                content = content[:at].ljust(at, b"\0")
            else:
                content = content.ljust(at, b"\0")
                content[at : at + len(data)] = data
        return bytes(content)

    def sync(self) -> None:
        self.durable, self.pending = self.now(), []

    def after_a_cut(self, chance: random.Random) -> bytes:
        """What a power cut leaves: each page, and the length, as of one of three moments."""
        if not self.pending:
            return self.durable
        moments = [chance.randint(0, len(self.pending)) for _ in range(3)]
        versions = [self.now(moment) for moment in moments]
        size = len(chance.choice(versions))
        pages = [chance.choice(versions)[at : at + PAGE] for at in range(0, size, PAGE)]
        return b"".join(page.ljust(PAGE, b"\0") for page in pages)[:size]


@dataclass
class Directory:
    """Names that are on disk, and those made (or removed: None) since."""

    durable: dict[str, File] = field(default_factory=dict)
    pending: list[dict[str, File | None]] = field(default_factory=list)

    def now(self, moment: int | None = None) -> dict[str, File]:
        names: dict[str, File | None] = dict(self.durable)
        for change in self.pending[:moment]:
            names |= change
        return {name: file for name, file in names.items() if file is not None}

    def sync(self) -> None:
        self.durable, self.pending = self.now(), []


class Disk:
    """The run directory as a disk: what it holds, and what of it is only in memory."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self.directories: dict[Path, Directory] = {}

    def apply(self, call: Call) -> None:
        """Apply a call."""
        path = Path(call.texts[0].decode()) if call.texts else Path()
        match call.name:
            case "openat" | "open" | "creat":
                self._open(Path(call.texts[-1].decode()), call.rest)
            case "write" | "pwrite64" if (file := self._file(path)) is not None:
                place = int(call.rest.rpartition(",")[2]) if call.name == "pwrite64" else None
                at = len(file.now()) if place is None else place
                file.write(at, call.texts[1][: call.result])
            case "ftruncate" | "truncate" if (file := self._file(path)) is not None:
                file.cut(int(call.rest.rpartition(",")[2]))
            case "fsync" | "fdatasync":
                self._sync(path)
            case "rename" | "renameat" | "renameat2":
                old, new = [Path(text.decode()) for text in call.texts if text.startswith(b"/")][
                    -2:
                ]
                self._rename(old, new)
            case "unlink" | "unlinkat" | "rmdir":
                gone = Path(call.texts[-1].decode())
                self._change(gone.parent, {gone.name: None})
            case "mkdir" | "mkdirat":
                self.directories[Path(call.texts[-1].decode())] = Directory()
            case _:
                pass

    def after_a_cut(self, chance: random.Random, run: Path) -> None:
        """Write what a power cut leaves into a directory."""
        for place, directory in self.directories.items():
            target = run / place.relative_to(self._run)
            target.mkdir(parents=True, exist_ok=True)
            moment = chance.randint(0, len(directory.pending))
            for name, file in directory.now(moment).items():
                if not name.endswith("-shm"):
                    (target / name).write_bytes(file.after_a_cut(chance))

    def _open(self, path: Path, flags: str) -> None:
        if self._file(path) is None:
            if "O_CREAT" in flags and path.parent in self.directories:
                self._change(path.parent, {path.name: File()})
        elif "O_TRUNC" in flags and (file := self._file(path)) is not None:
            file.cut(0)

    def _file(self, path: Path) -> File | None:
        directory = self.directories.get(path.parent)
        return None if directory is None else directory.now().get(path.name)

    def _sync(self, path: Path) -> None:
        if path in self.directories:
            self.directories[path].sync()
        elif (file := self._file(path)) is not None:
            file.sync()

    def _rename(self, old: Path, new: Path) -> None:
        if old in self.directories:
            self.directories[new] = self.directories.pop(old)
        elif (file := self._file(old)) is not None:
            self._change(new.parent, {old.name: None, new.name: file})

    def _change(self, directory: Path, names: dict[str, File | None]) -> None:
        if directory in self.directories:
            self.directories[directory].pending.append(names)


@dataclass(frozen=True)
class Cut:
    """One power cut: when, how much it lost, and the result."""

    at: float
    committed: int
    kept: int
    seconds_lost: float
    goes_on: bool
    same: bool
    whole: bool
    said: str

    @property
    def is_well(self) -> bool:
        return self.goes_on and self.same and self.whole


@dataclass
class Recorded:
    """A crawl that was recorded."""

    run: Path
    calls: list[Call]

    def cut(self, moment: int, chance: random.Random, target: Path) -> list[tuple[float, int]]:
        """Construct the disk after some calls; also return when each record was committed."""
        disk, commits = Disk(self.run), [(self.calls[0].at, 0)]
        for call in self.calls[:moment]:
            disk.apply(call)
            if call.name == "pwrite64" and call.texts[0].endswith(MARK.encode()):
                commits += [(call.at, position) for position in committed(call.texts[1])]
        target.mkdir()
        disk.after_a_cut(chance, target)
        return commits


def committed(written: bytes) -> list[int]:
    """The record that a write to a mark promises, if it does."""
    line, _, _ = written[:SLOT].strip().rpartition(b" ")
    _, extent = json.loads(line)
    return [] if extent is None else [extent[0]]


def recorded_crawl(scene: Scene, run: Path, pages: int) -> Recorded:
    """Record a crawl to its end."""
    log = scene.directory / "calls.log"
    record(scene.crawl(run, pages, 1), log)
    found = list(calls(log, run))
    log.unlink()
    return Recorded(run, found)


def another_boot(mark: Path) -> None:
    """Pretend that the machine has been restarted since the mark was written."""
    if mark.exists() and (required := read_mark(mark)) is not None and required.is_exact:
        written = HighWaterMark(mark, required.synced, "the boot before")
        written.commit(required.least)
        written.close()


def surviving(run: Path) -> int:
    """The last record of a run that both journal and WARC files have."""
    if not (run / JOURNAL).exists():
        return 0
    with Journal.open(run / JOURNAL) as journal:
        lost = first_lost(journal, WarcStore(run, {}))
        return journal.position if lost is None else lost - 1


def taken_up(scene: Scene, recorded: Recorded, run: Path, moment: int, pages: int) -> Cut:
    """Cut the power at a moment of a recorded crawl, and resume from there."""
    chance = random.Random(moment)
    commits = recorded.cut(moment, chance, run)
    another_boot(run / MARK)
    at, last = recorded.calls[moment - 1].at, commits[-1][1]
    kept = surviving(run)
    lost_since = next((when for when, position in commits if position > kept), at)
    finished = (run / SUMMARY).exists() and kept == last
    command = ["true"] if finished else scene.crawl(run, pages, 1)
    ended = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    goes_on = ended.returncode == 0
    same = goes_on and (run / PAGES).read_bytes() == (recorded.run / PAGES).read_bytes()
    whole = goes_on and archived(run) == archived(recorded.run)
    seconds = at - lost_since if kept < last else 0.0
    said = ended.stderr.decode().strip().rpartition("\n")[2]
    return Cut(at - recorded.calls[0].at, last, kept, seconds, goes_on, same, whole, said)


def power_cuts(
    scene: Scene, pages: int, cuts: int, tell: Callable[[Cut], None] = lambda cut: None
) -> list[Cut]:
    """Record a crawl and cut the power at random moments of it."""
    recorded = recorded_crawl(scene, scene.directory / "recorded", pages)
    chance, found = random.Random(1), []
    for number in range(cuts):
        run = scene.directory / f"cut-{number}"
        moment = chance.randint(1, len(recorded.calls))
        found.append(taken_up(scene, recorded, run, moment, pages))
        tell(found[-1])
        shutil.rmtree(run)
    return found


def main() -> None:
    """Cut the power and print the result; exit code 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--web", type=int, default=1500, metavar="N", help="pages of the web")
    parser.add_argument("--pages", type=int, default=400, help="pages to fetch")
    parser.add_argument("--cuts", type=int, default=60)
    options = parser.parse_args()
    if not is_here():
        sys.exit("strace is needed, and must be allowed to trace")
    with TemporaryDirectory() as scratch, served(Path(scratch), options.web) as scene:
        found = power_cuts(scene, options.pages, options.cuts, show)
    sys.exit(0 if verdict(found) else 1)


def show(cut: Cut) -> None:
    print(
        f"cut after {cut.at:6.2f} s at record {cut.committed:5,}: {cut.kept:5,} kept, "
        f"{cut.seconds_lost:.2f} s lost; {'ok' if cut.is_well else 'WRONG'} {cut.said}",
        flush=True,
    )


def verdict(cuts: list[Cut]) -> bool:
    """Print what holds and what does not."""
    lost = [cut.seconds_lost for cut in cuts]
    print(f"{len(cuts)} power cuts, {sum(not cut.goes_on for cut in cuts)} runs that do not go on")
    print(f"lost: {max(lost):.2f} s at most, {sorted(lost)[len(lost) // 2]:.2f} s in the median")
    print(f"{sum(cut.same for cut in cuts)} times {PAGES} is that of the crawl in peace")
    print(f"{sum(cut.whole for cut in cuts)} times the WARC files hold every page once")
    return all(cut.is_well for cut in cuts)


if __name__ == "__main__":
    main()
