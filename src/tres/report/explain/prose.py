"""An explanation as text: one sentence that says it all, then the story in short paragraphs.

What comes from the Web is shown harmlessly. No number is made here that the facts do not hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tres.errors import printable
from tres.relevance.model import THRESHOLD
from tres.report.explain.facts import (
    Citation,
    Decision,
    Explanation,
    Failed,
    Fetched,
    Never,
    PathStep,
    Underway,
    Verdict,
    Waiting,
)
from tres.report.explain.feature_labels import how_many
from tres.report.explain.layout import (
    citing_pages,
    counted,
    features_seen,
    filled,
    kind_of_link,
    link_row,
    listed,
    other_links,
    shortened,
    table,
)
from tres.report.explain.summary import compared, summary
from tres.report.explain.unfetched import failed, never, underway, waiting


def prose(explanation: Explanation) -> str:
    """The whole explanation for a terminal."""
    match explanation:
        case Fetched():
            parts = _fetched(explanation)
        case Failed():
            parts = failed(explanation)
        case Underway():
            parts = underway(explanation)
        case Waiting():
            parts = waiting(explanation)
        case Never():
            parts = never(explanation)
    return "\n\n".join([_name(explanation), *(part for part in parts if part)])


def _name(explanation: Explanation) -> str:
    url = printable(explanation.url)
    if isinstance(explanation, Fetched) and explanation.title:
        return f'{url}\n"{shortened(explanation.title, 80)}"'
    return url


def _fetched(page: Fetched) -> Iterator[str]:
    chosen = page.decision
    yield filled(summary(page))
    if page.asked != page.url:
        yield filled(f"It was asked for as {printable(page.asked)}, which leads there.")
    yield _way(page.path)
    yield _also_cited(page.citations[1:])
    if chosen.how not in ("seed", "search"):
        seen = "What tres saw of the link when it chose it, what set it apart first:"
        yield f"{seen}\n{features_seen(page.features)}"
    yield kind_of_link(chosen.leaf, "waited")
    if chosen.leaf_note:
        yield filled(f"The rule of its leaf cannot be told: {chosen.leaf_note}.")
    yield _compared(page)
    yield filled(outcome(page))
    yield filled(judged(page.verdict, page.relevant))


def _way(path: Sequence[PathStep]) -> str:
    links = len(path) - 1
    if not links:
        return ""
    rows = [
        link_row(
            each.step,
            each.relevance,
            each.relevant,
            f'"{shortened(each.anchor, 30)}"' if place else "(a seed)",
            printable(each.url) if place < links else "this page",
        )
        for place, each in enumerate(path)
    ]
    found = f"It was found {how_many(links)} link{'s' * (links != 1)} from a seed:"
    return f"{found}\n{table(('page', 'relevance', 'through the link', ''), rows)}"


def _also_cited(cited: Sequence[Citation]) -> str:
    if not cited:
        return ""
    pages = "page linked" if len(cited) == 1 else "pages linked"
    return f"{how_many(len(cited)).capitalize()} more {pages} to it:\n{citing_pages(cited)}"


def _compared(page: Fetched) -> str:
    chosen = page.decision
    if not chosen.runners_up or chosen.q is None:
        return ""
    kind = "guess" if chosen.how == "guess" else "value"
    first = filled(
        f"Its {kind} of {chosen.q:.3f} was the highest of {_among(chosen)}. "
        f"{meaning(page)}The next were:"
    )
    return f"{first}\n{other_links(chosen.runners_up)}"


def _among(chosen: Decision) -> str:
    of = f", of {chosen.frontier:,} that waited" if chosen.candidates < chosen.frontier else ""
    return f"{compared(chosen)}{of}"


def meaning(page: Fetched) -> str:
    """What a value is, in brackets."""
    gamma, scarcity, told = page.crawl.gamma, page.crawl.scarcity, []
    if page.decision.how == "value" and gamma is not None:
        told.append(
            f"A value is the reward that is expected: 1 for a relevant page, "
            f"and {gamma:g} of the best value that follows."
        )
    if scarcity:
        told.append(
            f"Up to {scarcity:g} is taken off for the places of a site that are gone, "
            "where more links wait than are left."
        )
    return f"({' '.join(told)}) " if told else ""


def outcome(page: Fetched) -> str:
    """What the page led to."""
    came = page.consequences
    links = f"The page has {counted(came.links, 'link')}"
    if not came.descendants:
        return f"{links}; nothing has been fetched through it."
    if came.descendants == 1:
        good = "relevant" if came.relevant_descendants else "not relevant"
        return f"{links}. One page was fetched through it, and is {good}."
    own = "" if came.children == came.descendants else f", {came.children:,} by its own links"
    return (
        f"{links}. {came.descendants:,} pages were fetched through it{own}; "
        f"{how_many(came.relevant_descendants)} of them {_are(came.relevant_descendants)} relevant."
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def judged(verdict: Verdict, relevant: bool) -> str:
    """Which words decided about the page, and who judged it."""
    told = [_words(verdict, relevant)]
    if verdict.models > 1:
        told.append(f"It was judged by model {verdict.number} of the {verdict.models} of this run.")
    if verdict.note:
        told.append(f"{verdict.note[0].upper()}{verdict.note[1:]}.")
    return " ".join(part for part in told if part)


def _words(verdict: Verdict, relevant: bool) -> str:
    said = verdict.telling
    if said is None:
        return ""
    spoke = said.spoke_for if relevant else said.spoke_against
    if not spoke:
        return "No single word of it decided about it."
    named = listed([f'"{shortened(word)}"' for word, _ in spoke])
    if not relevant:
        return f"The words that spoke most against it are {named}."
    return (
        f"The words that made it relevant are {named}; {'even ' * (said.without >= THRESHOLD)}"
        f"without them it would have got {said.without:.2f}."
    )
