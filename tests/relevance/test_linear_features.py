"""Word weights and logits: those of the TF-IDF model, and never learnt from the page itself."""

import numpy as np
import pytest

from tres.relevance.neural.keyword_counts import KeywordCounter
from tres.relevance.neural.linear_features import FOLDS, fit_linear_models
from tres.relevance.neural.word_table import RaggedRows, WordTable
from tres.relevance.tfidf import train_tfidf
from tres.relevance.training import stratified_folds
from tres.topic.text import words


@pytest.fixture(scope="module")
def vocabulary(pages):
    return sorted({word for text in pages[0] for word in words(text)})


@pytest.fixture(scope="module")
def learnt(pages, vocabulary):
    return fit_linear_models(*pages, vocabulary, seed=1)


def rows(texts, vocabulary):
    table = WordTable(vocabulary, np.zeros((len(vocabulary), 1), np.float16))
    return table.network_and_linear_rows(texts)[1]


def test_logits_are_those_of_the_tfidf_model(pages, vocabulary, learnt):
    linear, _ = learnt
    texts = [*pages[0], "coral reef reef", "Whale\nwall wall"]

    said = linear.logits(rows(texts, vocabulary), np.full(len(texts), FOLDS))

    expected = train_tfidf(*pages, seed=1).probabilities(texts)
    np.testing.assert_allclose(1 / (1 + np.exp(-said)), expected, atol=1e-4)


def test_words_of_the_topic_have_positive_features_and_others_negative_ones(vocabulary, learnt):
    column = dict(zip(vocabulary, learnt[0].word_features()[-1].tolist(), strict=True))

    assert column["whale"] > 0.3 > -0.3 > column["tax"]
    assert column["the"] == 0
    assert abs(np.std([value for value in column.values() if value]) - 1) < 0.2


def test_the_features_of_a_page_come_from_models_fitted_without_it(pages, vocabulary, learnt):
    """Change the text of all pages of a fold: that fold's weights lean on none of them."""
    texts, labels = pages
    linear, fold_of = learnt
    swapped = [
        not label if fold == 4 else label for label, fold in zip(labels, fold_of, strict=True)
    ]

    again, folds_again = fit_linear_models(texts, labels, vocabulary, seed=1)
    np.testing.assert_array_equal(again.weights, linear.weights)
    np.testing.assert_array_equal(folds_again, fold_of)
    truth = np.array(swapped)
    from tres.relevance.neural.linear_features import _fit, _vectorise

    _, idf, matrix = _vectorise(texts, vocabulary)
    honest = _fit(matrix, idf, np.array(labels), fold_of != 4)
    lied_to = _fit(matrix, idf, truth, fold_of != 4)
    np.testing.assert_array_equal(honest[0], lied_to[0])
    assert not np.array_equal(linear.weights[4], linear.weights[-1])


def test_the_logit_of_a_text_without_a_known_word_is_zero(learnt):
    linear, _ = learnt
    nothing = RaggedRows(np.empty(0, np.int32), np.zeros(2, np.int64))

    assert linear.logits(nothing, np.array([0, FOLDS])).tolist() == [0, 0]


def test_every_fold_has_its_share_of_both_classes():
    truth = np.array([True] * 20 + [False] * 50)
    dealt = stratified_folds(truth, 5, np.random.default_rng(1))

    assert np.bincount(dealt[truth]).tolist() == [4] * 5
    assert np.bincount(dealt[~truth]).tolist() == [10] * 5


def test_keywords_are_counted_as_whole_words_and_phrases():
    counter = KeywordCounter(["cell", "DNA", "open-source"], ["natural selection"])

    assert counter.count("cells cell dna dna".split()) == (3, 2)
    assert counter.count("natural selection natural selection of nature".split()) == (2, 1)
    assert counter.count("open source open space".split()) == (1, 1)
    assert counter.count([]) == (0, 0)


def test_keyword_features_worked_out_by_hand():
    counter = KeywordCounter(["cell", "gene"])

    numbers = counter.features([["cell", "cell", "gene", "wall"], []])

    np.testing.assert_allclose(numbers[0], [np.log(4) / 3, 3 / 4, np.log(3) / 2], rtol=1e-6)
    np.testing.assert_array_equal(numbers[1], [0, 0, 0])
    assert counter.features([]).shape == (0, 3)
