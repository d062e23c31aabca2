"""Near-duplicates: how many edited copies are recognised, and how many real pages are refused.

    python benchmarks/near_duplicates.py
    python benchmarks/near_duplicates.py --web docs.jsonl.gz --every 6

Without a web: pages of 240 words with 1 to 16 words changed at random, compared with the original
and with another copy made in the same way. With one: the pages that the test refuses when all are
read in order, by their true resemblance to the page that they matched. Whether two pages with a
resemblance of 0.8 are the same page is for people to say; the URLs of some are printed.
"""

from __future__ import annotations

import argparse
import random
from itertools import pairwise

import numpy as np

from tres.offline import open_web
from tres.web.near_duplicates import DISTANCE, fingerprint

WORDS = [f"word{number}" for number in range(2_000)]
SIZE, PAGES = 240, 500
BOUNDS = (0.0, 0.7, 0.75, 0.8, 0.9, 0.99, 1.01)


def main() -> None:
    """Run one of the two measurements."""
    parser = argparse.ArgumentParser(description="Recall and false alarms of near-duplicates.")
    parser.add_argument("--web")
    parser.add_argument("--every", type=int, default=1, help="read one page in so many")
    options = parser.parse_args()
    real(options.web, options.every) if options.web else edited()


def edited() -> None:
    """The share of copies that are recognised."""
    print("words changed   beside the original   beside another copy")
    for changes in (1, 2, 4, 8, 12, 16):
        draw = random.Random(changes)
        one = other = 0
        for _ in range(PAGES):
            original = draw.choices(WORDS, k=SIZE)
            first, second = (changed(original, changes, draw) for _ in range(2))
            one += near(" ".join(original), first)
            other += near(first, second)
        print(f"{changes:13}   {one / PAGES:19.1%}   {other / PAGES:19.1%}")


def changed(original: list[str], changes: int, draw: random.Random) -> str:
    """Return a copy with that many words changed."""
    words = list(original)
    for place in draw.sample(range(len(words)), changes):
        words[place] = draw.choice(WORDS)
    return " ".join(words)


def near(one: str, other: str) -> bool:
    """Whether one is refused after the other."""
    return distance(fingerprint(one) or 0, fingerprint(other) or 0) <= DISTANCE


def distance(one: int, other: int) -> int:
    """The number of bits in which two fingerprints differ."""
    return (one ^ other).bit_count()


def real(name: str, every: int) -> None:
    """The pages of a web that are refused."""
    kept: list[tuple[int, str, str]] = []
    found: list[tuple[float, str, str]] = []
    pages = 0
    for number, page in enumerate(open_web(name).pages()):
        known = fingerprint(page.content) if number % every == 0 else None
        if known is None:
            continue
        pages += 1
        twin = next((each for each in kept if distance(each[0], known) <= DISTANCE), None)
        if twin is None:
            kept.append((known, page.content, page.url))
        else:
            found.append((resemblance(page.content, twin[1]), page.url, twin[2]))
    counts, _ = np.histogram([each[0] for each in found], BOUNDS)
    print(f"{pages:,} pages, {len(found):,} refused ({len(found) / pages:.1%})")
    for (low, high), count in zip(pairwise(BOUNDS), counts.tolist(), strict=True):
        print(f"  resemblance from {low:.2f} to {min(high, 1.0):.2f}: {count:,}")
    for share, url, other in random.Random(1).sample(found, min(10, len(found))):
        print(f"  {share:.2f}  {url}\n        {other}")


def resemblance(one: str, other: str) -> float:
    """The share of shingles that two texts have in common."""
    first, second = (set(pairwise(text.lower().split())) for text in (one, other))
    return len(first & second) / max(1, len(first | second)) if first | second else 1.0


if __name__ == "__main__":
    main()
