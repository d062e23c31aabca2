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

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

from tres.relevance.word_attribution import Attribution

How = Literal["seed", "search", "guess", "value", "order", "random"]
"""How a URL was chosen: as a seed; as a result of the search engine; by a first guess, before the
agent had learnt enough; by its value or another score; as the next in an order that compares
nothing; at random."""


@dataclass(frozen=True, slots=True)
class Crawl:
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


@dataclass(frozen=True, slots=True)
class Citation:
    """A fetched page that links to the URL, and the link text."""

    step: int
    url: str
    anchor: str
    relevance: float
    relevant: bool


@dataclass(frozen=True, slots=True)
class PathStep(Citation):
    """A page on the path from a seed; `anchor` is the text of the link that led to it."""

    title: str


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of a link as the policy saw it; `amount` is the value on a natural scale."""

    name: str
    value: float
    amount: float


@dataclass(frozen=True, slots=True)
class Condition:
    """`low` <= feature < `high`; None is no bound."""

    feature: str
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """The leaf of the decision tree in which a link waited, with its experience up to now."""

    id: int
    rule: str
    conditions: tuple[Condition, ...]
    fetched: int
    mean_reward: float


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """Another candidate of the same choice, its value then, and what became of it."""

    url: str
    q: float
    step: int | None
    relevant: bool | None
    failure: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """How the URL was chosen; `rank` is its place among the `candidates`."""

    how: How
    q: float | None
    rank: int | None
    candidates: int
    frontier: int
    """Links that waited after the previous step."""
    leaf: Leaf | None
    leaf_note: str
    """Why the rule of the leaf is missing, if it is."""
    runners_up: tuple[RunnerUp, ...]


@dataclass(frozen=True, slots=True)
class Consequences:
    """The links of a page, and the pages whose paths from a seed lead through it."""

    links: int
    children: int
    descendants: int
    relevant_descendants: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which model judged a page, and by which words; `telling` is None if the text is not kept."""

    model: str
    number: int
    models: int
    """Models of the run; this one was the `number`-th."""
    note: str
    telling: Attribution | None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page of the run."""

    case: ClassVar = "fetched"
    crawl: Crawl
    url: str
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


@dataclass(frozen=True, slots=True)
class Failed:
    """A URL that gave no page."""

    case: ClassVar = "failed"
    crawl: Crawl
    url: str
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


@dataclass(frozen=True, slots=True)
class InFlight:
    """Requested and not answered: under way now, or left open by a crawl that was stopped."""

    case: ClassVar = "underway"
    crawl: Crawl
    url: str
    is_seed: bool
    citations: tuple[Citation, ...]
    postponed: str = ""
    """The failure after which it was postponed; empty if it was not."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A URL that may still be chosen, ranked among the whole frontier by the policy of now."""

    case: ClassVar = "waiting"
    crawl: Crawl
    url: str
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


@dataclass(frozen=True, slots=True)
class NeverFetched:
    """Neither fetched nor waiting; `detail` names the rule or the limit."""

    case: ClassVar = "never"
    crawl: Crawl
    url: str
    reason: Reason
    detail: str
    citations: tuple[Citation, ...]
    near: tuple[str, ...]
    """Known URLs of its site that are most like it."""
    site_pages: int


Explanation = Fetched | Failed | InFlight | Waiting | NeverFetched


def facts_of(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation for JSON, with null for NaN and infinity."""
    plain: dict[str, Any] = _plain(asdict(explanation))
    return {"case": explanation.case, **plain}


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
