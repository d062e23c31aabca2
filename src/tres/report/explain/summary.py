"""The first sentence of an explanation: what became of a URL, and why, in one breath."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tres.report.explain.facts import Citation, Decision, Fetched, How, Waiting
from tres.report.explain.feature_labels import how_many
from tres.report.explain.layout import listed, shortened
from tres.topic.text import STOP_WORDS, words

REASONS = 3
"""That are told, at most."""
HIGH = 0.6
"""From here on something sounds relevant."""
LOW = 0.3
"""Below this value a link promises little."""

SCORES = {
    "parent": "the relevance of the best page that links to it",
    "anchor": "the relevance of the words of its link",
    "ache": "among the links of the domain whose turn it was",
    "seedfinder": "among the links of the domain whose turn it was",
}
"""What a score means that is not a value."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a sentence about a choice needs to know; `reasons` are phrases, the plainest first."""

    how: How
    q: float | None
    candidates: int
    frontier: int
    policy: str
    gamma: float | None
    reasons: tuple[str, ...]


def summary(page: Fetched) -> str:
    """Why a page was fetched, and what came of it."""
    of = f"{page.crawl.budget:,}" if page.crawl.finished else f"{page.crawl.pages:,} so far"
    known = reasons({each.name: each.amount for each in page.features}, page.citations)
    chosen, crawl = page.decision, page.crawl
    choice = Choice(
        chosen.how,
        chosen.q,
        chosen.candidates,
        chosen.frontier,
        crawl.policy,
        crawl.gamma,
        tuple(known),
    )
    return f"tres fetched it as page {page.step:,} of {of}, {cause(choice)}{_result(page)}"


def cause(choice: Choice) -> str:
    """Why a link was chosen: what follows "It was fetched"."""
    match choice.how:
        case "seed":
            return "because it is one of the seeds"
        case "search":
            return "because the search engine named it"
        case "random":
            return "drawn at random to explore"
        case "order":
            return f"because it was next in the order of the policy {choice.policy}"
        case "guess":
            return f"by a first guess, as it had learnt too little yet{_why(choice)}"
        case "value":
            return _preferred(choice)


def _preferred(choice: Choice) -> str:
    assert choice.q is not None
    if choice.gamma is None:
        meaning = SCORES.get(choice.policy)
        told = f", {meaning}" if meaning else ""
        return f"because its score was the highest: {choice.q:.2f}{told}"
    best = f"best of {compared(choice)}" if choice.candidates else "best"
    if choice.q < LOW:
        return f"because it looked {best}, and still it expected little"
    return f"because it looked {best}{_why(choice)}"


def _why(choice: Choice) -> str:
    return f": {listed(choice.reasons)}" if choice.reasons else ""


def _result(page: Fetched) -> str:
    """What came of a choice, as the end of its sentence."""
    q, verdict = page.decision.q, f"{'' if page.relevant else 'not '}relevant"
    got = f"got a {'relevant page' if page.relevant else 'page that is not relevant'}"
    got = f"{got} ({page.relevance:.2f})."
    match page.decision.how:
        case "guess":
            return f". It guessed {q:.2f} and {got}"
        case "value" if page.crawl.gamma is None:
            return f". It {got}"
        case "value" if q is not None and q < LOW:
            return f": it valued the link at {q:.2f} and {got}"
        case "value":
            return f". It valued the link at {q:.2f} and {got}"
        case _:
            return f"; the page is {verdict} ({page.relevance:.2f})."


def compared(chosen: Choice | Decision) -> str:
    """What a choice was made among; links are drawn, and where few wait, some of them twice."""
    if chosen.candidates < chosen.frontier:
        return f"{chosen.candidates:,} links"
    return f"what was drawn from {chosen.frontier:,} links"


def standing(link: Waiting) -> str:
    """How a link stands that waits."""
    known = reasons({each.name: each.amount for each in link.features}, link.citations)
    why = f" What speaks for it: {listed(known)}." if known else ""
    if link.q is None or link.rank is None:
        return f"tres has not fetched it yet: it waits with {link.frontier - 1:,} other links.{why}"
    return (
        f"tres has not fetched it yet: of {link.frontier:,} links that wait it stands at place "
        f"{link.rank:,}, with a value of {link.q:.2f}.{why}"
    )


def reasons(seen: dict[str, float], cited: Sequence[Citation] | None = None) -> list[str]:
    """What spoke for a link, the plainest first.

    Where the pages that link to it have not been looked up, what the policy saw counts them.
    """
    citing = _citing(cited) if cited is not None else _citing_pages(_relevant_citations(seen))
    found = [citing, _site(seen), _siblings(seen), _keyword(seen), _words(seen)]
    return [reason for reason in found if reason][:REASONS]


def _relevant_citations(seen: dict[str, float]) -> int:
    return round(seen.get("relevant_citations", seen.get("parent_reward", 0.0)))


def _citing(cited: Sequence[Citation]) -> str:
    good = [each for each in cited if each.relevant]
    return f"{_citing_pages(len(good))}{_with_words(good)}" if good else ""


def _citing_pages(count: int) -> str:
    if not count:
        return ""
    return f"{how_many(count)} relevant {'page links' if count == 1 else 'pages link'} to it"


def _with_words(cited: Sequence[Citation]) -> str:
    """What the links say: all of a single one, or the word that most of several share."""
    counts = Counter(word for each in cited for word in set(words(each.anchor)) - STOP_WORDS)
    if len(cited) == 1:
        anchor = shortened(cited[0].anchor)
        return f' with the {"words" if " " in anchor else "word"} "{anchor}"' if counts else ""
    word, times = min(counts.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    if times < 2:
        return ""
    some = "" if times == len(cited) else f", {how_many(times)} of them"
    return f'{some} with the word "{shortened(word)}"'


def _site(seen: dict[str, float]) -> str:
    share = seen.get("site_relevance", 0.0)
    if share < HIGH:
        return ""
    if "site_fetched" not in seen:
        return f"{share:.0%} of its site's pages were relevant so far"
    pages = int(seen["site_fetched"])
    relevant = round(share * (pages + 1) - 0.5)  # as the share was made
    if pages == 1:
        return "the one page of its site that had been fetched was relevant"
    some = f"{relevant:,} of {pages:,}"
    if relevant == pages:
        some = "both" if pages == 2 else f"all {how_many(pages)}"
    return f"{some} pages of its site that had been fetched were relevant"


def _siblings(seen: dict[str, float]) -> str:
    share = seen.get("siblings_relevance", 0.0)
    if share < HIGH:
        return ""
    return f"the links beside it had led to relevant pages ({share:.2f} on average)"


def _keyword(seen: dict[str, float]) -> str:
    if seen.get("anchor_keyword"):
        return "a keyword stands in a link to it"
    return "a keyword stands in its address" if seen.get("url_keyword") else ""


def _words(seen: dict[str, float]) -> str:
    share = max(seen.get("anchor_relevance_max", 0.0), seen.get("anchor_relevance", 0.0))
    return f"the words of its link sounded relevant ({share:.2f})" if share >= HIGH else ""
