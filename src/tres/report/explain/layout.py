"""An explanation as text for a terminal: a summary, then short paragraphs and small tables.

Text from the Web is made harmless to a terminal.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from tres.errors import printable
from tres.numbers import spell_count
from tres.report.explain import facts, sentences
from tres.report.feature_labels import value_and_label
from tres.report.reasons import format_candidates, shorten

WIDTH = 79
"""Columns of a paragraph or a table: a terminal has at least 80."""
INDENT = GAP = "  "
CITING = 5
"""Citing pages that are listed; the others are counted."""


def format_explanation(explanation: facts.Explanation) -> str:
    """Return the whole explanation for a terminal."""
    match explanation:
        case facts.Fetched():
            parts = _fetched(explanation)
        case facts.Failed():
            parts = _unanswered(sentences.describe_failure(explanation), explanation)
        case facts.InFlight():
            parts = _unanswered(sentences.describe_in_flight(explanation), explanation)
        case facts.Waiting():
            parts = _waiting(explanation)
        case facts.NeverFetched():
            parts = _never_fetched(explanation)
    return "\n\n".join([_heading(explanation), *(part for part in parts if part)])


def _heading(explanation: facts.Explanation) -> str:
    url = printable(explanation.url)
    if isinstance(explanation, facts.Fetched) and explanation.title:
        return f'{url}\n"{shorten(explanation.title, 80)}"'
    return url


def _fetched(page: facts.Fetched) -> Iterator[str]:
    chosen = page.decision
    yield fill(sentences.summarize_page(page))
    if page.asked != page.url:
        yield fill(f"It was requested as {printable(page.asked)}, which leads there.")
    yield _path(page.path)
    if more := page.citations[1:]:
        pages = spell_count(len(more), "more page linked", "more pages linked")
        yield f"{pages.capitalize()} to it:\n{_citing_pages(more)}"
    if chosen.how not in ("seed", "search"):
        heading = "What tres saw of the link when it chose it, the most unusual first:"
        yield f"{heading}\n{_features(page.features)}"
    yield fill(sentences.describe_leaf(chosen.leaf, "waited"))
    if chosen.leaf_note:
        yield fill(f"The rule of its leaf is not known: {chosen.leaf_note}.")
    yield _comparison(page)
    yield fill(sentences.describe_outcome(page))
    yield fill(sentences.describe_verdict(page.verdict, page.relevant))


def _unanswered(text: str, page: facts.Failed | facts.InFlight) -> Iterator[str]:
    yield fill(text)
    if page.is_seed:
        yield "It is a seed."
    else:
        yield _where_found(page.citations)


def _waiting(link: facts.Waiting) -> Iterator[str]:
    if link.is_seed:
        yield "tres has not fetched it yet: it is a seed, and its turn has not come."
        return
    yield fill(sentences.describe_rank(link))
    yield _where_found(link.citations)
    yield f"What tres sees of it now, the most unusual first:\n{_features(link.features)}"
    yield fill(sentences.describe_leaf(link.leaf, "waits"))
    yield fill(sentences.describe_site(link))
    if link.best:
        yield f"The best of all waiting links:\n{_other_links(link.best)}"
    yield fill(sentences.describe_turn(link))


def _never_fetched(link: facts.NeverFetched) -> Iterator[str]:
    yield fill(sentences.why_never(link))
    if link.reason == "unseen" and link.detail:
        kind, _, limit = link.detail.partition(": ")
        yield fill(
            f"Or links to it were left out: it looks like part of an endless space ({kind}), of "
            f"which no more than {limit} are let in (live.traps)."
        )
    yield _where_found(link.citations)
    if not link.citations and link.near:
        near = "\n".join(f"{INDENT}{printable(url)}" for url in link.near)
        yield f"The nearest addresses that it knows:\n{near}"
    elif link.reason == "unseen":
        yield "It knows no address of that site."


def _path(path: Sequence[facts.PathStep]) -> str:
    links = len(path) - 1
    if not links:
        return ""
    rows = [
        _page_row(
            each,
            f'"{shorten(each.anchor, 30)}"' if place else "(a seed)",
            printable(each.url) if place < links else "this page",
        )
        for place, each in enumerate(path)
    ]
    found = f"It was found {spell_count(links, 'link')} from a seed:"
    return f"{found}\n{format_table(('page', 'relevance', 'through the link', ''), rows)}"


def _comparison(page: facts.Fetched) -> str:
    chosen = page.decision
    if not chosen.runners_up or chosen.q is None:
        return ""
    kind = "guess" if chosen.how == "guess" else "value"
    of = f", of {chosen.frontier:,} that waited" if chosen.candidates < chosen.frontier else ""
    text = (
        f"Its {kind} of {chosen.q:.3f} was the highest of {format_candidates(chosen)}{of}. "
        f"{sentences.explain_value(page)}The next were:"
    )
    return f"{fill(text)}\n{_other_links(chosen.runners_up)}"


def _where_found(cited: Sequence[facts.Citation]) -> str:
    if not cited:
        return ""
    pages = spell_count(len(cited), "fetched page links", "fetched pages link")
    return f"{pages.capitalize()} to it:\n{_citing_pages(cited)}"


def _citing_pages(cited: Sequence[facts.Citation]) -> str:
    """The pages that link to a URL, the most relevant first."""
    best = sorted(cited, key=lambda each: (-each.relevance, each.step))
    rows = [
        _page_row(each, f'"{shorten(each.anchor, 30)}"', printable(each.url))
        for each in best[:CITING]
    ]
    more = f"\n  ... and {len(cited) - CITING:,} more" if len(cited) > CITING else ""
    return format_table(("page", "relevance", "link", ""), rows) + more


def _page_row(page: facts.Citation, link: str, url: str) -> tuple[str, ...]:
    judged = f"{page.relevance:.2f} {'relevant' if page.relevant else ''}".rstrip()
    return f"{page.step:,}", judged, link, url


def _features(features: Sequence[facts.Feature]) -> str:
    """The features of a link, with their names at the ends of the lines."""
    rows = [(*value_and_label(each), each.name) for each in features]
    others = max(len(value) + len(name) for value, _, name in rows) if rows else 0
    room = WIDTH - len(INDENT) - 2 * len(GAP) - others
    return format_table(("", "", ""), [line for row in rows for line in _wrap(*row, room)])


def _wrap(value: str, label: str, name: str, room: int) -> list[tuple[str, str, str]]:
    first, *more = textwrap.wrap(label, room) or [""]
    return [(value, first, name), *(("", f"  {line}", "") for line in more)]


def _other_links(others: Sequence[facts.RunnerUp]) -> str:
    """Links with their values, and what became of them, if anything has."""
    fates = [_fate(each) for each in others]
    rows = [
        (f"{each.q:.3f}", *([fate or "not fetched"] if any(fates) else []), printable(each.url))
        for each, fate in zip(others, fates, strict=True)
    ]
    return format_table(("value", *[""] * (len(rows[0]) - 1)), rows)


def _fate(other: facts.RunnerUp) -> str:
    if other.step is not None:
        return f"fetched as page {other.step:,}, {'' if other.relevant else 'not '}relevant"
    return f"failed: {other.failure}" if other.failure else ""


def fill(text: str) -> str:
    """Wrap a paragraph; addresses stay in one piece."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Align columns, the first one to the right; a header without names is left out.

    The last column may hold addresses, which stay in one piece: where the table is too wide, they
    get lines of their own.
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
