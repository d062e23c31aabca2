"""Keyword expansion: Algorithm 1 and equation 2, worked out by hand on a small plane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.errors import ConfigError
from tres.settings.sections import TopicSection
from tres.topic.expansion import (
    WordCounts,
    expand_keywords,
    leave_one_out_cosines,
    mean_cosines,
    mean_pairwise_cosine,
)
from tres.topic.vectors.word_vectors import Space, WordVectors, principal_components, unit

DIRECTIONS = {  # degrees on the plane
    "bee": 0,
    "honey": 60,
    "hive": 30,
    "nectar": 50,
    "wasp": -20,
    "market": 180,
    "the": 30,
    "1984": 30,
    "page": 36,
    "rare": 38,
}


def plane(directions):
    angles = np.radians(list(directions.values()))
    lengths = np.arange(1, len(angles) + 1)  # cosines do not depend on them
    matrix = (np.array([np.cos(angles), np.sin(angles)]) * lengths).T.astype(np.float16)
    return WordVectors("toy", list(directions), matrix, "digest")


VECTORS = plane(DIRECTIONS)
RELEVANT = [
    "bee honey hive hive nectar the page 1984",
    "bee honey hive nectar wasp the page 1984",
    "bee wasp market rare the page 1984 mead",
]
OTHER = ["the market page", "the page of the market", "hive", "market"]


def topic(**settings):
    plain = {"min_documents": 1, "contrast": 0.0, "common_components": 0}
    return TopicSection(**({"keywords": ("bee", "honey")} | plain | settings))


def expand(vectors=VECTORS, **settings):
    return expand_keywords(topic(**settings), RELEVANT, OTHER, vectors)


# Equation 2 and the score


def test_the_threshold_is_the_mean_cosine_of_pairs_without_self_pairs():
    # cos 60 = 0.5, cos 90 = 0, cos 30 = 0.866: (0.5 + 0 + 0.866) / 3; self-pairs would give 0.637
    keywords = unit(plane({"a": 0, "b": 60, "c": 90}).vectors(["a", "b", "c"]))

    assert mean_pairwise_cosine(keywords) == pytest.approx(0.4553, abs=1e-3)


def test_the_score_is_the_mean_cosine_to_the_keywords():
    vectors = plane({"a": 0, "b": 60, "w": 30, "v": 90})
    keywords = unit(vectors.vectors(["a", "b"]))
    scores = mean_cosines(unit(vectors.vectors(["w", "v"])), keywords)

    assert scores == pytest.approx([0.8660, (0 + 0.8660) / 2], abs=1e-3)


def test_the_threshold_is_the_mean_of_what_each_keyword_has_to_the_others():
    keywords = unit(plane({"a": 0, "b": 60, "c": 90}).vectors(["a", "b", "c"]))
    own = leave_one_out_cosines(keywords)

    assert own == pytest.approx([0.25, 0.683, 0.433], abs=1e-3)
    assert own.mean() == pytest.approx(mean_pairwise_cosine(keywords), abs=1e-6)


@given(st.lists(st.integers(0, 359), min_size=2, max_size=12))
def test_the_threshold_agrees_with_the_double_sum(degrees):
    keywords = unit(plane({str(i): d for i, d in enumerate(degrees)}).matrix.astype(np.float32))
    cosines = [
        float(a @ b) for i, a in enumerate(keywords) for j, b in enumerate(keywords) if i != j
    ]

    assert mean_pairwise_cosine(keywords) == pytest.approx(np.mean(cosines), abs=1e-4)


# Algorithm 1


def test_words_between_the_keywords_are_new_keywords_best_first():
    found = expand(contrast=1.0)
    # b = cos 60 = 0.5; hive (30 degrees from both) has 0.866, nectar (50 and 10) 0.814,
    # wasp (20 and 80) 0.557; market lies opposite; the rest are no candidates

    assert found.threshold == pytest.approx(0.5, abs=1e-3)
    assert [keyword.word for keyword in found.found] == ["hive", "page", "rare", "nectar", "wasp"]
    scores = {keyword.word: keyword.score for keyword in found.found}
    assert scores["nectar"] == pytest.approx(0.8138, abs=1e-3)
    assert scores["wasp"] == pytest.approx(0.5567, abs=1e-3)


def test_stop_words_numbers_given_words_and_words_without_a_vector_do_not_qualify():
    assert {"the", "1984", "bee", "honey", "mead"}.isdisjoint(expand().words)


def test_a_new_keyword_must_occur_in_enough_relevant_examples():
    assert "rare" in expand(min_documents=1).words
    assert "rare" not in expand(min_documents=2).words
    assert expand(min_documents=3).words == ("page",)


def test_a_new_keyword_must_be_rarer_in_other_examples():
    # page: 3 of 3 against 2 of 4, twice the share; hive: 2 of 3 against 1 of 4, 2.67 times
    assert {"page", "hive"} <= set(expand(contrast=2.0).words)
    assert "page" not in expand(contrast=2.1).words
    assert "hive" in expand(contrast=2.6).words
    assert "hive" not in expand(contrast=2.7).words


def test_mean_counts_are_those_of_table_2():
    hive = next(keyword for keyword in expand().found if keyword.word == "hive")

    assert (hive.relevant, hive.other) == (pytest.approx(3 / 3), pytest.approx(1 / 4))
    found = expand(contrast=2.5)
    assert found.relevant == pytest.approx(sum(keyword.relevant for keyword in found.found))
    assert found.words == ("hive", "rare", "nectar", "wasp")
    assert found.relevant == pytest.approx((3 + 1 + 2 + 2) / 3)
    assert found.other == pytest.approx(1 / 4)


def test_an_excluded_keyword_is_gone_and_the_others_stay():
    before, after = expand(), expand(strike=("Hive", "market"))

    assert set(before.words) - set(after.words) == {"hive"}
    assert [keyword.word for keyword in after.struck] == ["hive"]
    assert after.threshold == before.threshold


def test_a_keyword_without_a_vector_is_reported_and_left_out():
    found = expand(keywords=("bee", "honey", "apiculture"))

    assert found.without_vector == ("apiculture",)
    assert [word for word, _ in found.given] == ["bee", "honey"]
    assert found.threshold == pytest.approx(0.5, abs=1e-3)


def test_a_phrase_has_the_mean_of_its_words_without_stop_words():
    # "honey of the bee" points to 30 degrees: cosines 0.866 to both keywords, 0.5 between them
    found = expand(phrases=("honey of the bee",))

    assert [word for word, _ in found.given] == ["bee", "honey", "honey of the bee"]
    assert found.threshold == pytest.approx((0.866 + 0.866 + 0.5) / 3, abs=1e-3)


def test_a_phrase_with_an_unknown_word_takes_no_part():
    assert expand(phrases=("bee mead",)).without_vector == ("bee mead",)


def test_keywords_that_are_one_word_count_once():
    assert [word for word, _ in expand(keywords=("bee", "Bee", "honey")).given] == ["bee", "honey"]


def test_words_of_any_script_can_be_keywords():
    vectors = plane({"пчела": 0, "мёд": 60, "улей": 30, "и": 30})
    russian = topic(keywords=("Пчела", "мёд"), contrast=2.0)
    found = expand_keywords(russian, ["Пчела и мёд, улей"], ["и", "и"], vectors)

    assert found.words == ("улей",)  # "and" is no stop word here, but it is everywhere


@pytest.mark.parametrize(
    ("keywords", "some"),
    [(("qwxz", "mead"), "none"), (("bee", "mead"), "only 'bee'"), (("bee", "Bee"), "only 'bee'")],
)
def test_fewer_than_two_usable_keywords_are_refused(keywords, some):
    with pytest.raises(ConfigError) as caught:
        expand(keywords=keywords)
    number = len({keyword.lower() for keyword in keywords})
    assert caught.value.exit_code == 2
    assert caught.value.message == (
        f"topic.keywords: {some} of {number} has a word vector in toy, and expansion needs two; "
        "add common words of the topic, or set topic.expand = false"
    )


def test_no_candidate_is_no_error():
    found = expand_keywords(topic(), [""], OTHER, VECTORS)

    assert (found.words, found.candidates, found.relevant) == ((), 0, 0)


# The space


def test_common_components_are_removed():
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(500, 6)) * [1, 1, 1, 1, 1, 9] + [0, 0, 0, 0, 5, 0]
    vectors = WordVectors("toy", [f"w{i}" for i in range(500)], matrix.astype(np.float16), "d")
    space = Space.of(vectors, 1)
    found = space.words([f"w{i}" for i in range(500)])

    assert abs(space.common[5, 0]) > 0.9
    assert np.abs(found @ space.common).max() < 1e-5
    assert np.abs(found.mean(axis=0)).max() < 0.1
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(500), abs=1e-5)


def test_without_common_components_the_space_is_as_it_was():
    words = ["bee", "honey", "hive"]

    np.testing.assert_allclose(
        Space.of(VECTORS, 0).words(words), unit(VECTORS.vectors(words)), atol=1e-6
    )


def test_principal_components_are_orthonormal_and_largest_first():
    rows = np.random.default_rng(2).normal(size=(400, 3)).astype(np.float32) * [1, 5, 3]
    found = principal_components(rows.astype(np.float32), 2)

    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-5)
    assert np.abs(found).argmax(axis=0).tolist() == [1, 2]


def test_a_word_without_a_vector_stays_nowhere():
    assert not Space.of(VECTORS, 1).words(["qwxz"]).any()


def test_counts_of_no_texts_are_zero():
    assert WordCounts.of([]).mean("bee") == WordCounts.of([]).share("bee") == 0
