"""Throw broken input at everything that reads what strangers have written.

    python -m benchmarks.fuzz [--inputs 1000000] [--seed 1] [--only html,urls]

Eight kinds of input (`benchmarks/fuzz_targets.py`) start from valid samples and are damaged: bytes
change, pieces vanish, repeat or come from elsewhere, and words that parsers know turn up where they
do not belong. A reader may return any value, or raise the one error that it documents. An
unexpected exception is a finding; so is an input that takes longer than `SECONDS`, and an answer
that breaks the reader's promises. A finding is shown with the number of its input: the same seed
and number reproduce it.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from benchmarks.fuzz_targets import TARGETS, WORDS, Target
from rich.console import Console
from rich.table import Table

SECONDS = 5.0
"""Of processor time, for one input; the most patient reader of the crawl has twice as many."""
MOST_BYTES = 20_000
SHOWN = 3
"""Findings of one kind that are shown."""


def damaged(sample: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """The sample after one to eight accidents."""
    data = bytearray(sample)
    for _ in range(rng.randint(1, 8)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((1, 1, 2, 8, 64)))
        match rng.randrange(6):
            case 0:
                data[start:end] = rng.randbytes(end - start)
            case 1:
                del data[start:end]
            case 2:
                data[start:start] = bytes(data[start:end]) * rng.choice((1, 2, 30, 300))
            case 3:
                other = rng.choice(others)
                data[start:end] = other[rng.randrange(len(other)) :]
            case 4:
                data[start:start] = rng.choice(WORDS)
            case _:
                del data[start if rng.random() < 0.2 else len(data) :]
    return bytes(data[:MOST_BYTES])


def inputs(target: Target, count: int, seed: int) -> Iterator[bytes]:
    """Damaged samples, the same for the same seed."""
    rng = Random(f"{seed} {target.name}")
    for _ in range(count):
        sample = rng.choice(target.samples)
        if target.unpack and rng.random() < 0.5:
            yield zlib.compress(damaged(zlib.decompress(sample), target.samples, rng), 1)
        else:
            yield damaged(sample, target.samples, rng)


@dataclass
class Outcome:
    """The results for all inputs of one kind."""

    name: str
    inputs: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    findings: list[str] = field(default_factory=list)

    def note(self, data: bytes, problem: Exception) -> None:
        """Record a finding."""
        said = f"{type(problem).__name__}: {problem}"[:200]
        self.findings.append(f"{self.name} {self.inputs}: {said!a}: {data[:500]!r}")


def fuzz(target: Target, count: int, seed: int = 1) -> Outcome:
    """Read `count` damaged samples."""
    outcome = Outcome(target.name)
    for data in inputs(target, count, seed):
        began = time.process_time()
        try:
            with limited(SECONDS):
                target.read(data)
        except Exception as problem:  # each is a finding: that is what we are here for
            outcome.note(data, problem)
        spent = time.process_time() - began
        outcome.inputs += 1
        outcome.seconds += spent
        outcome.slowest = max(outcome.slowest, spent)
    return outcome


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` in pure Python code that takes too long."""

    def ring(number: int, frame: object) -> None:
        raise TimeoutError(f"longer than {seconds} seconds")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def show(outcomes: Sequence[Outcome]) -> None:
    """Print the table, and the first findings of each kind."""
    table = Table("input", "inputs", "uncaught", "CPU s", "slowest, ms", title="fuzzing")
    for each in outcomes:
        slowest = f"{each.slowest * 1000:.0f}"
        found = str(len(each.findings))
        table.add_row(each.name, f"{each.inputs:,}", found, f"{each.seconds:.0f}", slowest)
    total = sum(each.inputs for each in outcomes), sum(len(each.findings) for each in outcomes)
    seconds = sum(each.seconds for each in outcomes)
    table.add_row("all", f"{total[0]:,}", str(total[1]), f"{seconds:.0f}", "")
    Console().print(table)
    for line in (line for each in outcomes for line in each.findings[:SHOWN]):
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--inputs", type=int, default=1_000_000, help="of all kinds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds, with commas between them")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    chosen = [target for target in TARGETS if not only or target.name in only]
    logging.disable()  # what is only logged is no finding, except by Twisted (`fuzz_wire`)
    outcomes = []
    for target in chosen:
        outcomes.append(fuzz(target, options.inputs * target.share // 100, options.seed))
        print(f"{target.name}: {len(outcomes[-1].findings)} findings", flush=True)
    show(outcomes)
    sys.exit(any(outcome.findings for outcome in outcomes))


if __name__ == "__main__":
    main()
