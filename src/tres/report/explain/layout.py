"""The pieces that explanations are made of: filled paragraphs, and small tables."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from tres.errors import printable
from tres.report.explain.facts import Citation, Feature, Leaf, RunnerUp
from tres.report.explain.feature_labels import condition, told

WIDTH = 79
"""Columns that a paragraph or a table may take: a terminal has 80 unless somebody made it wider."""
INDENT = GAP = "  "
SHOWN = 5
"""Citing pages that are listed; the others are counted."""


def filled(text: str) -> str:
    """A paragraph; addresses stay in one piece."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first one to the right; a header without names is left out.

    The last column may hold addresses, which stay in one piece: where a table becomes too wide,
    they stand on lines of their own.
    """
    lines = [header, *rows] if any(header) else rows
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    if len(INDENT) + sum(widths) + len(GAP) * (len(widths) - 1) <= WIDTH:
        return "\n".join(_line(line, widths) for line in lines)
    below = f"\n{INDENT}{' ' * widths[0]}{GAP}"
    return "\n".join(
        _line(line[:-1], widths[:-1]) + (f"{below}{line[-1]}" if line[-1] else "") for line in lines
    )


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = cells
    padded = [cell.ljust(width) for cell, width in zip(rest, widths[1:], strict=True)]
    return f"{INDENT}{GAP.join([first.rjust(widths[0]), *padded])}".rstrip()


def counted(count: int, noun: str) -> str:
    """1 link, 2 links."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def shortened(text: str, chars: int = 60) -> str:
    """Text from the Web on one short line, harmless to a terminal."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= chars else f"{line[: chars - 3]}..."


def listed(items: Sequence[str]) -> str:
    """a, b and c."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def link_row(step: int, relevance: float, relevant: bool, link: str, url: str) -> tuple[str, ...]:
    """A page in a table of pages."""
    judged = f"{relevance:.2f} {'relevant' if relevant else ''}".rstrip()
    return f"{step:,}", judged, link, url


def citing_pages(cited: Sequence[Citation]) -> str:
    """The pages that link to a URL, the most relevant first."""
    best = sorted(cited, key=lambda each: (-each.relevance, each.step))
    rows = [
        link_row(
            each.step,
            each.relevance,
            each.relevant,
            f'"{shortened(each.anchor, 30)}"',
            printable(each.url),
        )
        for each in best[:SHOWN]
    ]
    more = f"\n  ... and {len(cited) - SHOWN:,} more" if len(cited) > SHOWN else ""
    return table(("page", "relevance", "link", ""), rows) + more


def features_seen(features: Sequence[Feature]) -> str:
    """What the policy saw, with the names of the features at the end of the lines."""
    rows = [(*told(each), each.name) for each in features]
    others = max(len(value) + len(name) for value, _, name in rows) if rows else 0
    room = WIDTH - len(INDENT) - 2 * len(GAP) - others
    return table(("", "", ""), [line for row in rows for line in _wrapped(*row, room)])


def _wrapped(value: str, meaning: str, name: str, room: int) -> list[tuple[str, str, str]]:
    first, *more = textwrap.wrap(meaning, room) or [""]
    return [(value, first, name), *(("", f"  {line}", "") for line in more)]


def kind_of_link(leaf: Leaf | None, waited: str) -> str:
    """The rule of a leaf and its experience; `waited` says when."""
    if leaf is None or not leaf.conditions:
        return ""
    earned = (
        f"The {counted(leaf.fetched, 'such link')} fetched by now earned "
        f"{leaf.mean_reward:.2f} on average; a relevant page earns up to 1."
        if leaf.fetched
        else "No such link has been fetched yet."
    )
    return filled(
        f"It {waited} in leaf {leaf.id} of the decision tree, among links of one kind: "
        f"{'; '.join(map(condition, leaf.conditions))}. {earned}"
    )


def other_links(others: Sequence[RunnerUp]) -> str:
    """Links with their values, and what became of them, if anything has."""
    fates = [_fate(each) for each in others]
    rows = [
        (f"{each.q:.3f}", *([fate or "not fetched"] if any(fates) else []), printable(each.url))
        for each, fate in zip(others, fates, strict=True)
    ]
    return table(("value", *[""] * (len(rows[0]) - 1)), rows)


def _fate(other: RunnerUp) -> str:
    if other.step is not None:
        return f"fetched as page {other.step:,}, {'' if other.relevant else 'not '}relevant"
    return f"failed: {other.failure}" if other.failure else ""
