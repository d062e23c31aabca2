"""A link is worth what became of its siblings, the other links of the pages that cite it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.rows import ids, outlinks
from tests.support.webs import To

from tres.frontier.siblings import GROWTH, PRIOR_LINKS, Siblings
from tres.frontier.url_rows import UrlRows
from tres.mdp.feature_schema import EVIDENCE
from tres.mdp.sites import Sites


@pytest.fixture
def rows() -> UrlRows:
    sites = Sites()
    sites.make_room(1)
    return UrlRows(EVIDENCE, sites)


def cite(rows: UrlRows, page: int, *urls: int, known: tuple[int, ...] = ()) -> None:
    links = outlinks([(url, 0, To("")) for url in urls], page)
    after = np.arange(len(urls), len(urls) + len(known), dtype=np.int32)
    rows.add_links(links._replace(known=ids(*known), known_places=after))


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
    assert known_of(rows, 12) == ((2 + 0.5) / (3 + 1), 2 / (2 + PRIOR_LINKS))


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
    told = [59 in fetch(rows, 10 + i, 1.0) for i in range(30)]
    counts = [i + 1 for i, anew in enumerate(told) if anew]
    assert counts == [1, 2, 3, 4, 6, 8, 11, 14, 18, 23, 29]
    assert known_of(rows, 59) == (29.5 / 30, 29 / (29 + PRIOR_LINKS))


def test_many_pages_at_random_against_plain_counting() -> None:
    rng = np.random.default_rng(3)
    siblings = Siblings()
    links = {page: rng.choice(40, 8, replace=False).astype(np.int32) for page in range(40, 60)}
    for page, targets in links.items():
        siblings.cite(outlinks([(url, 0, To("")) for url in targets], page), targets, total=40)
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
                value = total[page] / (count[page] + PRIOR_LINKS)
                for row in links[page].tolist():
                    if value > best[row][0] or best[row][1] == page:
                        best[row] = value, page
    cited = np.unique(np.concatenate(list(links.values())))
    for row, (share, best_hub, _) in zip(cited.tolist(), siblings.evidence(cited), strict=True):
        heard = [told[page] for page, targets in links.items() if row in targets]
        pages, relevance = sum(n for n, _ in heard), sum(r for _, r in heard)
        assert share == pytest.approx((relevance + 0.5) / (pages + 1), abs=1e-5)
        assert best_hub == pytest.approx(best[row][0], abs=1e-5)


def neighbours_of(rows: UrlRows, url: int) -> float:
    named = EVIDENCE.named(rows.vectors(rows.of_url(url))[0])
    return pytest.approx(named["neighbours_relevance"], abs=1e-6)


def test_only_the_links_next_to_a_fetched_one_are_its_neighbours(rows: UrlRows) -> None:
    cite(rows, 1, *range(10, 30))
    fetch(rows, 20, 0.9)
    heard = [url for url in range(10, 30) if url != 20 and neighbours_of(rows, url) != 0.5]
    assert heard == [16, 17, 18, 19, 21, 22, 23, 24]
    assert neighbours_of(rows, 16) == (0.9 + 0.5) / 2


def test_neighbours_are_updated_at_once_whatever_their_page_has_published(
    rows: UrlRows,
) -> None:
    cite(rows, 1, *range(10, 60))
    for url in range(10, 25):
        fetch(rows, url, 1.0)
    assert fetch(rows, 50, 0.0) == {46, 47, 48, 49, 51, 52, 53, 54}


def test_the_last_link_of_one_page_is_no_neighbour_of_the_first_of_the_next(rows: UrlRows) -> None:
    cite(rows, 1, 10, 11)
    cite(rows, 2, 12, 13)
    fetch(rows, 11, 0.9)
    assert neighbours_of(rows, 12) == 0.5


def test_places_count_also_where_links_are_no_actions(rows: UrlRows) -> None:
    links = outlinks([(url, 0, To("")) for url in (10, 11)], page=1)
    rows.add_links(links._replace(places=ids(0, 5)))  # between them: links to what was fetched
    fetch(rows, 10, 0.9)
    assert neighbours_of(rows, 11) == 0.5


def test_neighbours_fetched_before_the_page_was_met_speak_at_once(rows: UrlRows) -> None:
    cite(rows, 1, 10, 11, 12)
    for url, relevance in ((10, 0.8), (11, 0.2)):
        fetch(rows, url, relevance)
    links = outlinks([(url, 0, To("")) for url in (20, 21)], page=2)
    known = {"known": ids(10, 11, 12), "known_places": ids(1, 6, 7)}  # 12 is not there yet
    rows.add_links(links._replace(places=ids(0, 5), **known))
    assert neighbours_of(rows, 20) == (0.8 + 0.5) / 2
    assert neighbours_of(rows, 21) == (0.8 + 0.2 + 0.5) / 3


def test_every_page_on_which_two_links_are_neighbours_counts(rows: UrlRows) -> None:
    for page in (1, 2, 3):
        cite(rows, page, 10, 11)
    fetch(rows, 10, 1.0)
    assert neighbours_of(rows, 11) == (3 + 0.5) / (3 + 1)


class TestPruning:
    """Edges are bounded: those to rows that wait no longer go first, then the oldest."""

    @staticmethod
    def crawled(monkeypatch: pytest.MonkeyPatch, most: int) -> tuple[UrlRows, list[object]]:
        monkeypatch.setattr("tres.frontier.url_rows.MOST_EDGES", most)
        monkeypatch.setattr("tres.frontier.siblings.MOST_EDGES", most)
        sites = Sites()
        sites.make_room(1)
        rows, told = UrlRows(EVIDENCE, sites), []
        rng = np.random.default_rng(3)
        for page in range(60):
            waiting = [url for url in range(200) if len(rows.of_url(url))]
            if page and waiting:
                told.append(fetch(rows, int(rng.choice(waiting)), float(rng.random())))
            fresh = rng.choice(np.arange(page, 200), 6, replace=False).tolist()
            gone = [
                url for url in fresh if url < rows._row_of.view.size and not len(rows.of_url(url))
            ]
            cite(rows, 1000 + page, *(url for url in fresh if url not in gone))
            told.append(rows.vectors(rows.waiting).round(6).tolist())
        return rows, told

    def test_edges_to_rows_that_wait_no_longer_are_missed_by_nobody(self, monkeypatch):
        # 300 edges are enough for all that wait, not for all that were ever made.
        _, unbounded = self.crawled(monkeypatch, 10**6)
        rows, told = self.crawled(monkeypatch, 340)
        assert rows._siblings.edges < 340
        assert told == unbounded

    def test_however_few_may_be_held_the_bound_holds(self, monkeypatch):
        rows, _ = self.crawled(monkeypatch, 40)
        assert rows._siblings.edges <= 40 + 6
