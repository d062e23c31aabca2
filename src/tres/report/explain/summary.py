"""The first sentence of an explanation: what became of a URL, and why, in one breath."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tres.report.explain.facts import Citation, Decision, Fetched, Waiting
from tres.report.explain.layout import listed, shortened
from tres.report.explain.saying import how_many
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


def summary(page: Fetched) -> str:
    """Why a page was fetched, and what came of it."""
    of = f"{page.crawl.budget:,}" if page.crawl.finished else f"{page.crawl.pages:,} so far"
    begun = f"tres fetched it as page {page.step:,} of {of}"
    verdict = "relevant" if page.relevant else "not relevant"
    match page.decision.how:
        case "seed":
            because = "because it is one of the seeds"
        case "search":
            because = "because the search engine named it"
        case "random":
            because = "drawn at random to explore"
        case "order":
            because = f"because it was next in the order of the policy {page.crawl.policy}"
        case "guess" | "value":
            return f"{begun}, {_preferred(page)}"
    return f"{begun}, {because}; the page is {verdict} ({page.relevance:.2f})."


def _preferred(page: Fetched) -> str:
    chosen = page.decision
    assert chosen.q is not None
    known = reasons({each.name: each.amount for each in page.features}, page.citations)
    why = f": {listed(known)}" if known else ""
    got = f"got a {'' if page.relevant else 'page that is not '}relevant"
    got = f"{got} page ({page.relevance:.2f})" if page.relevant else f"{got} ({page.relevance:.2f})"
    if chosen.how == "guess":
        return (
            f"by a first guess, as it had learnt too little yet{why}. "
            f"It guessed {chosen.q:.2f} and {got}."
        )
    if page.crawl.gamma is None:
        return f"because its score was the highest: {chosen.q:.2f}{_score(page)}. It {got}."
    best = f"best of {compared(chosen)}" if chosen.candidates else "best"
    if chosen.q < LOW:
        return (
            f"because it looked {best}, and still it expected little: it valued the link at "
            f"{chosen.q:.2f} and {got}."
        )
    return f"because it looked {best}{why}. It valued the link at {chosen.q:.2f} and {got}."


def compared(chosen: Decision) -> str:
    """What a choice was made among; links are drawn, and where few wait, some of them twice."""
    if chosen.candidates < chosen.frontier:
        return f"{chosen.candidates:,} links"
    return f"what was drawn from {chosen.frontier:,} links"


def _score(page: Fetched) -> str:
    meaning = SCORES.get(page.crawl.policy)
    return f", {meaning}" if meaning else ""


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


def reasons(seen: dict[str, float], cited: Sequence[Citation]) -> list[str]:
    """What spoke for a link, the plainest first."""
    found = [_citing(cited), _site(seen), _siblings(seen), _keyword(seen), _words(seen)]
    return [reason for reason in found if reason][:REASONS]


def _citing(cited: Sequence[Citation]) -> str:
    good = [each for each in cited if each.relevant]
    if not good:
        return ""
    links = "relevant page links" if len(good) == 1 else "relevant pages link"
    return f"{how_many(len(good))} {links} to it{_with_words(good)}"


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
