"""Near-duplicates: pages with the same content in nearly the same words.

The measure is the resemblance of two pages (Broder, 1997): of all shingles (runs of `SHINGLE`
words) on either page, the share that is on both. A page with 8 of 240 words changed still shares
0.87 of them with the original, and 0.76 with another page made from it in the same way; unrelated
pages share next to nothing.

MinHash estimates it from a few bytes a page. For each of `BITS` orders of all possible shingles,
two pages have the same first shingle with a probability that is their resemblance r. Of each first
shingle one bit is kept (b-bit minwise hashing, Li and Koenig, 2010), which agrees by chance half of
the time. So two fingerprints differ in about (1 - r) / 2 of their bits. Pages with a resemblance of
`NEAR` or more are near-duplicates: they differ in at most `DISTANCE` bits. Measurements on edited
and on real pages are in docs/security.md.

Only the shingles with the `SAMPLE` lowest hashes of a page count. The sample is the same for all
pages, so resemblances stay the same, and a long page costs no more than a short one.

A page of fewer than `SHORT` words gets a plain hash of its words instead: only the same words are
near to it.

A page is compared with all of the last `REMEMBERED` pages: 32 bytes each, and a millisecond for a
quarter of a million. A fingerprint is a number of 256 bits, the same in every run, so the journal
can store it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tres.topic.text import words

SHINGLE = 2
SHORT = 50
BITS = 256
NEAR = 0.75
DISTANCE = int(BITS * (1 - NEAR) / 2)
SAMPLE = 512
REMEMBERED = 1 << 18
LONG_WORD = 25

_Hashes = NDArray[np.uint64]
_WORDS = BITS // 64


def fingerprint(text: str) -> int | None:
    """Return the fingerprint of a text; None if it has no word."""
    found = text.lower().split()
    if len(found) * LONG_WORD < len(text):
        found = words(text)  # a script that does not separate words
    if not found:
        return None
    hashes = _word_hashes(found)
    if len(found) < SHORT:
        order = np.arange(1, len(hashes) + 1, dtype=np.uint64)
        whole = np.bitwise_xor.reduce(_mixed(hashes + order * _ODD))
        return _number(_mixed(whole + np.arange(_WORDS, dtype=np.uint64)))
    return _minhash(_shingles(hashes))


_ODD = np.uint64(0x9E3779B97F4A7C15)
_BASE = np.uint64(0x100000001B3)
_POWERS = np.cumprod(np.full(64, _BASE, np.uint64), dtype=np.uint64)
"""Only the first letters of a long word count."""


def _word_hashes(found: list[str]) -> _Hashes:
    """Return a hash per word: a polynomial in its UTF-8 bytes, mixed."""
    text = " ".join(found).encode("utf-8", "replace")
    letters = np.frombuffer(text, np.uint8)
    starts = np.concatenate(([0], np.flatnonzero(letters == 32) + 1))
    lengths = np.diff(np.append(starts, len(letters) + 1))
    places = np.arange(len(letters)) - np.repeat(starts, lengths)[: len(letters)]
    terms = letters * _POWERS[np.minimum(places, len(_POWERS) - 1)]
    return _mixed(np.add.reduceat(terms, starts))


def _mixed(values: _Hashes) -> _Hashes:
    """Make every bit of the result depend on every bit of the value (as in splitmix64)."""
    values = values + _ODD
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _shingles(hashes: _Hashes) -> _Hashes:
    """Return the lowest hashes of the distinct runs of words, ascending."""
    runs = np.zeros(len(hashes) - SHINGLE + 1, np.uint64)
    for place in range(SHINGLE):
        runs = runs * _BASE + hashes[place : place + len(runs)]
    return np.unique(_mixed(runs))[:SAMPLE]


_ORDERS = _mixed(np.arange(1, BITS + 1, dtype=np.uint64))
"""Each number gives another order of all shingles."""


def _minhash(shingles: _Hashes) -> int:
    """Return one bit of the first shingle in every order."""
    first = ((shingles[:, None] ^ _ORDERS) * _ODD).min(axis=0)
    bits = (first >> np.uint64(7)) & np.uint64(1)
    return _number(np.packbits(bits.astype(np.uint8)))


def _number(values: NDArray[np.generic]) -> int:
    return int.from_bytes(values.tobytes(), "little")


class NearDuplicates:
    """The fingerprints of the last pages of a crawl.

    >>> pages = NearDuplicates()
    >>> pages.add(0b1010)
    >>> pages.seen(0b1011), pages.seen((1 << 100) - 1)
    (True, False)
    """

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._remembered = remembered
        self._added = 0
        self._prints = np.zeros((_WORDS, min(1024, remembered)), np.uint64)

    def __len__(self) -> int:
        return min(self._added, self._remembered)

    def add(self, fingerprint: int) -> None:
        """Remember a fingerprint, and forget the oldest if there are too many."""
        size = self._prints.shape[1]
        if self._added == size < self._remembered:
            more = min(size, self._remembered - size)
            self._prints = np.pad(self._prints, ((0, 0), (0, more)))
        self._prints[:, self._added % self._remembered] = _words_of(fingerprint)
        self._added += 1

    def seen(self, fingerprint: int) -> bool:
        """Return whether a remembered fingerprint differs in `DISTANCE` bits or fewer."""
        differing = np.zeros(len(self), np.uint16)
        for stored, word in zip(self._prints, _words_of(fingerprint), strict=True):
            differing += np.bitwise_count(stored[: len(self)] ^ word)
        return bool((differing <= DISTANCE).any())


def _words_of(fingerprint: int) -> _Hashes:
    return np.frombuffer(fingerprint.to_bytes(BITS // 8, "little"), np.uint64)
