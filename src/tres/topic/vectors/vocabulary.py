"""Whose vector is it? From the entries of a vocabulary to the words of a text.

Text is cut by `tres.topic.text.words`: case-folded, composed, without punctuation. The
vocabularies of word vectors were cut by other rules, so each entry is brought to the
word that a text would give; what no text can give is left out. Vocabularies are sorted
by frequency: where two entries give one word ("US" and "us") the first one keeps it.

- Casing is folded, letters are composed: "Zürich" and "zürich" are one word.
- Punctuation, multi-word entries ("New_York") and parts of numbers ("1,000") are left
  out, but an abbreviation is found without its full stop ("inc.").
- Clitics: an apostrophe ends a word, so "cell's" and "don't" leave an `s` and a `t`. In
  running text those are clitics, hardly ever letters, so they have the vector of the
  entries "'s" and "n't" where a vocabulary has them.
- Entries of number signs ("###") are how some vocabularies write all numbers of that
  length; they stand for the round number, `100`.

And some words of a text are found by a detour when they have no entry of their own:

- A number takes the vector of the round number with as many digits, 48213 that of
  10000: any number of that size is used much alike. Very long ones take the longest.
- Latin letters lose their accents: "Brontë" is found as "bronte".

Everything else is unknown, and stays so: a made-up vector would be noise.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from tres.topic.text import words

CLITICS = {"'s": "s", "n't": "t", "'ll": "ll", "'ve": "ve", "'re": "re", "'m": "m", "'d": "d"}
UNKNOWN = -1


def word_of(entry: str) -> str | None:
    """The word of a text that an entry of a vocabulary stands for, if there is one.

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
    """The round number of that many digits."""
    return "1" + "0" * (digits - 1)


def detour(word: str, index: Mapping[str, int]) -> int:
    """The row for a word that has no entry of its own, or `UNKNOWN`."""
    if word.isdecimal():
        lengths = range(min(len(word), 12), 0, -1)
        return next((index[n] for n in map(round_number, lengths) if n in index), UNKNOWN)
    if word.isascii():
        return UNKNOWN
    plain = without_accents(word)
    return index.get(plain, UNKNOWN) if plain.isascii() else UNKNOWN


def without_accents(word: str) -> str:
    """The letters without the marks on them."""
    parts = unicodedata.normalize("NFD", word)
    return "".join(part for part in parts if not unicodedata.combining(part))
