"""A link is worth what became of its siblings, the other links of the pages that cite it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.rows import ids, outlinks
from tests.support.webs import To

from tres.frontier.siblings import DOUBT, GROWTH, Siblings
from tres.frontier.url_rows import UrlRows
from tres.mdp.schema import EVIDENCE
from tres.mdp.sites import Sites


@pytest.fixture
def rows() -> UrlRows:
    sites = Sites()
    sites.make_room(1)
    return UrlRows(EVIDENCE, sites)


def cite(rows: UrlRows, page: int, *urls: int, known: tuple[int, ...] = ()) -> None:
    links = outlinks([(url, 0, To("")) for url in urls], page)
    rows.take_in(links._replace(known=ids(*known)))


def fetch(rows: UrlRows, url: int, relevance: float) -> set[int]:
    """The URL's page comes back; the URLs whose rows are to be sorted anew."""
    rows.retire(rows.of_url(url))
    moved = rows.follow(0, url, relevance)
    return set(rows.url_ids(moved).tolist())


def known_of(rows: UrlRows, url: int) -> tuple[float, float]:
    named = EVIDENCE.named(rows.vectors(rows.of_url(url))[0])
    return pytest.approx((named["siblings_relevance"], named["best_hub"]), abs=1e-6)


def test_a_fetched_page_speaks_for_the_other_links_of_the_pages_that_cite_it(rows: UrlRows) -> None:
    cite(rows, 1, 10, 11, 12)
    cite(rows, 2, 12, 13)
    assert known_of(rows, 12) == (0.5, 0.0)
    assert fetch(rows, 10, 0.9) == {11, 12}
    assert known_of(rows, 11) == ((0.9 + 0.5) / 2, 0.9 / 3)
    assert known_of(rows, 12) == ((0.9 + 0.5) / 2, 0.9 / 3)
    assert known_of(rows, 13) == (0.5, 0.0)


def test_all_citing_pages_count_for_the_share_and_the_best_one_as_hub(rows: UrlRows) -> None:
    cite(rows, 1, 10, 11, 12)
    cite(rows, 2, 12, 13)
    fetch(rows, 10, 1.0)
    fetch(rows, 11, 1.0)
    fetch(rows, 13, 0.0)
    assert known_of(rows, 12) == ((2 + 0.5) / (3 + 1), 2 / (2 + DOUBT))


def test_links_to_pages_fetched_before_speak_at_once(rows: UrlRows) -> None:
    cite(rows, 1, 10, 11)
    fetch(rows, 10, 0.8)
    cite(rows, 2, 12, known=(10, 11))  # 11 was chosen but is not there yet
    assert known_of(rows, 12) == ((0.8 + 0.5) / 2, 0.8 / 3)


def test_rows_that_wait_no_longer_are_left_alone(rows: UrlRows) -> None:
    cite(rows, 1, 10, 11, 12)
    rows.retire(rows.of_url(11))
    assert fetch(rows, 10, 1.0) == {12}


def test_a_page_tells_its_count_only_when_it_has_grown_by_a_quarter(rows: UrlRows) -> None:
    cite(rows, 1, *range(10, 60))
    told = [bool(fetch(rows, 10 + i, 1.0)) for i in range(30)]
    counts = [i + 1 for i, anew in enumerate(told) if anew]
    assert counts == [1, 2, 3, 4, 6, 8, 11, 14, 18, 23, 29]
    assert known_of(rows, 59) == (29.5 / 30, 29 / (29 + DOUBT))


def test_many_pages_at_random_against_plain_counting() -> None:
    rng = np.random.default_rng(3)
    siblings = Siblings()
    links = {page: rng.choice(40, 8, replace=False).astype(np.int32) for page in range(40, 60)}
    for page, targets in links.items():
        siblings.cite(page, targets, ids(), total=40)
    count = dict.fromkeys(links, 0)
    total = dict.fromkeys(links, 0.0)
    told = {page: (0, 0.0) for page in links}
    best = {row: (0.0, -1) for row in range(40)}
    for url in rng.permutation(40).tolist():
        relevance = float(rng.random())
        siblings.fetched(url, url, relevance)
        for page in [page for page, targets in links.items() if url in targets][::-1]:
            count[page], total[page] = count[page] + 1, total[page] + relevance
            if count[page] > GROWTH * told[page][0]:
                told[page] = count[page], total[page]
                value = total[page] / (count[page] + DOUBT)
                for row in links[page].tolist():
                    if value > best[row][0] or best[row][1] == page:
                        best[row] = value, page
    cited = np.unique(np.concatenate(list(links.values())))
    for row, (share, best_hub) in zip(cited.tolist(), siblings.evidence(cited), strict=True):
        heard = [told[page] for page, targets in links.items() if row in targets]
        pages, relevance = sum(n for n, _ in heard), sum(r for _, r in heard)
        assert share == pytest.approx((relevance + 0.5) / (pages + 1), abs=1e-5)
        assert best_hub == pytest.approx(best[row][0], abs=1e-5)
