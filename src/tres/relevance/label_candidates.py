"""Which pages of a crawl should a person label? Active learning, as rankings of pages.

- *Least sure*: pages near the threshold, whose label changes the model most (uncertainty sampling).
- *Site by site*: any ranking, but the best page of every site before the second best of any. Pages
  of a site are alike, and so are the model's doubts about them: a second one teaches less.
- *Influential*: pages that decide where the crawl goes. The influence of a page is the share of
  the fetched pages that were found on it, plus its share of the frontier, where a URL counts in
  equal parts for all the fetched pages that link to it. A mistake about such a page sends the
  crawl the wrong way; and such hubs are rarely among the training examples.

`tres label` alternates between the least sure, site by site, and the influential;
docs/few-labels-measured.md measures the gain over random pages. Rankings are positions in the
given sequence, best first, and ties keep its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from tres.relevance.model import THRESHOLD

Ranking = list[int]


def least_sure(probabilities: Sequence[float]) -> Ranking:
    """Rank by distance from the threshold.

    >>> least_sure([0.9, 0.4, 0.5])
    [2, 1, 0]
    """
    return sorted(range(len(probabilities)), key=lambda i: abs(probabilities[i] - THRESHOLD))


def largest_first(values: Sequence[float]) -> Ranking:
    """Rank by value.

    >>> largest_first([1, 0, 7])
    [2, 0, 1]
    """
    return sorted(range(len(values)), key=lambda i: -values[i])


def influence(
    urls: Sequence[str], parents: Iterable[str], links: Iterable[Iterable[str]]
) -> list[float]:
    """The influence of every fetched page.

    `parents` are the pages on which they were found, `links` the URLs that each of them links to.

    >>> influence(["a", "b"], ["", "a"], [["b", "c"], ["c"]])
    [1.0, 0.5]
    """
    children, fetched = Counter(parents), set(urls)
    waiting = [set(targets) - fetched for targets in links]
    citations = Counter(chain.from_iterable(waiting))
    return [
        children[url] / len(urls)
        + sum(1 / citations[each] for each in own) / max(1, len(citations))
        for url, own in zip(urls, waiting, strict=True)
    ]


def site_by_site(ranking: Sequence[int], sites: Sequence[str]) -> Ranking:
    """The first page of every site, then the second of every site, and so on.

    >>> site_by_site([0, 1, 2], ["a", "a", "b"])
    [0, 2, 1]
    """
    pages_of_site: Counter[str] = Counter()
    rank_in_site: dict[int, int] = {}
    for page in ranking:
        rank_in_site[page] = pages_of_site[sites[page]]
        pages_of_site[sites[page]] += 1
    return sorted(ranking, key=lambda page: rank_in_site[page])


def alternate(*rankings: Sequence[int]) -> Iterator[int]:
    """The best page of each ranking, then the next of each; every page once.

    >>> list(alternate([0, 1, 2], [2, 0, 1]))
    [0, 2, 1]
    """
    chosen: set[int] = set()
    for page in chain.from_iterable(zip_longest(*rankings)):
        if page is not None and page not in chosen:
            chosen.add(page)
            yield page
