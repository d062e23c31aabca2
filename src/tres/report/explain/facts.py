"""The facts about one URL of a run, as plain data.

An explanation is one of five, by what became of the URL:

    Fetched       it is a page of the run
    Failed        it was requested and gave no page
    InFlight      it was requested and has not been answered
    Waiting       it waits in the frontier, or is a seed that has not been requested yet
    NeverFetched  none of these; `reason` says why, as far as the run can tell

All of it comes from the journal. `sentences` and `layout` turn it into text, and the dashboard
lays out the same facts in its own way. `facts_of` returns them as dictionaries and lists for
JSON, with the name of the case under `case`.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from tres.relevance.word_attribution import Attribution

How = Literal["seed", "search", "guess", "value", "order", "random"]
"""How a URL was chosen: as a seed; as a result of the search engine; by a first guess, before the
agent had learnt enough; by its value or another score; as the next in an order that compares
nothing; at random."""


class Crawl(msgspec.Struct, frozen=True):
    """The run: its progress and its policy."""

    name: str
    pages: int
    budget: int
    relevant: int
    policy: str
    gamma: float | None
    """Discount factor of the values; None for policies without action values."""
    scarcity: float | None
    """Price of the last place of a site that is in demand; None without values or without a cap."""
    finished: bool
    """Whether the crawl has ended in good order."""


class Citation(msgspec.Struct, frozen=True):
    """A fetched page that links to the URL, and the link text."""

    step: int
    url: str
    anchor: str
    relevance: float
    relevant: bool
    reward: bool
    """Whether it was relevant to the crawl when it was fetched."""


class PathStep(Citation, frozen=True):
    """A page on the path from a seed; `anchor` is the text of the link that led to it."""

    title: str


class Feature(msgspec.Struct, frozen=True):
    """A feature of a link as the policy saw it; `amount` is the value on a natural scale."""

    name: str
    value: float
    amount: float


class Condition(msgspec.Struct, frozen=True):
    """`low` <= feature < `high`; None is no bound."""

    feature: str
    low: float | None
    high: float | None


class Leaf(msgspec.Struct, frozen=True):
    """The leaf of the decision tree in which a link waited, with its experience up to now."""

    id: int
    rule: str
    conditions: tuple[Condition, ...]
    fetched: int
    mean_reward: float


class RunnerUp(msgspec.Struct, frozen=True):
    """Another candidate of the same choice, its value then, and what became of it."""

    url: str
    q: float
    step: int | None
    relevant: bool | None
    failure: str | None


class Decision(msgspec.Struct, frozen=True):
    """How the URL was chosen; `rank` is its place among the `candidates`."""

    how: How
    q: float | None
    rank: int | None
    candidates: int
    frontier: int
    """Links that waited after the previous step."""
    leaf: Leaf | None = None
    leaf_note: str = ""
    """Why the rule of the leaf is missing, if it is."""
    runners_up: tuple[RunnerUp, ...] = ()


class Consequences(msgspec.Struct, frozen=True):
    """The links of a page, and the pages whose paths from a seed lead through it."""

    links: int
    children: int
    descendants: int
    relevant_descendants: int


class Verdict(msgspec.Struct, frozen=True):
    """Which model judged a page, and by which words; `telling` is None if the text is not kept."""

    model: str
    number: int
    models: int
    """Models of the run; this one was the `number`-th."""
    note: str
    telling: Attribution | None
    judged_by: str = "model"
    """Who said what the page is: a person, a teacher, or a model."""
    again: bool = False
    """Whether the model is newer than the one that judged the page when it was fetched."""
    first: float | None = None
    """The probability when it was fetched, if something else counts now."""


class UrlFacts(msgspec.Struct, frozen=True, tag_field="case"):
    """What all explanations have."""

    crawl: Crawl
    url: str


class Fetched(UrlFacts, frozen=True, tag="fetched"):
    """A page of the run."""

    asked: str
    step: int
    title: str
    site: str
    relevance: float
    relevant: bool
    path: tuple[PathStep, ...]
    citations: tuple[Citation, ...]
    """Pages known to link to it when it was chosen, its parent first."""
    features: tuple[Feature, ...]
    """Those in the leaf's rule first, then the most unusual."""
    decision: Decision
    consequences: Consequences
    verdict: Verdict
    at: float | None
    seconds: float | None


class Failed(UrlFacts, frozen=True, tag="failed"):
    """A URL that gave no page."""

    kind: str
    note: str
    status: int | None
    at: float | None
    is_seed: bool
    after: int
    """Pages fetched before."""
    retryable: bool
    """Whether another attempt could help."""
    attempts: int
    """The most attempts it was given; what has failed is not chosen again."""
    citations: tuple[Citation, ...]


class InFlight(UrlFacts, frozen=True, tag="underway"):
    """Requested and not answered: under way now, or left open by a crawl that was stopped."""

    is_seed: bool
    citations: tuple[Citation, ...]
    postponed: str = ""
    """The failure after which it was postponed; empty if it was not."""


class Waiting(UrlFacts, frozen=True, tag="waiting"):
    """A URL that may still be chosen, ranked among the whole frontier by the policy of now."""

    site: str
    is_seed: bool
    citations: tuple[Citation, ...]
    features: tuple[Feature, ...]
    """Those in the leaf's rule first, then the most unusual in the frontier."""
    q: float | None
    rank: int | None
    frontier: int
    best: tuple[RunnerUp, ...]
    """The links with the highest values now."""
    leaf: Leaf | None
    site_pages: int
    site_cap: int | None
    held: bool = False
    """Whether its site has used up its share of the budget (live.self_cited)."""


Reason = Literal[
    "blocked", "site-full", "too-deep", "thrown-away", "rule", "limited", "unseen", "unknown"
]


class NeverFetched(UrlFacts, frozen=True, tag="never"):
    """Neither fetched nor waiting; `detail` names the rule or the limit."""

    reason: Reason
    detail: str
    citations: tuple[Citation, ...]
    near: tuple[str, ...]
    """Known URLs of its site that are most like it."""
    site_pages: int


Explanation = Fetched | Failed | InFlight | Waiting | NeverFetched


def facts_of(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation for JSON, with null for NaN and infinity."""
    text = json.dumps(msgspec.to_builtins(explanation))
    plain: dict[str, Any] = json.loads(text, parse_constant=lambda constant: None)
    return plain
