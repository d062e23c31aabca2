"""What there is to say about one URL of a run, as plain data.

An explanation is one of five, by what became of the URL:

    Fetched    it is a page of the run, and why it was chosen can be told
    Failed     it was asked for and gave no page
    Underway   it has been asked for and has not come back
    Waiting    it waits in the frontier, or is a seed whose turn has not come
    Never      it is none of these, and perhaps one can say why

Everything is as the journal has it; what is text for people is made elsewhere (`prose`), so a
page of a dashboard may show the same facts in its own way. `facts_of` gives them as plain
dictionaries and lists for JSON, with `case` as the name of the explanation in lower case.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from tres.relevance.word_attribution import Attribution

How = Literal["seed", "search", "guess", "value", "order", "random"]
"""Why a URL was chosen: it is a seed; a search engine named it; by a first guess, before the
agent had learnt enough; by the agent's value, or another score; as the next in an order that
compares nothing; at random."""


@dataclass(frozen=True, slots=True)
class Crawl:
    """The run: how far it is, and who chooses."""

    name: str
    pages: int
    budget: int
    relevant: int
    policy: str
    gamma: float | None
    """Weight of what follows in a value; None for policies without values of this kind."""
    scarcity: float | None
    """What the last place of a site costs for which more links wait; None without a cap, too."""
    finished: bool
    """Has it come to an orderly end?"""


@dataclass(frozen=True, slots=True)
class Citation:
    """A fetched page that links to the URL, and what the link says."""

    step: int
    url: str
    anchor: str
    relevance: float
    relevant: bool


@dataclass(frozen=True, slots=True)
class PathStep:
    """A page on the way from a seed, with the anchor of the link that led to it."""

    step: int
    url: str
    title: str
    anchor: str
    relevance: float
    relevant: bool


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that the policy saw of a link: `amount` is the value as people count it."""

    name: str
    value: float
    amount: float


@dataclass(frozen=True, slots=True)
class Condition:
    """A feature lies from `low` on (None: from anywhere) and below `high` (None: no bound)."""

    feature: str
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """The leaf of the decision tree in which a link waited; its experience is that of by now."""

    id: int
    rule: str
    conditions: tuple[Condition, ...]
    fetched: int
    mean_reward: float


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """A link that was offered as well, its value then, and what became of it."""

    url: str
    q: float
    step: int | None
    relevant: bool | None
    failure: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """How the URL was chosen. `rank` is its place among the `candidates` that were compared."""

    how: How
    q: float | None
    rank: int | None
    candidates: int
    frontier: int
    """Links that waited after the step before."""
    leaf: Leaf | None
    leaf_note: str
    """Why there is no rule to tell, though there was a leaf."""
    runners_up: tuple[RunnerUp, ...]


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a page brought: its links, and the pages whose web paths lead through it."""

    links: int
    children: int
    descendants: int
    relevant_descendants: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who judged a page, and by which words. `telling` is None if its text is not there."""

    model: str
    number: int
    models: int
    """The run has had so many models; this one was the `number`-th."""
    note: str
    telling: Attribution | None


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page of the run."""

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
    """Pages known to link to it when it was chosen, the one it was found through first."""
    features: tuple[Feature, ...]
    """Those of the leaf's rule first, then by how unusual they were."""
    decision: Decision
    consequences: Consequences
    verdict: Verdict
    at: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Failed:
    """A URL that gave no page."""

    crawl: Crawl
    url: str
    kind: str
    note: str
    status: int | None
    at: float | None
    is_seed: bool
    after: int
    """Pages that had been fetched by then."""
    retryable: bool
    """Could trying again help?"""
    attempts: int
    """How often it was tried at most, all at once: what has failed is not chosen again."""
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Underway:
    """Asked for, and not come back: on its way now, or owed by a crawl that was stopped."""

    crawl: Crawl
    url: str
    is_seed: bool
    citations: tuple[Citation, ...]
    postponed: str = ""
    """The last failure of its site, after which it went back to wait; empty if there was none."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A URL that may still be chosen; scored as the policy stands now, beside all that wait."""

    crawl: Crawl
    url: str
    site: str
    is_seed: bool
    citations: tuple[Citation, ...]
    features: tuple[Feature, ...]
    """Those of the leaf's rule first, then by how unusual they are among what waits."""
    q: float | None
    rank: int | None
    frontier: int
    best: tuple[RunnerUp, ...]
    """What would be chosen first if all were compared now."""
    leaf: Leaf | None
    site_pages: int
    site_cap: int | None
    held: bool = False
    """Has its site had the share of the budget that its endorsers allow?"""


Reason = Literal[
    "blocked", "site-full", "too-deep", "thrown-away", "rule", "limited", "unseen", "unknown"
]


@dataclass(frozen=True, slots=True)
class Never:
    """Neither fetched nor waiting; `detail` is the name of the rule, or the limit."""

    crawl: Crawl
    url: str
    reason: Reason
    detail: str
    citations: tuple[Citation, ...]
    near: tuple[str, ...]
    """Known URLs that look most like it."""
    site_pages: int


Explanation = Fetched | Failed | Underway | Waiting | Never


def facts_of(explanation: Explanation) -> dict[str, Any]:
    """An explanation for JSON; a number that is none is null."""
    plain: dict[str, Any] = _plain(asdict(explanation))
    return {"case": type(explanation).__name__.lower(), **plain}


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
