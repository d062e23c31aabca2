"""How fast encoders are, how much memory they take, and what 8-bit weights cost. One thread.

    python benchmarks/encoders.py --web encyclopedia.jsonl.gz

Everything counts, from text to vector. Pages come one at a time and 32 at a time, anchors 64 at a
time, different ones of 12 words; TF-IDF, trained on some of the pages, is there to compare. Speed
is per second of processor time, with each batch's best of some rounds, so that other work on the
machine disturbs it little. Memory is what a fresh process takes more at most, while it loads the
encoder and is at work.

The last lines compare `minilm` with `minilm-fp32`, if that is installed: the cosine of their
vectors for the same text. The program fails if one is less than `LEAST_COSINE`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from tres.errors import ModelError
from tres.offline import open_web
from tres.relevance.encoders.encoder import Encoder
from tres.relevance.encoders.packages import MINILM, MINILM_FP32
from tres.relevance.encoders.sources import NAMES, STATIC, load_encoder
from tres.relevance.tfidf import train_tfidf

ROUNDS, TOGETHER, ANCHORS, ANCHOR_WORDS = 7, 32, 64, 12
PAGES, SLOW_PAGES = 320, 64
LEAST_COSINE = 0.98
COLUMNS = (
    "pages/s, one by one",
    "pages/s, 32 at a time",
    "anchors/s",
    "numbers",
    "load, s",
    "memory, MB",
)

Answer = Callable[[list[str]], object]


def main() -> None:
    """Print one table and one check."""
    parser = argparse.ArgumentParser(description="Measure encoders.")
    parser.add_argument("names", nargs="*", default=list(NAMES), help="as load_encoder takes them")
    parser.add_argument("--web", required=True)
    options = parser.parse_args()
    web = open_web(options.web)
    pages = [page.content for page, _ in zip(web.pages(), range(PAGES), strict=False)]
    print(f"| encoder | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    tfidf = train_tfidf(pages, [place % 8 == 0 for place in range(len(pages))], seed=1)
    row("tfidf", speeds(tfidf._predict, pages))
    loaded = dict(found(options.names))
    for name, encoder in loaded.items():
        some = pages if name == STATIC else pages[:SLOW_PAGES]
        with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
            seconds, megabytes = fresh.submit(footprint, name, some[:TOGETHER]).result()
        row(name, [*speeds(encoder.encode, some), encoder.dimension], seconds, megabytes)
    if {MINILM, MINILM_FP32} <= loaded.keys():
        sys.exit(check_precision(loaded[MINILM], loaded[MINILM_FP32], pages))


def found(names: list[str]) -> Iterator[tuple[str, Encoder]]:
    """The encoders that can be loaded; of the others, why not."""
    for name in names:
        try:
            yield name, load_encoder(name)
        except ModelError as problem:
            print(f"{name} is left out: {problem}", file=sys.stderr)


def row(name: str, whole: list[float], *more: float) -> None:
    cells = [f"{number:,.0f}" for number in whole] + [f"{number:,.1f}" for number in more]
    print(f"| {name} | {' | '.join(cells + [''] * (len(COLUMNS) - len(cells)))} |", flush=True)


def speeds(answer: Answer, pages: list[str]) -> list[float]:
    """Texts per second: single pages, pages together, anchors together."""
    words = [word for page in pages[:60] for word in page.split()][: 64 * SLOW_PAGES]
    anchors = [" ".join(words[at : at + ANCHOR_WORDS]) for at in range(0, len(words), ANCHOR_WORDS)]
    work = [cut(pages, 1), cut(pages, TOGETHER), cut(anchors, ANCHORS)]
    return [rate(answer, batches) for batches in work]


def cut(texts: list[str], size: int) -> list[list[str]]:
    return [texts[at : at + size] for at in range(0, len(texts), size)]


def rate(answer: Answer, batches: list[list[str]]) -> float:
    """Texts per second of processor time, with each batch's best of some rounds."""
    best, begun = np.full(len(batches), np.inf), time.process_time()
    for _ in range(ROUNDS):
        for place, batch in enumerate(batches):
            begin = time.process_time()
            answer(batch)
            best[place] = min(best[place], time.process_time() - begin)
        if time.process_time() - begun > 10:  # a slow one is not repeated
            break
    return sum(map(len, batches)) / float(best.sum())


def footprint(name: str, pages: list[str]) -> tuple[float, float]:
    """Seconds to load an encoder, and megabytes that this process then takes more."""
    before, begin = largest(), time.process_time()
    encoder = load_encoder(name)
    seconds = time.process_time() - begin
    encoder.encode(pages)
    return seconds, largest() - before


def largest() -> float:
    """The most memory that this process took, in megabytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6


def check_precision(small: Encoder, exact: Encoder, pages: list[str]) -> int:
    """Compare the vectors of pages and of their titles; 1 if two of them differ much."""
    pages = pages[:: len(pages) // SLOW_PAGES]
    texts = pages + [page.partition("\n")[0] for page in pages]
    cosines = np.einsum("td,td->t", small.encode(texts), exact.encode(texts))
    least, middle = cosines.min(), np.median(cosines)
    print(f"\n8 bits and full precision, {len(texts)} texts: cosine {least:.4f} at least, ", end="")
    print(f"{middle:.4f} in the middle: {'good' if least >= LEAST_COSINE else 'not good'}")
    return int(least < LEAST_COSINE)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
