"""Near-duplicates: pages that say the same in nearly the same words.

A page's *fingerprint* is a simhash (Charikar, 2002) of its shingles, the runs of `SHINGLE`
words. Every distinct shingle has a 64-bit hash; each bit of the fingerprint is the majority
of that bit among all shingles. Pages that share nearly all shingles agree in nearly all
majorities, while those of unrelated pages agree in half of them, so nearness is a small
Hamming distance: `NEAR` bits or fewer.

Majorities of few shingles are fickle. A page of fewer than `SHORT` words gets a plain hash
of its words instead: it is near to its equals and, but for one chance in a hundred billion,
to nothing else.

The index finds all that is near without looking at everything: if two fingerprints differ in
3 bits, then in one of their 4 quarters they do not differ at all. For each quarter and value a
chain links the pages that have it, which takes 24 bytes a page. A fingerprint is a signed
64-bit number, the same in every run, so a journal can keep it and the index be built again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tres.topic.text import words

SHINGLE = 2
SHORT = 50
NEAR = 3
LONG_WORD = 25
BANDS = 4
BAND_BITS = 16

_Hashes = NDArray[np.uint64]
_NONE = -1
_ALL = (1 << 64) - 1


def fingerprint(text: str) -> int | None:
    """The fingerprint of a page's text; none if it has no word."""
    found = text.lower().split()
    if len(found) * LONG_WORD < len(text):
        found = words(text)  # a script without blanks between words
    if not found:
        return None
    hashes = _word_hashes(found)
    if len(found) < SHORT:
        order = np.arange(1, len(hashes) + 1, dtype=np.uint64)
        whole = _mixed(np.bitwise_xor.reduce(_mixed(hashes + order * _ODD), keepdims=True))
        return int(whole.view(np.int64)[0])
    return _simhash(_shingles(hashes))


_ODD = np.uint64(0x9E3779B97F4A7C15)
_BASE = np.uint64(0x100000001B3)
_POWERS = np.cumprod(np.full(64, _BASE, np.uint64), dtype=np.uint64)
"""Of a long word only the first letters count."""


def _word_hashes(found: list[str]) -> _Hashes:
    """One hash per word: a polynomial in its UTF-8 bytes, well mixed."""
    text = " ".join(found).encode("utf-8", "replace")
    letters = np.frombuffer(text, np.uint8)
    starts = np.concatenate(([0], np.flatnonzero(letters == 32) + 1))
    lengths = np.diff(np.append(starts, len(letters) + 1))
    places = np.arange(len(letters)) - np.repeat(starts, lengths)[: len(letters)]
    terms = letters * _POWERS[np.minimum(places, len(_POWERS) - 1)]
    return _mixed(np.add.reduceat(terms, starts))


def _mixed(values: _Hashes) -> _Hashes:
    """Every bit of the result depends on every bit of the value (as in splitmix64)."""
    values = values + _ODD
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _shingles(hashes: _Hashes) -> _Hashes:
    """Hashes of all runs of words, each distinct run once."""
    runs = np.zeros(len(hashes) - SHINGLE + 1, np.uint64)
    for place in range(SHINGLE):
        runs = runs * _BASE + hashes[place : place + len(runs)]
    ordered: _Hashes = np.sort(_mixed(runs))
    distinct: _Hashes = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    return distinct


def _simhash(hashes: _Hashes) -> int:
    bits = np.unpackbits(hashes.view(np.uint8)).reshape(-1, 64)
    majority = 2 * bits.sum(axis=0, dtype=np.int32) > len(hashes)
    return int(np.packbits(majority).view(np.int64)[0])


class NearDuplicates:
    """The fingerprints of a crawl.

    >>> pages = NearDuplicates()
    >>> pages.add(0b1010)
    >>> pages.seen(0b1011), pages.seen(0b10111111)
    (True, False)
    """

    def __init__(self) -> None:
        self._size = 0
        self._prints = np.zeros(1024, np.int64)
        self._earlier = np.zeros((1024, BANDS), np.int32)
        self._latest = np.full((BANDS, 1 << BAND_BITS), _NONE, np.int32)

    def __len__(self) -> int:
        return self._size

    def add(self, fingerprint: int) -> None:
        """A page with this fingerprint was met."""
        if self._size == len(self._prints):
            self._prints = np.resize(self._prints, 2 * self._size)
            self._earlier = np.resize(self._earlier, (2 * self._size, BANDS))
        self._prints[self._size] = fingerprint
        for band, value in enumerate(_bands(fingerprint)):
            self._earlier[self._size, band] = self._latest[band, value]
            self._latest[band, value] = self._size
        self._size += 1

    def seen(self, fingerprint: int) -> bool:
        """Was there a page whose fingerprint differs in `NEAR` bits or fewer?"""
        return any(
            self._near(fingerprint, band, value) for band, value in enumerate(_bands(fingerprint))
        )

    def _near(self, fingerprint: int, band: int, value: int) -> bool:
        at = int(self._latest[band, value])
        while at != _NONE:
            if ((int(self._prints[at]) ^ fingerprint) & _ALL).bit_count() <= NEAR:
                return True
            at = int(self._earlier[at, band])
        return False


def _bands(fingerprint: int) -> list[int]:
    mask = (1 << BAND_BITS) - 1
    return [fingerprint >> (BAND_BITS * band) & mask for band in range(BANDS)]
