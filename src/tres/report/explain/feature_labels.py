"""Features, rules and failures in words that need no explanation.

Features come in four forms, and each says its values and its bounds in its own way:

    count      3 relevant pages link to it          at least 2 relevant pages link to it
    yes or no  a keyword stands in its address      no keyword stands in its address
    distance   a relevant page lies 2 links back    a relevant page lies at most 3 links back
    share      0.83  relevant share of its site     relevant share of its site at least 0.62

A feature that is not in the table, as of a policy of somebody else, is a share by its own name.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from tres.mdp.schema import COUNTS
from tres.report.explain.facts import Condition, Feature
from tres.web.page import FailureKind

Form = Literal["count", "yes", "distance", "share"]


@dataclass(frozen=True, slots=True)
class Said:
    """How a feature is told: its form, its words, and those for one page or for no."""

    form: Form
    words: str
    other: str = ""


FEATURES = {
    "citations": Said("count", "fetched pages link to it", "fetched page links to it"),
    "relevant_citations": Said("count", "relevant pages link to it", "relevant page links to it"),
    "site_fetched": Said(
        "count", "pages of its site were fetched before", "page of its site was fetched before"
    ),
    "url_keyword": Said(
        "yes", "a keyword stands in its address", "no keyword stands in its address"
    ),
    "anchor_keyword": Said(
        "yes", "a keyword stands in a link to it", "no keyword stands in the links to it"
    ),
    "same_site": Said("yes", "a page of its own site links to it", "only other sites link to it"),
    "parent_reward": Said(
        "yes", "the page that links to it is relevant", "the page that links to it is not relevant"
    ),
    "site_known": Said(
        "yes", "something of its site was fetched before", "nothing of its site was fetched before"
    ),
    "inverse_distance": Said(
        "distance",
        "a relevant page lies {} back on the way to it",
        "relevant page lies on the way to it",
    ),
    "relevant_share": Said("share", "relevant share of the pages that link to it"),
    "parent_relevance_mean": Said("share", "mean relevance of the pages that link to it"),
    "parent_relevance_max": Said("share", "relevance of the best page that links to it"),
    "anchor_relevance": Said("share", "relevance of the words of the link and of the address"),
    "anchor_relevance_mean": Said("share", "mean relevance of the words of links and address"),
    "anchor_relevance_max": Said("share", "relevance of the words of the best link to it"),
    "path_relevance": Said("share", "relevant share of the pages on the way to it"),
    "siblings_relevance": Said("share", "mean relevance of what links on the same pages led to"),
    "neighbours_relevance": Said("share", "mean relevance of what the links next to it led to"),
    "best_hub": Said("share", "worth of the best page that links to it as a list of good links"),
    "words_relevance": Said("share", "mean relevance that the words of such links promise"),
    "site_relevance": Said("share", "relevant share of its site"),
    "page_relevance": Said("share", "relevance of the page that links to it"),
    "relevance_change": Said("share", "how much more relevant that page is than those before it"),
    "ancestors_mean": Said("share", "mean relevance of the pages before that page"),
    "relevant_ancestors_mean": Said("share", "mean relevance of the relevant ones among them"),
    "relevant_distance": Said("share", "how far back the last relevant page lies (0: near)"),
    "link_relevance": Said("share", "relevance of the words of the link and of the address"),
    "path_mean": Said("share", "mean relevance of all pages on the way to it"),
    "relevant_path_mean": Said("share", "mean relevance of the relevant pages on the way to it"),
}

REMEDIES = {
    FailureKind.TOO_LARGE: "raise live.max_bytes",
    FailureKind.SITE_CAP: "raise crawl.max_per_site",
    FailureKind.SITE_BLOCKED: "leave its site unblocked",
    FailureKind.BLOCKED_ADDRESS: "name its network in live.allow, if it is yours",
    FailureKind.TIMEOUT: "raise live.timeout",
    FailureKind.NEAR_DUPLICATE: "set live.near_duplicates = false",
    FailureKind.KEYWORD_STUFFING: "raise live.keyword_density",
    FailureKind.OTHER_LANGUAGE: "name its language in live.languages",
}
"""What decides about a kind of failure, where anything does."""

RULES = {
    "exclude": "it matches a pattern of live.exclude",
    "include": "it matches no pattern of live.include",
    "file": "its address ends like that of a file that is no page (live.traps)",
    "long": "its address is too long (live.traps)",
    "deep": "its address has too many parts (live.traps)",
    "parameters": "its address has too many parameters (live.traps)",
    "repetition": "its address repeats itself, as in an endless space (live.traps)",
    "calendar": "its address looks like a leaf of an endless calendar (live.traps)",
}

_NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()


def how_many(count: int) -> str:
    """A small number as a word."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def told(feature: Feature) -> tuple[str, str]:
    """The value of a feature, and what it is the value of."""
    said = FEATURES.get(feature.name, Said("share", feature.name))
    match said.form:
        case "count":
            return f"{feature.amount:,.0f}", said.other if feature.amount == 1 else said.words
        case "yes":
            return ("yes", said.words) if _is_yes(feature) else ("no", said.words)
        case "distance" if feature.value:
            return f"{1 / feature.value:.0f}", said.words.format("so many links")
        case "distance":
            return "none", said.other
        case "share":
            return f"{feature.amount:.2f}", said.words


def _is_yes(feature: Feature) -> bool:
    return feature.value > (0.75 if feature.name == "site_known" else 0.5)


def condition(bounds: Condition) -> str:
    """A condition of a rule, as a phrase."""
    said = FEATURES.get(bounds.feature, Said("share", bounds.feature))
    match said.form:
        case "count":
            return _counted(said, bounds)
        case "yes":
            return said.words if bounds.low is not None else said.other
        case "distance":
            return _placed(said, bounds)
        case "share":
            return f"{said.words} {_between(bounds)}"


def _counted(said: Said, bounds: Condition) -> str:
    count = COUNTS[bounds.feature]
    low = 0 if bounds.low is None else math.ceil(count(bounds.low))
    if bounds.high is None:
        return f"at least {how_many(low)} {said.other if low == 1 else said.words}"
    high = math.ceil(count(bounds.high)) - 1
    if low == high:
        return f"{how_many(low)} {said.other if low == 1 else said.words}"
    if low:
        return f"{how_many(low)} to {how_many(high)} {said.words}"
    return f"at most {how_many(high)} {said.other if high == 1 else said.words}"


def _placed(said: Said, bounds: Condition) -> str:
    if bounds.low is not None and bounds.low > 0:
        links = math.floor(1 / bounds.low)
        return said.words.format(f"at most {how_many(links)} link{'s' * (links != 1)}")
    links = math.floor(1 / bounds.high) if bounds.high else 0
    return f"no relevant page lies within {how_many(links)} links back on the way to it"


def _between(bounds: Condition) -> str:
    if bounds.high is None:
        return f"at least {bounds.low:.3g}"
    if bounds.low is None:
        return f"below {bounds.high:.3g}"
    digits = 3
    while f"{bounds.low:.{digits}g}" == f"{bounds.high:.{digits}g}" and digits < 9:
        digits += 1
    return f"between {bounds.low:.{digits}g} and {bounds.high:.{digits}g}"
