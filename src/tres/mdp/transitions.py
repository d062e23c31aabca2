"""What passes between the session and a policy: outlinks, a choice, a step.

These are the learner's own terms: ids and numbers, no strings and no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tres.mdp.columns import Flags, Floats, Ids
from tres.mdp.paths import NONE, PathFeatures
from tres.web.link_wording import NO_WORDINGS, Wordings

NO_PATH = PathFeatures(0.0, 0.0, 0.0)
"""The path of a seed, which nobody linked to: zero state features (section 2.4.2)."""


NO_IDS: Ids = np.empty(0, np.int32)


class Outlinks(NamedTuple):
    """The links of one fetched page that are actions now: their targets may be fetched.

    Every array has one entry per link; URLs are distinct. `anchors` are for baselines that
    read words (`tres.policies.ache`); it is empty where nobody kept them.
    """

    page: int
    relevance: float
    relevant: bool
    path: PathFeatures
    urls: Ids
    sites: Ids
    same_site: Flags
    url_keyword: Flags
    anchor_keyword: Flags
    anchor_relevance: Floats
    anchors: tuple[str, ...] = ()
    places: Ids = NO_IDS
    """Where on the page the links stand: 0 is the first one."""
    known: Ids = NO_IDS
    """Links whose targets were chosen before: no actions, but they tell what the page links to."""
    known_places: Ids = NO_IDS
    wordings: Wordings = NO_WORDINGS
    """The words of the links, for learners whose schema reads them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An action (v, u) that a policy has taken out of its frontier, and why.

    `features` is x(s, a) as it was when the choice was made; it becomes the experience
    sample. `q` is not a number for a policy that does not score; `leaf` is -1 for a
    policy without a tree. `candidates` are the rows that were looked at for it, and `rivals`
    the best of the others: what the choice was preferred to.
    """

    url: int
    site: int
    page: int
    features: Floats
    q: float = float("nan")
    leaf: int = NONE
    explored: bool = False
    candidates: int = 0
    rivals: tuple[tuple[int, float], ...] = ()
    """URL ids and their Q, best first; empty for a policy that compares nothing."""

    @property
    def is_seed(self) -> bool:
        """Seeds stand on no page."""
        return self.page == NONE


@dataclass(frozen=True, slots=True)
class Step:
    """One page retrieved and judged: the choice, its reward, and the actions it opened.

    `site` is the site the page was found on, which after a redirect is not the choice's.
    """

    choice: Choice
    site: int
    reward: float
    outlinks: Outlinks

    @property
    def experience(self) -> float:
        """The reward as experience: a seed is relevant by definition (section 2.4.2)."""
        return 1.0 if self.choice.is_seed else self.reward
