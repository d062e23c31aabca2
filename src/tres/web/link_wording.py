"""The wording of a link: the words of its anchor and of its URL, as numbers.

Every word becomes a number below `CODES` by a checksum (feature hashing), so there is no vocabulary
to build, limit or store, and a link is a short row of numbers. Two words may share a number; with
far more numbers than words that matter, this does little harm. The same word counts as two
different ones in the URL and in the anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from tres.topic.text import words
from tres.web.url import url_words

CODES = 1 << 16
EACH = 8
"""Words read of an anchor, and of a URL."""
WIDTH = 2 * EACH
NO_WORD = 0

Wordings = NDArray[np.uint16]
"""One row per link, filled up with `NO_WORD`."""
NO_WORDINGS: Wordings = np.empty((0, WIDTH), np.uint16)
"""For policies that read no words."""


def encode_wordings(urls: Sequence[str], anchors: Sequence[str]) -> Wordings:
    """Return the wordings of links; `anchors` may be empty if they were not kept."""
    codes = np.full((len(urls), WIDTH), NO_WORD, np.uint16)
    for i, (url, anchor) in enumerate(zip(urls, anchors or [""] * len(urls), strict=True)):
        found = _words(url, anchor)
        codes[i, : len(found)] = [1 + crc32(word.encode()) % (CODES - 1) for word in found]
    return codes


def _words(url: str, anchor: str) -> list[str]:
    """Return the distinct words, with a mark on those of the URL.

    >>> _words("http://example.org/music/index.html", "Midi files, all files")
    ['midi', 'files', 'all', '/example', '/music', '/index']
    """
    of_anchor = dict.fromkeys(words(anchor)[:EACH])
    text = url_words(url) if "://" in url else url  # in tests, a URL may be just words
    of_url = dict.fromkeys(text.split()[:EACH])
    return [*of_anchor, *("/" + word for word in of_url)]
