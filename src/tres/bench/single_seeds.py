"""Seeds for single-seed runs, as in section 3 of the paper.

A seed is a relevant page; no seed links to another one, and from each at least ten times the
budget can be reached (or nine tenths of the web, where it has not so many pages), so that a poor
result is the crawler's fault and not the seed's. By labels the choice depends on no model: every
model that is compared starts from the same pages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tres.engines.replay import Perceiving
from tres.errors import ConfigError
from tres.web.percept import Percept

REACH = 10
MOST = 0.9


def single_seeds(
    seen: Perceiving,
    relevant: Iterable[str],
    pages: int,
    size: int,
    runs: int,
    rng: np.random.Generator,
) -> list[str]:
    """`runs` seeds among the relevant URLs, for crawls of `pages` pages on a web of `size`."""
    enough = min(REACH * pages, int(MOST * size))
    chosen: list[str] = []
    for url in rng.permutation(np.array(sorted(relevant), object)).tolist():
        if _links(seen, url) and _apart(seen, url, chosen) and _reaches(seen, url, enough):
            chosen.append(url)
        if len(chosen) == runs:
            return chosen
    raise ConfigError(
        f"crawl.runs: only {len(chosen)} relevant pages are good seeds (apart from each other, "
        f"and able to reach {enough:,} pages); ask for fewer runs or fewer pages"
    )


def is_labelled(wanted: Sequence[str]) -> Callable[[Iterable[str]], bool]:
    """A test for pages whose labels are among the wanted ones, or below them."""
    below = tuple(f"{label}/" for label in wanted)

    def test(labels: Iterable[str]) -> bool:
        return any(label in wanted or label.startswith(below) for label in labels)

    return test


def _apart(seen: Perceiving, url: str, chosen: Sequence[str]) -> bool:
    """Neither links to the other."""
    own = _links(seen, url)
    return not any(other in own or url in _links(seen, other) for other in chosen)


def _reaches(seen: Perceiving, url: str, enough: int) -> bool:
    reached, queue = {url}, deque([url])
    while queue and len(reached) < enough:
        for target in _links(seen, queue.popleft()):
            if target not in reached and isinstance(seen.perceive(target), Percept):
                reached.add(target)
                queue.append(target)
    return len(reached) >= enough


def _links(seen: Perceiving, url: str) -> tuple[str, ...]:
    percept = seen.perceive(url)
    return percept.links.urls if isinstance(percept, Percept) else ()
