"""Selection of seeds for single-seed runs, as in section 3 of the paper.

A seed is a relevant page; no seed links to another, and from each at least ten times the budget
can be reached (or nine tenths of a small web), so that a poor result is the crawler's fault and
not the seed's. With labels the selection depends on no model: all models start from the same pages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tres.engines.replay import Perceiving
from tres.errors import ConfigError
from tres.numbers import format_count
from tres.web.percept import Percept

REACH = 10
MOST = 0.9


def select_seeds(
    web: Perceiving,
    relevant: Iterable[str],
    pages: int,
    size: int,
    runs: int,
    rng: np.random.Generator,
) -> list[str]:
    """Return `runs` seeds among the relevant URLs, for crawls of `pages` pages."""
    enough = min(REACH * pages, int(MOST * size))
    chosen: list[str] = []
    for url in rng.permutation(np.array(sorted(relevant), object)).tolist():
        if _links(web, url) and _unlinked(web, url, chosen) and _reaches(web, url, enough):
            chosen.append(url)
        if len(chosen) == runs:
            return chosen
    found = format_count(len(chosen), "relevant page is", "relevant pages are")
    raise ConfigError(
        f"crawl.runs: {found} good as seeds (not linked to each other, with {enough:,} pages in "
        f"reach), and {runs} are needed; ask for fewer runs or fewer pages"
    )


def is_labelled(wanted: Sequence[str]) -> Callable[[Iterable[str]], bool]:
    """Return a test for labels that are among the wanted ones, or below them."""
    below = tuple(f"{label}/" for label in wanted)

    def test(labels: Iterable[str]) -> bool:
        return any(label in wanted or label.startswith(below) for label in labels)

    return test


def _unlinked(web: Perceiving, url: str, chosen: Sequence[str]) -> bool:
    """Does the URL neither link to a chosen one nor the reverse?"""
    own = _links(web, url)
    return not any(other in own or url in _links(web, other) for other in chosen)


def _reaches(web: Perceiving, url: str, enough: int) -> bool:
    reached, queue = {url}, deque([url])
    while queue and len(reached) < enough:
        for target in _links(web, queue.popleft()):
            if target not in reached and isinstance(web.perceive(target), Percept):
                reached.add(target)
                queue.append(target)
    return len(reached) >= enough


def _links(web: Perceiving, url: str) -> tuple[str, ...]:
    percept = web.perceive(url)
    return percept.links.urls if isinstance(percept, Percept) else ()
