"""Which pages of a crawl are worth a person's judgement? Orders, best page first.

- *Least sure*: pages near the threshold, whose label moves the model most (uncertainty sampling).
- *Site by site*: any order, but the best page of every site before the second best of one. A site
  repeats itself, and so do the model's doubts about it: a second page of it teaches less.
- *Influential*: pages that decide where the crawl looks. The influence of a page is the share of
  the fetched pages that was found on it, plus its share of the frontier, where a URL counts in
  equal parts for all the fetched pages that cite it. A mistake about such a page is a mistake
  about where to look; and being hubs they are seldom what the model was taught with.

`tres label` shows the least sure, site by site, in turn with the influential; what that gains over
pages at random is measured in docs/few-labels-measured.md. All orders are places in the given
sequence, and ties keep its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from tres.relevance.model import THRESHOLD

Order = list[int]


def least_sure(chances: Sequence[float]) -> Order:
    """By distance from the threshold.

    >>> least_sure([0.9, 0.4, 0.5])
    [2, 1, 0]
    """
    return sorted(range(len(chances)), key=lambda place: abs(chances[place] - THRESHOLD))


def most(values: Sequence[float]) -> Order:
    """By the largest value.

    >>> most([1, 0, 7])
    [2, 0, 1]
    """
    return sorted(range(len(values)), key=lambda place: -values[place])


def influence(
    urls: Sequence[str], parents: Iterable[str], links: Iterable[Iterable[str]]
) -> list[float]:
    """The influence of every fetched page: `parents` are the pages on which they were found,
    `links` the URLs that each of them cites.

    >>> influence(["a", "b"], ["", "a"], [["b", "c"], ["c"]])
    [1.0, 0.5]
    """
    led_to, fetched = Counter(parents), set(urls)
    waiting = [set(cited) - fetched for cited in links]
    cites = Counter(chain.from_iterable(waiting))
    return [
        led_to[url] / len(urls) + sum(1 / cites[each] for each in own) / max(1, len(cites))
        for url, own in zip(urls, waiting, strict=True)
    ]


def site_by_site(order: Sequence[int], sites: Sequence[str]) -> Order:
    """The first of every site, then the second, and so on.

    >>> site_by_site([0, 1, 2], ["a", "a", "b"])
    [0, 2, 1]
    """
    turns: Counter[str] = Counter()
    turn_of: dict[int, int] = {}
    for place in order:
        turn_of[place] = turns[sites[place]]
        turns[sites[place]] += 1
    return sorted(order, key=lambda place: turn_of[place])


def in_turn(*orders: Sequence[int]) -> Iterator[int]:
    """The best of each order, then the next of each; every page once.

    >>> list(in_turn([0, 1, 2], [2, 0, 1]))
    [0, 2, 1]
    """
    shown: set[int] = set()
    for place in chain.from_iterable(zip_longest(*orders)):
        if place is not None and place not in shown:
            shown.add(place)
            yield place
