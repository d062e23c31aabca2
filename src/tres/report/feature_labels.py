"""Features, conditions on them, and failures in plain words.

A feature has one of four forms, which decides how its values and its bounds are written:

    count      3  relevant pages link to it         at least two relevant pages link to it
    yes        yes  its address has a keyword       its address has no keyword
    distance   2  distance to a relevant page ...   a relevant page is at most three links back
    share      0.83  share of relevant pages ...    share of relevant pages ... at least 0.62

A feature that is not in the table, as of somebody else's policy, is a share by its own name.
"""

from __future__ import annotations

import math

from tres.mdp.feature_schema import COUNTS
from tres.numbers import spell_count, spell_number
from tres.report.explain.facts import Condition, Feature
from tres.web.page import FailureKind

COUNT_LABELS = {
    "citations": ("fetched page links to it", "fetched pages link to it"),
    "relevant_citations": ("relevant page links to it", "relevant pages link to it"),
    "site_fetched": (
        "page of its site was fetched before",
        "pages of its site were fetched before",
    ),
}
"""What is counted: for one, and for several."""

YES_LABELS = {
    "url_keyword": ("its address has a keyword", "its address has no keyword"),
    "anchor_keyword": ("a link to it has a keyword", "no link to it has a keyword"),
    "same_site": ("a page of its own site links to it", "only other sites link to it"),
    "parent_reward": (
        "the page that links to it is relevant",
        "the page that links to it is not relevant",
    ),
    "site_known": (
        "a page of its site was fetched before",
        "no page of its site was fetched before",
    ),
}
"""What is the case, or is not."""

DISTANCE = "inverse_distance"

SHARE_LABELS = {
    DISTANCE: "distance to the last relevant page, in links",
    "relevant_share": "share of relevant pages among those that link to it",
    "parent_relevance_mean": "mean relevance of the pages that link to it",
    "parent_relevance_max": "relevance of the best page that links to it",
    "anchor_relevance": "relevance of the link text and the address",
    "anchor_relevance_mean": "mean relevance of link texts and address",
    "anchor_relevance_max": "relevance of the best link text",
    "path_relevance": "share of relevant pages on the way to it",
    "siblings_relevance": "mean relevance of what links on the same pages led to",
    "neighbours_relevance": "mean relevance of what the links next to it led to",
    "best_hub": "hub score of the best page that links to it",
    "words_relevance": "mean relevance of what links with such words led to",
    "site_relevance": "share of relevant pages on its site",
    "page_relevance": "relevance of the page that links to it",
    "relevance_change": "how much more relevant that page is than those before it",
    "ancestors_mean": "mean relevance of the pages before that page",
    "relevant_ancestors_mean": "mean relevance of the relevant ones among them",
    "relevant_distance": "distance to the last relevant page (0: near)",
    "link_relevance": "relevance of the link text and the address",
    "path_mean": "mean relevance of all pages on the way to it",
    "relevant_path_mean": "mean relevance of the relevant pages on the way to it",
}
"""What a number measures."""

REMEDIES = {
    FailureKind.TOO_LARGE: "raise live.max_bytes",
    FailureKind.SITE_CAP: "raise crawl.max_per_site",
    FailureKind.SITE_BLOCKED: "do not block its site",
    FailureKind.BLOCKED_ADDRESS: "name its network in live.allow, if it is yours",
    FailureKind.TIMEOUT: "raise live.timeout",
    FailureKind.NEAR_DUPLICATE: "set live.near_duplicates = false",
    FailureKind.KEYWORD_STUFFING: "raise live.keyword_density",
    FailureKind.OTHER_LANGUAGE: "name its language in live.languages",
}
"""What to change so that a failure does not happen again, where a setting decides."""

RULES = {
    "exclude": "it matches a pattern of live.exclude",
    "include": "it matches no pattern of live.include",
    "file": "its address ends like that of a file that is not a page (live.traps)",
    "long": "its address is too long (live.traps)",
    "deep": "its address has too many parts (live.traps)",
    "parameters": "its address has too many parameters (live.traps)",
    "repetition": "its address repeats itself, as in an endless space (live.traps)",
    "calendar": "its address looks like part of an endless calendar (live.traps)",
}


def value_and_label(feature: Feature) -> tuple[str, str]:
    """Return the value of a feature, and what it is the value of."""
    name, value = feature.name, feature.value
    if name in COUNT_LABELS:
        return f"{feature.amount:,.0f}", COUNT_LABELS[name][feature.amount != 1]
    if name in YES_LABELS:
        is_yes = value > (0.75 if name == "site_known" else 0.5)
        return "yes" if is_yes else "no", YES_LABELS[name][0]
    label = SHARE_LABELS.get(name, name)
    if name == DISTANCE:
        return f"{1 / value:.0f}" if value else "none", label
    return f"{feature.amount:.2f}", label


def format_condition(bounds: Condition) -> str:
    """Return a condition of a leaf's rule as a phrase."""
    name = bounds.feature
    if name in COUNT_LABELS:
        return _format_count_bounds(bounds)
    if name in YES_LABELS:
        return YES_LABELS[name][bounds.low is None]
    if name == DISTANCE:
        return _format_distance_bounds(bounds)
    return f"{SHARE_LABELS.get(name, name)} {_format_bounds(bounds)}"


def format_rule(rule: str) -> str:
    """Return a rule of the tree with feature names in words.

    >>> format_rule("anchor_keyword and site_relevance >= 0.62")
    'anchor keyword and site relevance ≥ 0.62'
    """
    return rule.replace("_", " ").replace("<=", "≤").replace(">=", "≥")


def _format_count_bounds(bounds: Condition) -> str:
    count, forms = COUNTS[bounds.feature], COUNT_LABELS[bounds.feature]
    low = 0 if bounds.low is None else math.ceil(count(bounds.low))
    if bounds.high is None:
        return f"at least {spell_count(low, *forms)}"
    high = math.ceil(count(bounds.high)) - 1
    if low == high:
        return spell_count(low, *forms)
    if low:
        return f"{spell_number(low)} to {spell_count(high, *forms)}"
    return f"at most {spell_count(high, *forms)}"


def _format_distance_bounds(bounds: Condition) -> str:
    if bounds.low is not None and bounds.low > 0:
        links = spell_count(math.floor(1 / bounds.low), "link")
        return f"a relevant page is at most {links} back on the way to it"
    if bounds.high is None:
        return "any distance from a relevant page"
    links = spell_count(math.floor(1 / bounds.high), "link")
    return f"no relevant page within {links} back on the way to it"


def _format_bounds(bounds: Condition) -> str:
    if bounds.high is None:
        return f"at least {bounds.low:.3g}"
    if bounds.low is None:
        return f"below {bounds.high:.3g}"
    digits = 3
    while f"{bounds.low:.{digits}g}" == f"{bounds.high:.{digits}g}" and digits < 9:
        digits += 1
    return f"between {bounds.low:.{digits}g} and {bounds.high:.{digits}g}"
