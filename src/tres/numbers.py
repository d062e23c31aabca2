"""Numbers in sentences: how counts, percentages and durations read, wherever tres writes them."""

from __future__ import annotations

_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()


def format_count(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun, and its verb if one is given with it.

    >>> [format_count(count, "page") for count in (0, 1, 2000)]
    ['no pages', '1 page', '2,000 pages']
    >>> format_count(1, "page links", "pages link") + " to it"
    '1 page links to it'
    """
    noun = singular if count == 1 else plural or f"{singular}s"
    return f"{count:,} {noun}" if count else f"no {noun}"


def format_part(count: int, total: int, singular: str, plural: str = "", last: str = "") -> str:
    """Return how many of several things are or are not: the start of a sentence.

    >>> [format_part(count, 3, "page") for count in (0, 1, 2, 3)]
    ['none of the 3 pages is', '1 of the 3 pages is', '2 of the 3 pages are', 'all 3 pages are']
    >>> [format_part(count, 1, "page") for count in (0, 1)]
    ['the only page is not', 'the only page is']
    >>> format_part(4, 9, "page", last="last ")
    '4 of the last 9 pages are'
    """
    if total == 1:
        return f"the only {singular} is" + " not" * (count == 0)
    things = f"{last}{total:,} {plural or f'{singular}s'}"
    if count == total == 2:
        return f"both {plural or f'{singular}s'} are"
    if count == total:
        return f"all of the {things} are" if last else f"all {things} are"
    verb = "are" if count > 1 else "is"
    return f"{f'{count:,}' if count else 'none'} of the {things} {verb}"


def spell_count(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun, small counts as words: `two pages`."""
    _, _, noun = format_count(count, singular, plural).partition(" ")
    return f"{spell_number(count)} {noun}"


def spell_number(count: int) -> str:
    """Return a count as a word up to twelve, else in digits."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def format_percentage(share: float) -> str:
    """Return a share in whole per cent; 0% and 100% mean none and all.

    >>> [format_percentage(share) for share in (0.0, 0.004, 0.413, 0.999, 1.0)]
    ['0%', 'less than 1%', '41%', 'more than 99%', '100%']
    """
    if 0.0 < share < 0.005:
        return "less than 1%"
    return "more than 99%" if 0.995 <= share < 1.0 else f"{share:.0%}"


def format_rate(rate: float) -> str:
    """Return a harvest rate as tables and headlines show it: `41.3%`."""
    return f"{rate:.1%}"


def format_duration(seconds: float) -> str:
    """Return a duration, from a minute on in its two largest units.

    >>> [format_duration(seconds) for seconds in (0.25, 95.0, 3700.0, 200_000.0)]
    ['0.2 s', '1 min 35 s', '1 h 1 min', '2 d 7 h']
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 24 else f"{hours // 24} d {hours % 24} h"
