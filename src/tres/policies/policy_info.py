"""What a policy declares about itself, beside its code.

Everything that another room must know about a policy stands here: the settings resolve
`features = "auto"` by it, snapshots store its types, `tres explain` speaks its words, comparisons
keep policies apart that know the answers. A policy declares it as its class attribute `info`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Need = Literal["web graph", "search engine"]
"""Knowledge that no crawl of the live Web has."""

REFUSALS: dict[Need, str] = {
    "web graph": "needs to know every page beforehand",
    "search engine": "needs a search engine, which is simulated over an archive",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyInfo:
    """What a policy is, needs and means; every field has a neutral default."""

    summary: str = ""
    """How it chooses, in one line."""
    reads_features: bool = True
    """Whether it looks at the features of links; `features = "auto"` spares them otherwise."""
    q_values: bool = False
    """Whether its values are those of the agent: expected rewards, comparable between links."""
    score_meaning: str = ""
    """What its highest score means, for explain: "the relevance of its link text"."""
    obeys_focus: bool = False
    """Whether `focus = "hard"` makes it throw away the links of irrelevant pages."""
    needs: tuple[Need, ...] = ()
    """Knowledge without which it cannot crawl: it is refused on the live Web."""
    snapshot_types: tuple[type, ...] = ()
    """Immutable classes whose instances it keeps (named tuples, frozen dataclasses)."""


NEUTRAL = PolicyInfo()
"""Of a policy that declares nothing, or whose package is not installed here."""
