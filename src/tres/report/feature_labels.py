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
from dataclasses import dataclass
from typing import Literal

from tres.mdp.schema import COUNTS
from tres.numbers import spell_count, spell_number
from tres.report.explain.facts import Condition, Feature
from tres.web.page import FailureKind

Form = Literal["count", "yes", "distance", "share"]


@dataclass(frozen=True, slots=True)
class FeatureLabel:
    """The words for a feature; `other` are those for a count of one, or for "no"."""

    form: Form
    words: str
    other: str = ""


FEATURE_LABELS = {
    "citations": FeatureLabel("count", "fetched pages link to it", "fetched page links to it"),
    "relevant_citations": FeatureLabel(
        "count", "relevant pages link to it", "relevant page links to it"
    ),
    "site_fetched": FeatureLabel(
        "count", "pages of its site were fetched before", "page of its site was fetched before"
    ),
    "url_keyword": FeatureLabel("yes", "its address has a keyword", "its address has no keyword"),
    "anchor_keyword": FeatureLabel(
        "yes", "a link to it has a keyword", "no link to it has a keyword"
    ),
    "same_site": FeatureLabel(
        "yes", "a page of its own site links to it", "only other sites link to it"
    ),
    "parent_reward": FeatureLabel(
        "yes", "the page that links to it is relevant", "the page that links to it is not relevant"
    ),
    "site_known": FeatureLabel(
        "yes", "a page of its site was fetched before", "no page of its site was fetched before"
    ),
    "inverse_distance": FeatureLabel("distance", "distance to the last relevant page, in links"),
    "relevant_share": FeatureLabel("share", "share of relevant pages among those that link to it"),
    "parent_relevance_mean": FeatureLabel("share", "mean relevance of the pages that link to it"),
    "parent_relevance_max": FeatureLabel("share", "relevance of the best page that links to it"),
    "anchor_relevance": FeatureLabel("share", "relevance of the link text and the address"),
    "anchor_relevance_mean": FeatureLabel("share", "mean relevance of link texts and address"),
    "anchor_relevance_max": FeatureLabel("share", "relevance of the best link text"),
    "path_relevance": FeatureLabel("share", "share of relevant pages on the way to it"),
    "siblings_relevance": FeatureLabel(
        "share", "mean relevance of what links on the same pages led to"
    ),
    "neighbours_relevance": FeatureLabel(
        "share", "mean relevance of what the links next to it led to"
    ),
    "best_hub": FeatureLabel("share", "hub score of the best page that links to it"),
    "words_relevance": FeatureLabel("share", "mean relevance of what links with such words led to"),
    "site_relevance": FeatureLabel("share", "share of relevant pages on its site"),
    "page_relevance": FeatureLabel("share", "relevance of the page that links to it"),
    "relevance_change": FeatureLabel(
        "share", "how much more relevant that page is than those before it"
    ),
    "ancestors_mean": FeatureLabel("share", "mean relevance of the pages before that page"),
    "relevant_ancestors_mean": FeatureLabel(
        "share", "mean relevance of the relevant ones among them"
    ),
    "relevant_distance": FeatureLabel("share", "distance to the last relevant page (0: near)"),
    "link_relevance": FeatureLabel("share", "relevance of the link text and the address"),
    "path_mean": FeatureLabel("share", "mean relevance of all pages on the way to it"),
    "relevant_path_mean": FeatureLabel(
        "share", "mean relevance of the relevant pages on the way to it"
    ),
}

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
    label = _label(feature.name)
    match label.form:
        case "count":
            return f"{feature.amount:,.0f}", label.other if feature.amount == 1 else label.words
        case "yes":
            is_yes = feature.value > (0.75 if feature.name == "site_known" else 0.5)
            return "yes" if is_yes else "no", label.words
        case "distance":
            return f"{1 / feature.value:.0f}" if feature.value else "none", label.words
        case "share":
            return f"{feature.amount:.2f}", label.words


def format_condition(bounds: Condition) -> str:
    """Return a condition of a leaf's rule as a phrase."""
    label = _label(bounds.feature)
    match label.form:
        case "count":
            return _format_count_bounds(label, bounds)
        case "yes":
            return label.words if bounds.low is not None else label.other
        case "distance":
            return _format_distance_bounds(bounds)
        case "share":
            return f"{label.words} {_format_bounds(bounds)}"


def format_rule(rule: str) -> str:
    """Return a rule of the tree with feature names in words.

    >>> format_rule("anchor_keyword and site_relevance >= 0.62")
    'anchor keyword and site relevance ≥ 0.62'
    """
    return rule.replace("_", " ").replace("<=", "≤").replace(">=", "≥")


def _label(name: str) -> FeatureLabel:
    return FEATURE_LABELS.get(name, FeatureLabel("share", name))


def _format_count_bounds(label: FeatureLabel, bounds: Condition) -> str:
    count, forms = COUNTS[bounds.feature], (label.other, label.words)
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
