"""The TF-IDF model: equal to scikit-learn's answers, without scikit-learn."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tres.errors import TrainingError
from tres.relevance.tfidf import C, TfidfModel, terms, train_tfidf
from tres.topic.text import STOP_WORDS


def test_predictions_equal_those_of_scikit_learn(pages, tfidf):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    texts, labels = pages
    vectoriser = TfidfVectorizer(
        analyzer=lambda text: [word for word in terms(text) if word not in STOP_WORDS],
        min_df=2,
        sublinear_tf=True,
    )
    regression = LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
    regression.fit(vectoriser.fit_transform(texts), labels)
    asked = [*texts, "coral reef reef reef", "Coral\nwall", "whale unheard"]

    expected = regression.predict_proba(vectoriser.transform(asked))[:, 1]

    np.testing.assert_allclose(tfidf.probabilities(asked), expected, atol=1e-5)


def test_an_answer_worked_out_by_hand():
    model = TfidfModel(
        vocabulary={"cell": 0, "wall": 1},
        idf=np.array([2, 1], np.float32),
        weights=np.array([3, -1], np.float32),
        intercept=-0.5,
        prior=0.1,
        facts={},
    )
    cell, wall = (1 + math.log(2)) * 2, 1.0  # "cell" twice, "wall" once
    logit = (3 * cell - wall) / math.hypot(cell, wall) - 0.5

    (answer,) = model.probabilities(["the cell, the cell and the wall"])

    assert answer == pytest.approx(1 / (1 + math.exp(-logit)), abs=1e-6)


def test_title_words_count_five_times_but_one_line_has_no_title():
    assert sorted(terms("cell\nwall")) == ["cell"] * 5 + ["wall"]
    assert terms("cell wall") == ["cell", "wall"]
    assert terms("\ncell") == ["cell"]


def test_answers_do_not_depend_on_the_batch_to_the_last_bit(pages, tfidf):
    texts = pages[0] * 11  # more than one internal batch, with repetitions
    texts += [f"{text} reef {number}" for number, text in enumerate(texts)]

    together = replace(tfidf).probabilities(texts)

    apart = [float(replace(tfidf).probabilities([text])[0]) for text in texts]  # no memory
    assert together.tolist() == apart


def test_stop_words_and_words_of_a_single_page_are_unknown(pages):
    texts, labels = pages
    vocabulary = train_tfidf(["the hapax\n", *texts], [True, *labels], seed=1).vocabulary

    assert "whale" in vocabulary
    assert not {"the", "hapax"} & vocabulary.keys()


@pytest.mark.parametrize("texts", [["reef", "wall"], ["", "the"]])
def test_examples_that_share_no_word_cannot_train(texts):
    with pytest.raises(TrainingError) as caught:
        train_tfidf(texts, [True, False], seed=1)

    assert caught.value.message == (
        "no word occurs in 2 of the 2 example pages; give more or longer examples"
    )
