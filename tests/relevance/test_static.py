"""The static model: TF-IDF, and the affinity to the topic's words, to the last bit."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tres.errors import ModelError, TrainingError
from tres.relevance import static
from tres.relevance.examples import Examples
from tres.relevance.model import THRESHOLD
from tres.relevance.model_files import ModelFiles
from tres.relevance.model_kinds import load_model
from tres.relevance.static import StaticModel, train_from_topic, untrained_model
from tres.relevance.training import TopicWords
from tres.topic.text import STOP_WORDS

SEA = TopicWords(("sea", "ocean"))
UNSEEN = ["the lagoon and its reef", "tides on the shore", "Seaweed\nkelp on a beach"]
FAR = ["gearbox and piston", "a mortgage of the bank", "Sonnets\nrhyme and metre"]


@pytest.fixture(scope="module")
def model(pages):
    texts, labels = pages
    return train_from_topic(Examples(tuple(texts), tuple(labels)), 3, SEA)


@pytest.fixture(scope="module")
def untrained():
    return untrained_model(SEA)


# Without examples


def test_a_topic_without_examples_knows_pages_that_use_none_of_its_words(untrained):
    near, far = untrained.probabilities(UNSEEN), untrained.probabilities(FAR)

    assert min(near) > THRESHOLD > max(far)


def test_stop_words_and_unknown_words_say_nothing(untrained):
    alone = untrained.probabilities([" ".join(sorted(STOP_WORDS)), "\u8702\u7fa4", "zzyzx", ""])

    assert len(set(alone.tolist())) == 1
    assert alone[0] < THRESHOLD


def test_stop_words_do_not_thin_a_page_out_but_other_words_do(untrained):
    plain, stopped, thinned = untrained.probabilities(
        ["octopus squid", "octopus and the squid of this", "octopus mortgage squid bank tax loan"]
    )

    assert plain == stopped > thinned


def test_a_long_page_about_the_topic_is_as_relevant_as_a_short_one(untrained):
    (once,), (often,) = (untrained.affinity([text]) for text in ("squid ship", "squid ship " * 50))

    assert once == pytest.approx(often)


# With examples


def test_a_word_that_no_example_contained_counts_if_it_is_near_the_topic(model):
    assert not {"octopus", "squid", "gearbox"} & model.vocabulary.keys()
    (octopus, squid), (gearbox,) = (
        model.log_odds(words)[0] for words in (["octopus", "squid"], ["gearbox"])
    )

    assert min(octopus, squid) > gearbox


def test_examples_teach_words_that_are_far_from_the_topic():
    texts = [f"{word} ledger {n}" for n in range(9) for word in ("quorum", "gavel")]
    taught = train_from_topic(Examples(tuple(texts), (True, False) * 9), 1, SEA)

    yes, no = taught.probabilities(["the quorum", "a gavel"])
    assert yes > THRESHOLD > no


def test_heavy_examples_count_more(pages):
    texts, labels = pages
    odd = (*texts, "tide tide tide"), (*labels, False)
    light, heavy = (
        train_from_topic(Examples(*odd, weights=(1.0,) * len(texts) + (weight,)), 1, SEA)
        for weight in (1.0, 50.0)
    )

    assert heavy.log_odds(["tide"])[0] < light.log_odds(["tide"])[0]


def test_a_topic_without_words_is_learnt_from_labels_alone(pages):
    texts, labels = pages
    model = train_from_topic(Examples(tuple(texts), tuple(labels)), 3, TopicWords())

    right = (model.probabilities(texts) >= THRESHOLD) == np.array(labels)
    assert right.mean() > 0.95
    assert model.log_odds(["octopus"])[0] > model.log_odds(["gearbox"])[0]


def test_examples_without_a_word_in_common_are_refused():
    with pytest.raises(TrainingError, match="no word occurs in 2 of the 2 example pages"):
        train_from_topic(Examples(("whale", "wall"), (True, False)), 1, SEA)


def test_what_each_word_adds_is_told(model):
    weights = model.word_weights()

    assert weights.keys() == model.vocabulary.keys()
    assert min(weights["whale"], weights["reef"]) > 0 > max(weights["tax"], weights["violin"])


# The same answer, to the last bit


@pytest.fixture(scope="module")
def asked(pages):
    """Some thousand words in pages of many lengths, and anchors."""
    rng = np.random.default_rng(3)
    made = [f"word{number} squid{number % 7}" for number in rng.integers(0, 3_000, 900)]
    return [*pages[0], *made, *UNSEEN, *FAR, "", "Whale\nwall", pages[0][0] * 30]


@pytest.fixture(scope="module", params=["trained", "untrained"])
def any_model(request, model, untrained):
    return model if request.param == "trained" else untrained


def fresh(model: StaticModel) -> StaticModel:
    """The same model, asked for nothing yet."""
    return replace(model)


def test_answers_do_not_depend_on_the_batch(any_model, asked):
    together = fresh(any_model).probabilities(asked).tolist()
    alone = fresh(any_model)

    assert [float(alone.probabilities([text])[0]) for text in asked] == together
    assert fresh(any_model).probabilities(asked[::-1]).tolist() == together[::-1]


@pytest.mark.parametrize("kept", [1, 50, 700])
def test_nor_on_what_was_asked_before_and_forgotten(any_model, asked, monkeypatch, kept):
    expected = fresh(any_model).log_odds(asked)[0].tolist()
    monkeypatch.setattr(static, "KEPT_WORDS", kept)
    small = fresh(any_model)
    small.log_odds([f"other{number} tide{number}" for number in range(2_000)])

    assert small.log_odds(asked)[0].tolist() == expected
    found = [small.log_odds([text])[0][0] for text in asked]
    assert found == expected
    assert len(small._words) <= kept + 3_000


def test_words_that_strangers_invent_do_not_fill_the_memory(untrained, monkeypatch):
    monkeypatch.setattr(static, "KEPT_WORDS", 100)
    model = fresh(untrained)
    for page in range(50):
        model.log_odds([" ".join(f"w{page}x{number}" for number in range(60))])

    assert len(model._words) <= 160
    assert len(model._words.numbers) <= 400


# Files


def test_a_loaded_model_gives_the_same_answers_to_the_last_bit(any_model, asked, tmp_path):
    any_model.save(tmp_path)
    loaded = load_model(tmp_path)

    assert loaded.digest == any_model.digest
    assert loaded.probabilities(asked).tolist() == any_model.probabilities(asked).tolist()
    loaded.save(tmp_path / "again")
    for file in (tmp_path / "again").iterdir():
        assert file.read_bytes() == (tmp_path / file.name).read_bytes()


def test_one_topic_and_one_list_of_examples_give_one_digest(pages, model):
    texts, labels = pages
    again = train_from_topic(Examples(tuple(texts), tuple(labels)), 3, SEA)

    assert again.digest == model.digest
    assert untrained_model(SEA).digest == untrained_model(SEA).digest
    assert untrained_model(TopicWords(("lake",))).digest != untrained_model(SEA).digest
    assert replace(model, strength=model.strength + 1e-9).digest != model.digest


def spoil(directory, change):
    """Change what the files of a model say, with digests that fit."""
    files = ModelFiles.read(directory)
    shutil.rmtree(directory)
    change(files).write(directory)


@pytest.mark.parametrize(
    "change",
    [
        lambda files: replace(files, vocabulary=files.vocabulary[1:]),
        lambda files: replace(files, arrays={**files.arrays, "idf": files.arrays["idf"][1:]}),
        lambda files: replace(
            files, arrays={**files.arrays, "direction": files.arrays["direction"][1:]}
        ),
        lambda files: replace(
            files, arrays={**files.arrays, "weights": files.arrays["weights"].astype(np.float64)}
        ),
        lambda files: replace(
            files, arrays={**files.arrays, "scalars": np.array([1.0, np.nan, 0.0])}
        ),
        lambda files: replace(files, arrays={**files.arrays, "more": np.zeros(1)}),
        lambda files: replace(
            files, arrays={name: a for name, a in files.arrays.items() if name != "direction"}
        ),
    ],
    ids=["words", "idf", "direction", "doubles", "no number", "one more", "one less"],
)  # fmt: skip
def test_parts_that_do_not_fit_together_are_refused(model, tmp_path, change):
    model.save(tmp_path / "model")
    spoil(tmp_path / "model", change)

    with pytest.raises(ModelError) as caught:
        load_model(tmp_path / "model")

    message = "its arrays do not fit its vocabulary; train the model anew"
    assert caught.value.message == f"{tmp_path / 'model'}: {message}"


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (b"", "it does not say which encoder it needs; train the model anew"),
        (b"{}", "it does not say which encoder it needs; train the model anew"),
        (b"[" * 100_000, "it does not say which encoder it needs; train the model anew"),
        (json.dumps({"name": "static", "digest": "0" * 64}).encode(),
         "it was trained with another encoder than the one that is called 'static' here; "
         "install what trained it, or train the model anew"),
    ],
    ids=["nothing", "no name", "nested", "another table"],
)  # fmt: skip
def test_a_model_of_another_encoder_is_refused(model, tmp_path, part, message):
    model.save(tmp_path / "model")
    spoil(tmp_path / "model", lambda files: replace(files, parts={static.ENCODER: part}))

    with pytest.raises(ModelError) as caught:
        load_model(tmp_path / "model")

    assert caught.value.message == f"{tmp_path / 'model'}: {message}"


# Other scripts

FOREIGN = {
    "Russian": (("пчела", "мёд"), "Пасека\nпчела собирает мёд", "Биржа\nцена акции и рынка"),  # noqa: RUF001
    "Chinese": (("蜜蜂", "蜂蜜"), "养蜂\n蜜蜂采集花粉酿成蜂蜜", "股市\n股票价格和债券市场"),
    "Thai": (("ผึ้ง", "น้ำผึ้ง"), "ฟาร์ม\nผึ้งเก็บน้ำหวานทำน้ำผึ้ง", "ตลาด\nราคาหุ้นและพันธบัตร"),
}


@pytest.mark.parametrize("script", FOREIGN)
def test_keywords_without_a_reliable_vector_count_where_they_occur_exactly(script):
    keywords, about, other = FOREIGN[script]
    model = untrained_model(TopicWords(keywords))

    assert model is not None
    near, far = model.probabilities([about, other])
    assert near > THRESHOLD > far


@pytest.mark.parametrize("script", FOREIGN)
def test_beside_english_keywords_too(script):
    keywords, about, other = FOREIGN[script]
    model = untrained_model(TopicWords(("bee", "honey", *keywords)))

    near, english, far = model.probabilities([about, "Bees\nhoney in a hive", other])
    assert min(near, english) > THRESHOLD > far


@pytest.mark.parametrize("script", FOREIGN)
def test_and_a_saved_model_still_knows_them(script, tmp_path):
    keywords, about, other = FOREIGN[script]
    model = untrained_model(TopicWords(keywords))
    model.save(tmp_path)

    texts = [about, other]
    assert load_model(tmp_path).probabilities(texts).tolist() == model.probabilities(texts).tolist()


@pytest.mark.parametrize("script", FOREIGN)
def test_examples_in_any_script_teach_the_model(script):
    keywords, about, other = FOREIGN[script]
    texts = [text for n in range(8) for text in (f"{about} {n}", f"{other} {n}")]
    model = train_from_topic(Examples(tuple(texts), (True, False) * 8), 1, TopicWords(keywords))

    near, far = model.probabilities([about, other])
    assert near > THRESHOLD > far
