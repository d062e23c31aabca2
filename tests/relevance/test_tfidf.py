"""The TF-IDF model: equal to scikit-learn's answers, without scikit-learn."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.errors import TrainingError
from tres.relevance.model import THRESHOLD
from tres.relevance.tfidf import C, TfidfModel, terms, train_tfidf
from tres.topic.text import STOP_WORDS


def test_it_tells_the_topic_from_the_rest(model):
    sea, rest = model.probabilities(["Whales\nfish and whale near the reef", "a tax law"])

    assert sea > 0.8
    assert rest < 0.2


def test_serving_equals_scikit_learn(pages, model):
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

    np.testing.assert_allclose(model.probabilities(asked), expected, atol=1e-5)


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


def test_a_text_without_a_known_word_gets_the_prior_the_share_of_relevant_examples(model):
    answers = model.probabilities(["", "\n", "zzz unheard", "the and of"])

    np.testing.assert_allclose(answers, 30 / 120)


def test_the_prior_is_below_the_threshold_even_if_most_examples_are_relevant():
    model = train_tfidf(["sea wave"] * 9 + ["tax law"] * 2, [True] * 9 + [False] * 2, seed=1)

    assert model.probabilities(["unheard"])[0] < THRESHOLD


def test_answers_are_float32_probabilities_in_order_and_none_for_none(model):
    assert model.probabilities([]).shape == (0,)
    answers = model.probabilities(["coral", "tax", "coral"])
    assert answers.dtype == np.float32
    assert answers[0] == answers[2] > answers[1]


def test_the_size_of_a_batch_changes_nothing(pages, model):
    texts = pages[0] * 11  # more than one internal batch, with repetitions
    texts += [f"{text} reef {number}" for number, text in enumerate(texts)]

    together = replace(model).probabilities(texts)

    apart = [float(replace(model).probabilities([text])[0]) for text in texts]  # no memory
    assert together.tolist() == apart


@given(st.lists(st.text()))
def test_any_text_has_a_probability(model, texts):
    answers = model.probabilities(texts)

    assert answers.shape == (len(texts),)
    assert np.all((answers >= 0) & (answers <= 1))


def test_training_twice_gives_the_same_model(pages, model):
    assert train_tfidf(*pages, seed=3).digest == model.digest


def test_stop_words_and_words_of_a_single_page_are_unknown(pages):
    texts, labels = pages
    vocabulary = train_tfidf(["the hapax\n", *texts], [True, *labels], seed=1).vocabulary

    assert "whale" in vocabulary
    assert not {"the", "hapax"} & vocabulary.keys()


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        (
            ["a reef", "a reef"],
            [True, True],
            "2 of 2 example pages are relevant; a model needs relevant and irrelevant ones",
        ),
        (
            [],
            [],
            "0 of 0 example pages are relevant; a model needs relevant and irrelevant ones",
        ),
        (
            ["reef", "wall"],
            [True, False],
            "no word occurs in 2 of the 2 example pages; give more or longer examples",
        ),
        (
            ["", "the"],
            [True, False],
            "no word occurs in 2 of the 2 example pages; give more or longer examples",
        ),
    ],
)
def test_examples_that_cannot_train(texts, labels, message):
    with pytest.raises(TrainingError) as caught:
        train_tfidf(texts, labels, seed=1)

    assert caught.value.message == message
