"""The link text model: words that led to relevant pages make links likely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from tests.support.rows import ids, outlinks
from tests.support.webs import To

from tres.frontier.link_text_model import GROWTH, PRIOR, LinkTextModel
from tres.frontier.rows import LEVEL_STEP
from tres.frontier.url_rows import UrlRows
from tres.mdp.feature_schema import EVIDENCE, NO_SIBLINGS, NO_WORDS, Schema
from tres.mdp.sites import Sites
from tres.web.link_wording import encode_wordings

UNKNOWN = 1 / (1 + np.exp(-PRIOR))


def words_of(*anchors: str) -> LinkTextModel:
    """One row for each anchor; their URLs say nothing."""
    words = LinkTextModel()
    words.add(encode_wordings([""] * len(anchors), anchors))
    return words


def rows_of(anchors: Sequence[str], schema: Schema = EVIDENCE) -> UrlRows:
    """A page that links to one URL for each anchor, in this order."""
    sites = Sites()
    sites.make_room(1)
    rows = UrlRows(schema, sites)
    links = outlinks([(url, 0, To("")) for url in range(len(anchors))], page=99)
    rows.add_links(links._replace(wordings=encode_wordings([""] * len(anchors), anchors)))
    return rows


def fetch(rows: UrlRows, url: int, relevance: float) -> set[int]:
    rows.retire(rows.of_url(url))
    return set(rows.url_ids(rows.follow(0, url, relevance)).tolist())


def probabilities(rows: UrlRows, *urls: int, routed: bool = False) -> list[float]:
    vectors = (rows.routed_vectors if routed else rows.vectors)(ids(*urls))
    return [float(value) for value in vectors[:, rows.schema.column("words_relevance")]]


def test_words_that_led_to_relevant_pages_are_likelier_than_others() -> None:
    words = words_of("loud music", "dull prices", "soft music", "high prices", "else")
    before = words.probability(ids(0, 1, 2, 3, 4))
    assert before == pytest.approx(UNKNOWN, abs=1e-6)
    words.learn(0, 1.0)
    words.learn(1, 0.0)
    _, _, music, prices, other = words.probability(ids(0, 1, 2, 3, 4)).tolist()
    assert music > other > prices


def test_one_step_worked_out_by_hand() -> None:
    words = words_of("music", "silence")
    words.learn(0, 1.0)
    error = UNKNOWN - 1.0
    step = -0.5 * error / np.sqrt(1.0 + error**2)  # of the word, and of what every link has
    margins = np.array([PRIOR + 2 * step, PRIOR + step])
    assert words.probability(ids(0, 1)) == pytest.approx(1 / (1 + np.exp(-margins)), abs=1e-6)


def test_what_is_explained_teaches_nothing_more() -> None:
    words = words_of("project manual", "manual")
    for _ in range(2_000):
        words.learn(0, 1.0)
    before = words.probability(ids(0, 1))
    words.learn(0, 1.0)
    assert before[0] > 0.95
    assert words.probability(ids(0, 1)) == pytest.approx(before, abs=1e-3)


def test_thousands_of_pages_overflow_nothing() -> None:
    words = words_of(" ".join("abcdefgh"))
    for _ in range(3_000):
        words.learn(0, 0.0)
    assert 0.0 <= words.probability(ids(0))[0] < 0.05


def test_rows_are_read_again_when_a_quarter_more_was_learnt() -> None:
    words = words_of("music")
    said = [i + 1 for i in range(30) if words.learn(0, 1.0)]
    assert said == [1, 2, 3, 4, 6, 8, 11, 14, 18, 23, 29]
    assert GROWTH == 1.25


def test_a_fetched_page_speaks_for_rows_with_the_same_words() -> None:
    rows = rows_of(["music one", "music two", "prices"])
    fetch(rows, 0, 1.0)
    music, prices = probabilities(rows, 1, 2)
    assert music > prices > UNKNOWN


def test_rows_are_sorted_anew_when_their_probability_has_moved_by_a_step_and_not_before() -> None:
    rows = rows_of([f"music {i}" for i in range(40)] + ["prices"], NO_SIBLINGS)
    moved = 0
    for url in range(39):
        before = probabilities(rows, 39, 40, routed=True)
        anew = fetch(rows, url, float(url % 2 == 0))
        after = probabilities(rows, 39, 40, routed=True)
        for row, was, now in zip((39, 40), before, after, strict=True):
            assert (was == now) or (row in anew and abs(was - now) > LEVEL_STEP)
            moved += was != now
    assert moved
    fresh = probabilities(rows, 39, 40)
    assert fresh != after
    assert fresh == pytest.approx(after, abs=2 * LEVEL_STEP)


def test_a_link_that_is_cited_again_is_read_again() -> None:
    rows = rows_of(["music", "music"])
    fetch(rows, 0, 0.4)
    assert probabilities(rows, 1) != probabilities(rows, 1, routed=True)
    rows.add_links(outlinks([(1, 0, To(""))], page=98))
    assert probabilities(rows, 1) == probabilities(rows, 1, routed=True)


def test_without_the_feature_words_change_nothing() -> None:
    rows = rows_of(["music", "music"], NO_WORDS)
    before = rows.vectors(ids(1))
    rows.retire(rows.of_url(0))
    rows.follow(0, 0, 1.0)
    changed = np.flatnonzero(rows.vectors(ids(1)) != before)
    named = {NO_WORDS.features[column] for column in np.unique(changed % NO_WORDS.width)}
    assert named <= {"siblings_relevance", "best_hub", "neighbours_relevance"}


def test_a_seed_is_described_by_its_words() -> None:
    rows = rows_of(["music", "prices"])
    fetch(rows, 0, 1.0)
    seeds = outlinks([(7, 0, To("")), (8, 0, To(""))])
    seeds = seeds._replace(wordings=encode_wordings(["", ""], ["music", "prices"]))
    music, prices = rows.seed_vectors(seeds)[:, EVIDENCE.column("words_relevance")].tolist()
    assert music > prices
