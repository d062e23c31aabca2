"""From the entries of a vocabulary to the words of a text.

`tres.topic.text.words` splits text: case-folded, composed, without punctuation. The vocabularies of
word vectors were split by other rules, so each entry is mapped to a word of a text; entries that no
text can contain are left out. Vocabularies are sorted by frequency: if two entries give the same
word ("US" and "us"), the first one counts.

- Casing is folded, letters are composed: "Zürich" and "zürich" are one word.
- Punctuation, multi-word entries ("New_York") and parts of numbers ("1,000") are left
  out, but an abbreviation loses its full stop ("inc.").
- Clitics: an apostrophe ends a word, so "cell's" and "don't" leave an `s` and a `t`. In running
  text those are hardly ever letters, so they get the vectors of the entries "'s" and "n't".
- Some vocabularies write all numbers of a length as number signs ("###"); they become the round
  number, `100`.

Some words of a text without an entry of their own use another one:

- A number uses the vector of the round number with as many digits, 48213 that of 10000, as
  numbers of one size are used alike. Very long ones use the longest.
- Latin letters lose their accents: "Brontë" uses "bronte".

Everything else is unknown: an invented vector would be noise.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from tres.topic.text import words

CLITICS = {"'s": "s", "n't": "t", "'ll": "ll", "'ve": "ve", "'re": "re", "'m": "m", "'d": "d"}
UNKNOWN = -1


def word_of(entry: str) -> str | None:
    """Return the word of a text that an entry of a vocabulary stands for, if there is one.

    >>> [word_of(entry) for entry in ("Inc.", "'s", "##", "New_York", "...")]
    ['inc', 's', '10', None, None]
    """
    folded = entry.casefold().replace("\u2019", "'")
    if folded in CLITICS:
        return CLITICS[folded]
    if folded and not folded.strip("#"):
        return round_number(len(folded))
    composed = unicodedata.normalize("NFC", folded)
    found = words(composed)
    return found[0] if len(found) == 1 and composed in (found[0], f"{found[0]}.") else None


def round_number(digits: int) -> str:
    """Return the round number with this many digits."""
    return "1" + "0" * (digits - 1)


def fallback_row(word: str, index: Mapping[str, int]) -> int:
    """Return the row for a word without an entry of its own, or `UNKNOWN`."""
    if word.isdecimal():
        lengths = range(min(len(word), 12), 0, -1)
        return next((index[n] for n in map(round_number, lengths) if n in index), UNKNOWN)
    if word.isascii():
        return UNKNOWN
    plain = without_accents(word)
    return index.get(plain, UNKNOWN) if plain.isascii() else UNKNOWN


def without_accents(word: str) -> str:
    """Return the letters without the marks on them."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))
