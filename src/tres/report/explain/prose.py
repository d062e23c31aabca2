"""An explanation as text: one sentence that says it all, then the story in short paragraphs.

What comes from the Web is shown harmlessly. No number is made here that the facts do not hold.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from tres.errors import printable
from tres.report.explain.facts import (
    Citation,
    Explanation,
    Failed,
    Feature,
    Fetched,
    Leaf,
    Never,
    PathStep,
    RunnerUp,
    Underway,
    Verdict,
    Waiting,
)
from tres.report.explain.saying import FAILURES, RULES, condition, how_many, told
from tres.report.explain.summary import listed, shortened, standing, summary

WIDTH = 92
SHOWN = 5
"""Citing pages that are listed; the others are counted."""


def prose(explanation: Explanation) -> str:
    """The whole explanation for a terminal."""
    match explanation:
        case Fetched():
            parts = _fetched(explanation)
        case Failed():
            parts = _failed(explanation)
        case Underway():
            parts = _underway(explanation)
        case Waiting():
            parts = _waiting(explanation)
        case Never():
            parts = _never(explanation)
    return "\n\n".join([printable(explanation.url), *(part for part in parts if part)])


def _fetched(page: Fetched) -> Iterable[str]:
    yield _filled(summary(page))
    if page.asked != page.url:
        yield _filled(f"It was asked for as {printable(page.asked)}, which leads there.")
    yield _way(page.path)
    yield _also_cited(page.citations[1:])
    if page.decision.how not in ("seed", "search"):
        yield _seen(page.features, "What tres saw of the link when it chose it")
    yield _kind(page.decision.leaf, page.decision.leaf_note)
    yield _compared(page)
    yield _filled(_outcome(page))
    yield _filled(_judged(page.verdict, page.relevant))


def _way(path: Sequence[PathStep]) -> str:
    links = len(path) - 1
    if not links:
        return ""
    first = f"It was found {how_many(links)} link{'s' * (links > 1)} from a seed:"
    rows = [
        (
            f"{each.step:,}",
            _relevance(each.relevance, each.relevant),
            f'"{shortened(each.anchor, 30)}"' if place else "a seed",
            printable(each.url) if place < links else "this page",
        )
        for place, each in enumerate(path)
    ]
    return f"{first}\n{_table(('page', 'relevance', 'through the link', ''), rows)}"


def _also_cited(cited: Sequence[Citation]) -> str:
    if not cited:
        return ""
    pages = "page links" if len(cited) == 1 else "pages link"
    return f"{how_many(len(cited)).capitalize()} more {pages} to it:\n{_citing(cited)}"


def _citing(cited: Sequence[Citation]) -> str:
    best = sorted(cited, key=lambda each: (-each.relevance, each.step))
    rows = [
        (
            f"{each.step:,}",
            _relevance(each.relevance, each.relevant),
            f'"{shortened(each.anchor, 30)}"',
            printable(each.url),
        )
        for each in best[:SHOWN]
    ]
    more = f"\n  ... and {len(cited) - SHOWN:,} more" if len(cited) > SHOWN else ""
    return _table(("page", "relevance", "link", ""), rows) + more


def _seen(features: Sequence[Feature], title: str) -> str:
    rows = [(*told(each), each.name) for each in features]
    return f"{title}, what set it apart first:\n{_table(('', '', ''), rows)}"


def _kind(leaf: Leaf | None, note: str) -> str:
    if leaf is None:
        return _filled(f"The rule of its leaf cannot be told: {note}.") if note else ""
    common = "; ".join(map(condition, leaf.conditions)) or "nothing yet, the tree had no rule"
    return _filled(
        f"It waited in leaf {leaf.id} of the decision tree. Links in that leaf have in common: "
        f"{common}. The {leaf.fetched:,} such links that have been fetched by now earned "
        f"{leaf.mean_reward:.2f} on average, where a relevant page earns 1."
    )


def _compared(page: Fetched) -> str:
    chosen = page.decision
    if not chosen.runners_up or chosen.q is None:
        return ""
    first = _filled(
        f"Its {_value(page)} of {chosen.q:.3f} was the highest of the {chosen.candidates:,} links "
        f"that were compared, out of {chosen.frontier:,} that waited. {_meaning(page)}"
        "The next were:"
    )
    return f"{first}\n{_others(chosen.runners_up)}"


def _value(page: Fetched) -> str:
    return "guess" if page.decision.how == "guess" else "value"


def _meaning(page: Fetched) -> str:
    gamma = page.crawl.gamma
    if page.decision.how == "guess" or gamma is None:
        return ""
    return (
        f"(A value is the reward that is expected: 1 for a relevant page, "
        f"and {gamma:g} of the best value that follows.) "
    )


def _others(others: Sequence[RunnerUp]) -> str:
    rows = [(f"{each.q:.3f}", _fate(each), printable(each.url)) for each in others]
    return _table(("value", "", ""), rows)


def _fate(other: RunnerUp) -> str:
    if other.step is not None:
        return f"fetched as page {other.step:,}, {'' if other.relevant else 'not '}relevant"
    return f"failed: {other.failure}" if other.failure else "not fetched"


def _outcome(page: Fetched) -> str:
    came = page.consequences
    links = f"{came.links:,} link{'s' * (came.links != 1)}"
    if not came.descendants:
        return f"The page has {links}; nothing has been fetched through it."
    pages = f"{came.descendants:,} page{'s' * (came.descendants != 1)}"
    return (
        f"The page has {links}. {pages} were fetched through it ({came.children:,} of them from "
        f"its own links), and {came.relevant_descendants:,} of these were relevant."
    )


def _judged(verdict: Verdict, relevant: bool) -> str:
    said = verdict.telling
    several = f" It was judged by model {verdict.number} of {verdict.models} of this run."
    judge = several if verdict.models > 1 else ""
    note = f" ({verdict.note[0].upper()}{verdict.note[1:]}.)" if verdict.note else ""
    if said is None:
        return f"{judge}{note}".strip()
    spoke = said.spoke_for if relevant else said.spoke_against
    if not spoke:
        return f"No single word decided about it.{judge}{note}"
    named = listed([f'"{shortened(word)}" ({weight:+.1f})' for word, weight in spoke])
    if relevant:
        return (
            f"The words that made it relevant: {named}. Without them it would have got "
            f"{said.without:.2f}.{judge}{note}"
        )
    return f"The words that spoke most against it: {named}.{judge}{note}"


def _failed(page: Failed) -> Iterable[str]:
    meaning, setting = FAILURES.get(page.kind, ("it failed", ""))
    status = f", status {page.status}" if page.status else ""
    note = f": {printable(page.note)}" if page.note else ""
    when = f" on {_date(page.at)}" if page.at is not None else ""
    yield _filled(
        f"tres asked for it{when}, after {page.after:,} pages, and got none: {meaning} "
        f"({page.kind}{status}{note})."
    )
    again = "What has failed is not asked for again in this run"
    tries = f"; where trying again can help, up to {page.retries} attempts more were made at once"
    advice = f" To have it otherwise next time: {setting}." if setting else ""
    yield _filled(f"{again}{tries if page.retries else ''}.{advice}")
    yield from _where_found(page.citations, page.is_seed)


def _underway(page: Underway) -> Iterable[str]:
    if page.crawl.finished:
        yield _filled(
            "tres has asked for it and was stopped before an answer came; "
            "`tres resume` asks for it first."
        )
    else:
        yield _filled(
            "tres has asked for it, and no answer has come yet. If the crawl is not running, "
            "`tres resume` asks for it first."
        )
    yield from _where_found(page.citations, page.is_seed)


def _waiting(link: Waiting) -> Iterable[str]:
    if link.is_seed:
        yield "tres has not fetched it yet: it is a seed, and its turn has not come."
        return
    yield _filled(standing(link))
    yield from _where_found(link.citations, False)
    yield _seen(link.features, "What tres sees of it now")
    yield _kind(link.leaf, "")
    yield _filled(_site(link))
    if link.best:
        yield f"Before all others stand now:\n{_others(link.best)}"
    yield _filled(_turn(link))


def _site(link: Waiting) -> str:
    fetched = f"{link.site_pages:,} page{'s' * (link.site_pages != 1)}"
    limit = "" if link.site_cap is None else f"; a site may give {link.site_cap:,}"
    return f"Its site {printable(link.site)} has given {fetched} so far{limit}."


def _turn(link: Waiting) -> str:
    if link.crawl.pages >= link.crawl.budget:
        return (
            "The crawl has spent its budget. With `tres resume RUN --pages N` it would go on, and "
            "choose among a sample of what waits, site by site as manners allow."
        )
    return (
        "This compares all that waits; at a decision tres looks at a sample of it, and leaves out "
        "sites that were asked a moment ago."
    )


def _never(link: Never) -> Iterable[str]:
    match link.reason:
        case "site-full":
            why = f"its site has given {link.site_pages:,} pages, and a site may give {link.detail}"
        case "too-deep":
            why = f"it lies more than {link.detail} clicks from a seed (live.max_clicks)"
        case "thrown-away":
            why = (
                f"{link.detail} throws the links of pages away that are not relevant (crawl.focus)"
            )
        case "rule":
            why = RULES.get(link.detail, f"the rule {link.detail!r} forbids it")
            why = f"no link to it was let in, and none would be: {why}"
        case "unseen":
            why = "no page that was fetched links to it"
        case "unknown":
            why = "pages link to it, but it does not wait; it may have been blocked"
    yield _filled(f"tres has not fetched it and would not: {why}.")
    if link.reason == "unseen" and link.detail:
        yield _filled(
            "Or a link to it was left out: it looks like part of an endless space, of which only "
            f"so many are let in ({link.detail}; live.traps)."
        )
    if link.citations:
        yield from _where_found(link.citations, False)
    elif link.near:
        near = "\n".join(f"  {printable(url)}" for url in link.near)
        yield f"The nearest addresses that are known:\n{near}"
    else:
        yield "Nothing of its site is known."


def _where_found(cited: Sequence[Citation], is_seed: bool) -> Iterable[str]:
    if is_seed:
        yield "It is a seed."
    elif cited:
        pages = "page links" if len(cited) == 1 else "pages link"
        yield f"{how_many(len(cited)).capitalize()} fetched {pages} to it:\n{_citing(cited)}"


def _relevance(value: float, relevant: bool) -> str:
    return f"{value:.2f} {'relevant' if relevant else ''}".rstrip()


def _date(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d at %H:%M:%S} UTC"


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side, the first one to the right; a header without names is left out."""
    lines = [header, *rows] if any(header) else rows
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    told_lines = []
    for first, *rest in lines:
        cells = [first.rjust(widths[0])]
        cells += [cell.ljust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        told_lines.append(f"  {'  '.join(cells)}".rstrip())
    return "\n".join(told_lines)
