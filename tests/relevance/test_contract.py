"""The contract of relevance models: every kind passes all of this, and a judge of one's own."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.errors import ModelError, TrainingError
from tres.relevance import custom_model, model_kinds
from tres.relevance.examples import Examples
from tres.relevance.model import THRESHOLD, RelevanceModel
from tres.relevance.model_kinds import MODEL_KINDS, load_model, train_model
from tres.relevance.positive_unlabelled import CrawledPage, learn_topic
from tres.relevance.static import untrained_model
from tres.relevance.training import TopicWords
from tres.relevance.word_attribution import attribute_words
from tres.settings.sections import MODELS

AGAIN = "copy the model again or train it anew"
WORDLESS = ["", " \n\t ", "\n", "... \u2014 !?", "\U0001f40b\U0001f30a", "\x00", "\u0e4f" * 9]
UNKNOWN = ["zzyzx", "生物学", "ชีวิต", "כלב", "\u1982\u1983\n\u1984\u1985 \u1986"]
NONSENSE = "qwrt\nplmk plmk"


@pytest.fixture(scope="module", params=[*MODEL_KINDS, custom_model.KIND])
def kind(request):
    return request.param


learns = pytest.mark.parametrize("kind", MODEL_KINDS, indirect=True)
"""A judge of one's own does not."""
word_by_word = pytest.mark.parametrize(
    "kind", [*sorted(MODEL_KINDS.keys() - {"transformer"}), custom_model.KIND], indirect=True
)
"""A transformer reads a word that it does not know letter by letter, and judges what it reads."""


@pytest.fixture(scope="module")
def model(kind, trained):
    return trained(kind)


@pytest.fixture
def saved(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture(scope="module")
def ragged(pages):
    """Texts of many lengths, from one word to more than a network reads."""
    pieces = [" ".join(text.split()[:n]) for n, text in enumerate(pages[0], 1)]
    return [*pieces, "\n" + pages[0][0] * 20, "Whale\nwall"]


def test_the_settings_offer_the_kinds_of_the_registry_and_auto():
    assert {*MODEL_KINDS, "auto"} == set(MODELS)


# Answers


def test_it_separates_pages_and_anchors_of_the_topic_from_others(model):
    page, other_page, anchor, other_anchor = model.probabilities(
        ["Whales\nfish and whale near the reef", "Tax\na tax law", "coral reef", "violin music"]
    )

    assert isinstance(model, RelevanceModel)
    assert min(page, anchor) > THRESHOLD > max(other_page, other_anchor)


@given(st.lists(st.text()))
def test_any_text_has_a_probability(model, texts):
    answers = model.probabilities(texts)

    assert answers.dtype == np.float32
    assert answers.shape == (len(texts),)
    assert np.all((answers >= 0) & (answers <= 1))


def test_a_batch_gives_the_answers_of_single_texts_in_its_order(model, ragged):
    alone = [float(model.probabilities([text])[0]) for text in ragged]

    np.testing.assert_allclose(model.probabilities(ragged), alone, atol=1e-6)
    np.testing.assert_allclose(model.probabilities(ragged[::-1])[::-1], alone, atol=1e-6)
    np.testing.assert_allclose(model.probabilities(ragged * 2), alone * 2, atol=1e-6)


def test_a_text_without_a_known_word_gets_the_share_of_relevant_examples(model):
    np.testing.assert_allclose(model.probabilities(WORDLESS), 30 / 120)
    np.testing.assert_allclose(model.probabilities(UNKNOWN), 30 / 120)


@word_by_word
def test_and_so_does_a_page_of_words_that_do_not_exist(model):
    np.testing.assert_allclose(model.probabilities([NONSENSE]), 30 / 120)


@pytest.mark.parametrize("kind", [*MODEL_KINDS, "auto"])
def test_but_it_is_never_relevant_even_if_most_examples_are(kind, train, pages):
    texts, labels = pages
    if kind == "auto":
        crawled = [
            CrawledPage(text, "a.example", not label) for text, label in zip(*pages, strict=True)
        ]
        model = learn_topic(crawled, untrained_model(TopicWords(("engine",))))
    else:
        model = train(kind, texts, [not label for label in labels], keywords=["engine"])

    answers = model.probabilities([*WORDLESS, *UNKNOWN])

    assert (answers < THRESHOLD).all()
    assert len(set(answers[: len(WORDLESS)].tolist())) == 1


def test_texts_without_words_do_not_affect_the_others(model, pages):
    texts = pages[0][-len(WORDLESS) :]
    mixed = [text for pair in zip(texts, WORDLESS, strict=True) for text in pair]

    np.testing.assert_allclose(
        model.probabilities(mixed)[::2], model.probabilities(texts), atol=1e-6
    )


def test_the_words_that_decide_about_a_page_can_be_attributed(model):
    found = attribute_words(model, "whale and tide\nthe coral reef by the long wall of people")

    assert found.spoke_for[0][0] in {"whale", "tide", "coral", "reef"}
    assert "wall" not in {word for word, _ in found.spoke_for[:3]}
    assert found.without < found.probability


# Training


@learns
def test_one_seed_gives_one_model(kind, train, pages, model):
    assert train(kind, *pages).digest == model.digest


@learns
def test_a_heavy_example_counts_more_than_a_light_one(kind, train, pages, monkeypatch):
    """By its weight, or by being repeated."""
    seen = []
    spy = replace(MODEL_KINDS[kind], train=lambda examples, *rest: seen.append(examples))
    monkeypatch.setitem(MODEL_KINDS, kind, spy)
    weighted = Examples(("reef", "wall", "tide"), (True, False, False), (3.0, 1.0, 1.0))

    train_model(kind, weighted, 1)

    repeated = Examples(("reef",) * 3 + ("wall", "tide"), (True,) * 3 + (False,) * 2)
    assert seen == [weighted if spy.takes_weights else repeated]


@learns
def test_some_examples_may_have_no_text(kind, train, pages):
    texts, labels = pages
    model = train(kind, [*texts, "", "\n", "", "..."], [*labels, True, True, False, False])

    predicted = model.probabilities(texts) >= THRESHOLD

    assert np.mean(predicted == np.array(labels)) > 0.9


@learns
@pytest.mark.parametrize(
    ("labels", "part"),
    [
        ([True, True], "both example pages are"),
        ([False] * 3, "none of the 3 example pages is"),
        ([False], "the only example page is not"),
        ([], "no example page is"),
    ],
)
def test_examples_of_one_class_are_refused(kind, train, labels, part):
    with pytest.raises(TrainingError) as caught:
        train(kind, ["reef reef"] * len(labels), labels)

    message = f"{part} relevant; a model needs relevant and irrelevant ones"
    assert caught.value.message == message


def test_an_unknown_kind_is_refused():
    with pytest.raises(TrainingError) as caught:
        train_model("magic", Examples((), ()), seed=1)

    valid = ", ".join(MODEL_KINDS)
    assert caught.value.message == f"'magic' is no kind of model; valid are {valid}"


# Files


def test_a_loaded_model_is_the_saved_one_and_needs_no_vectors(model, saved, pages, monkeypatch):
    monkeypatch.setenv("TRES_CACHE", str(saved / "nowhere"))
    loaded = load_model(saved)

    assert loaded.digest == model.digest
    np.testing.assert_array_equal(loaded.probabilities(pages[0]), model.probabilities(pages[0]))


def test_a_model_saved_again_has_the_same_bytes(saved, tmp_path):
    load_model(saved).save(tmp_path / "again")
    load_model(saved).save(saved)  # over itself

    for file in (tmp_path / "again").iterdir():
        assert file.read_bytes() == (saved / file.name).read_bytes()


@learns
def test_the_manifest_records_the_training(kind, model, saved):
    manifest = json.loads((saved / "model.json").read_text())

    assert (manifest["format"], manifest["kind"], manifest["digest"]) == (1, kind, model.digest)
    training = manifest["training"]
    assert (training["relevant"], training["irrelevant"], training["seed"]) == (30, 90, 3)
    assert {"numpy", "scikit-learn"} <= training["versions"].keys()


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-20], lambda b: b"", lambda b: b[:9] + b"?" + b[10:]]
)
def test_a_damaged_or_missing_file_is_named(saved, damage):
    for file in [each for each in saved.iterdir() if each.name != "model.json"]:
        if not (content := file.read_bytes()):  # the vocabulary of a judge of one's own
            continue
        file.write_bytes(damage(content))
        with pytest.raises(ModelError) as caught:
            load_model(saved)
        assert caught.value.message == (
            f"{file}: is not the file that was saved (its digest differs); {AGAIN}"
        )
        file.unlink()
        with pytest.raises(ModelError) as caught:
            load_model(saved)
        assert caught.value.message == (
            f"{file}: is missing, so {saved} holds no whole model; {AGAIN}"
        )
        file.write_bytes(content)


@learns
def test_without_its_packages_a_kind_says_what_to_install(kind, saved, monkeypatch):
    monkeypatch.setattr(model_kinds, "find_spec", lambda name: None)
    needed = MODEL_KINDS[kind]
    if not needed.extra:
        load_model(saved)
        return
    install = f"not installed: pip install 'tres-crawler[{needed.extra}]'"

    for packages, use in (
        (needed.train_packages, lambda: train_model(kind, Examples((), ()), seed=1)),
        (needed.load_packages, lambda: load_model(saved)),
    ):
        with pytest.raises(ModelError) as caught:
            use()
        assert f"need {' and '.join(packages)}, which are {install}" in caught.value.message
