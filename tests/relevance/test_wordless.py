"""Pages without text, or without a word that a model knows: never relevant, and no trouble."""

import numpy as np
import pytest

from tres.relevance.examples import Examples
from tres.relevance.model import THRESHOLD
from tres.relevance.model_kinds import MODEL_KINDS, train_model
from tres.relevance.neural import fit_lstm
from tres.relevance.positive_unlabelled import guess_labels
from tres.relevance.training import TopicWords

WORDLESS = ["", " \n\t ", "\n", "... \u2014 !?", "\U0001f40b\U0001f30a", "\x00", "\u0e4f" * 9]
UNKNOWN = ["zzyzx", "qwrt\nplmk plmk", "生物学", "ชีวิต", "כלב"]
MOSTLY_RELEVANT = 90, 30


@pytest.fixture(scope="module", autouse=True)
def small_networks():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fit_lstm, "HIDDEN", 8)
        patch.setattr(fit_lstm, "MIN_STEPS", 60)
        yield


@pytest.fixture(scope="module", params=[*MODEL_KINDS, "auto"])
def taught(request, pages, vectors):
    """A model of each kind, taught by examples of which three quarters are relevant."""
    texts, labels = pages
    relevant = [text for text, label in zip(texts, labels, strict=True) if not label]
    other = [text for text, label in zip(texts, labels, strict=True) if label]
    assert (len(relevant), len(other)) == MOSTLY_RELEVANT
    if request.param == "auto":
        guesses = guess_labels(relevant[:10], [*relevant[10:], *other], ["engine", "law"])
        return train_model("auto", guesses, 1)
    examples = Examples.of(relevant, other)
    return train_model(request.param, examples, 1, TopicWords(("engine",), (), vectors))


def test_a_page_without_a_word_is_never_relevant(taught):
    chances = taught.probabilities(WORDLESS)

    assert np.isfinite(chances).all()
    assert (chances < THRESHOLD).all()
    assert len(set(chances.tolist())) == 1


def test_nor_is_one_without_a_known_word(taught):
    assert (taught.probabilities(UNKNOWN) < THRESHOLD).all()


def test_such_pages_do_not_disturb_the_others(taught, pages):
    texts, _ = pages
    mixed = [text for pair in zip(texts[-7:], WORDLESS, strict=True) for text in pair]

    np.testing.assert_allclose(
        taught.probabilities(mixed)[::2], taught.probabilities(texts[-7:]), atol=1e-6
    )


def test_no_text_at_all_is_no_question(taught):
    assert taught.probabilities([]).shape == (0,)


@pytest.mark.parametrize("kind", MODEL_KINDS)
def test_examples_without_text_may_be_among_the_others(kind, pages, vectors):
    texts, labels = pages
    examples = Examples.of((*texts[:30], "", "\n"), (*texts[30:], "", "..."))
    model = train_model(kind, examples, 1, TopicWords(("reef",), (), vectors))
    said = model.probabilities(texts) >= THRESHOLD

    assert np.mean(said == np.array(labels)) > 0.9
