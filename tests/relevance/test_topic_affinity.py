"""The affinity of words: near the topic's own, whether or not anybody has named them."""

import numpy as np
import pytest

from tres.relevance.static import static_encoder, untrained_model
from tres.relevance.topic_affinity import topic_affinity
from tres.relevance.training import TopicWords

BEES = TopicWords(("bee", "honey"))


@pytest.fixture(scope="module")
def encoder():
    return static_encoder()


def affinity(words, topic, encoder):
    return topic_affinity(topic, encoder).of_words(words).tolist()


def test_words_near_the_topic_count_though_nobody_has_named_them(encoder):
    hive, nectar, market, bond = affinity(["hive", "nectar", "market", "bond"], BEES, encoder)

    assert min(hive, nectar) > 0.05
    assert market == bond == 0.0


def test_stop_words_and_words_without_a_vector_do_not_count(encoder):
    topic = TopicWords(("the", "bee"), description="all about the bee")

    assert affinity(["the", "about", "all", "\u8702\u7fa4", ""], topic, encoder) == [0.0] * 5


def test_a_description_names_words_as_keywords_do_but_less_firmly(encoder):
    described = TopicWords(description="Bees, and the honey that they make")
    mixed = TopicWords(("bond", "market"), description="Bees and honey")

    assert affinity(["hive"], described, encoder)[0] > 0.05
    market, hive = affinity(["market", "hive"], mixed, encoder)
    assert market > hive


def test_the_words_of_a_phrase_count_together(encoder):
    phrase = TopicWords(phrases=("stock market",))

    assert min(affinity(["shares", "trading"], phrase, encoder)) > 0.05


def test_no_single_keyword_matters_much(encoder):
    """Without one of ten the others still find what that one named."""
    all_ten = "species animal bird mammal cell gene plant insect evolution organism".split()
    found = [
        affinity(["bacteria", "genome", "fish"], TopicWords(tuple(some)), encoder)
        for some in ([word for word in all_ten if word != left_out] for left_out in all_ten)
    ]

    assert np.min(found) > 0.0


def test_a_word_has_one_affinity_whatever_is_asked_with_it(encoder):
    words = [f"{word}{end}" for word in ("bee", "hive", "tax", "reef") for end in ("", "s", "ing")]

    together = affinity(words, BEES, encoder)

    assert [affinity([word], BEES, encoder)[0] for word in words] == together
    assert affinity(words[::-1], BEES, encoder) == together[::-1]


def test_the_order_of_keywords_hardly_matters_and_repeating_them_in_a_sentence_not_at_all(encoder):
    one, other = (
        topic_affinity(TopicWords(order), encoder).direction
        for order in (("bee", "honey"), ("honey", "bee"))
    )
    once, twice = (
        topic_affinity(TopicWords(description=text), encoder).direction
        for text in ("bees make honey", "Bees make honey, bees make honey!")
    )

    np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_array_equal(once, twice)


def test_a_keyword_that_falls_apart_into_crumbs_counts_where_it_occurs_and_nowhere_else(encoder):
    exact, near, crumbs = affinity(
        ["postgresql", "sql", "mongodb"], TopicWords(("postgresql", "sql")), encoder
    )

    assert exact >= near > 0.0
    assert crumbs == 0.0


@pytest.mark.parametrize(
    "topic",
    [
        TopicWords(),
        TopicWords(("!", "?")),
        TopicWords(description="... !"),
        TopicWords(phrases=("-",)),
    ],
    ids=["nothing", "signs", "a description of signs", "a phrase of signs"],
)
def test_a_topic_without_any_word_has_no_model(topic):
    assert untrained_model(topic) is None
