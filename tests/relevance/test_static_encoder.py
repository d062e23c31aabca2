"""The static encoder: the sum of the vectors of the words, exactly, whatever comes with it."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tres.errors import ModelError
from tres.relevance.encoders import sources, static_table
from tres.relevance.encoders.encoder import Encoder
from tres.relevance.encoders.sources import load_encoder
from tres.relevance.encoders.static_table import StaticEncoder
from tres.relevance.tfidf import TITLE_WEIGHT, terms

TOKENS = ["[UNK]", "whale", "reef", "##s", "##boat", "tax", "zürich", "cafe", "whaleboats"]
PIECES = len(TOKENS) - 1
FACTS = {"licence": "Apache-2.0", "source": "a test"}


@pytest.fixture
def encoder():
    """Six dimensions; the last token is a whole word, never a piece."""
    rng = np.random.default_rng(2)
    rows = rng.integers(-127, 128, (len(TOKENS), 6), dtype=np.int8)
    rows[0] = 0
    scales = rng.random(len(TOKENS)).astype(np.float32)
    return StaticEncoder("tiny", TOKENS, rows, scales, PIECES, FACTS)


def vector(encoder, word):
    return encoder.word_vectors([word])[0]


def unit(x):
    return x / np.linalg.norm(x)


def test_it_is_an_encoder(encoder):
    assert isinstance(encoder, Encoder)
    assert encoder.dimension == 6
    assert encoder.encode([]).shape == (0, 6)


def test_a_text_is_the_sum_of_its_words_with_length_one(encoder):
    (text,) = encoder.encode(["Whale, tax!"])

    np.testing.assert_allclose(text, unit(vector(encoder, "whale") + vector(encoder, "tax")), 1e-6)


def test_a_repeated_word_counts_as_in_tf_idf(encoder):
    (text,) = encoder.encode(["whale reef whale whale"])

    expected = (1 + np.log(3)) * vector(encoder, "whale") + vector(encoder, "reef")
    np.testing.assert_allclose(text, unit(expected), 1e-6)


def test_words_of_a_title_count_more(encoder):
    (page,) = encoder.encode(["whale\nreef"])

    expected = (1 + np.log(TITLE_WEIGHT)) * vector(encoder, "whale") + vector(encoder, "reef")
    np.testing.assert_allclose(page, unit(expected), 1e-6)


def test_a_word_without_a_row_is_the_sum_of_its_pieces(encoder):
    reef, boat, s = (vector(encoder, "reef"), encoder._rows.matrix[4], encoder._rows.matrix[3])

    np.testing.assert_allclose(vector(encoder, "reefboats"), reef + boat + s, 1e-6)


def test_a_whole_word_with_a_row_is_not_split_and_is_no_piece(encoder):
    np.testing.assert_array_equal(vector(encoder, "whaleboats"), encoder._rows.matrix[8])
    assert encoder.word_pieces == tuple(TOKENS[:PIECES])
    np.testing.assert_allclose(
        vector(encoder, "whaleboatsboats"),
        vector(encoder, "whale") + sum(encoder._rows.matrix[place] for place in (4, 3, 4, 3)),
        1e-6,
    )


def test_a_word_in_crumbs_has_no_vector(encoder):
    assert vector(encoder, "whaleboatsboat").any()  # whale ##boat ##s ##boat
    assert not vector(encoder, "whaleboatss").any()  # whale ##boat ##s ##s


@pytest.mark.parametrize(("written", "token"), [("ZÜRICH", "zürich"), ("Café", "cafe")])
def test_accents_are_dropped_only_if_the_table_does_not_know_them(encoder, written, token):
    np.testing.assert_array_equal(*encoder.encode([written, token]))
    assert encoder.encode([written]).any()


def test_a_text_without_a_known_word_is_zeros(encoder):
    assert not encoder.encode(["", "...", "qqq", "whalex", "s" * 101]).any()
    assert not encoder.word_vectors(["qqq"]).any()


def test_counted_words_give_the_same(encoder):
    texts = ["whale\nreef tax", "tax tax", ""]
    counts = [{word: terms(text).count(word) for word in terms(text)} for text in texts]

    np.testing.assert_array_equal(encoder.encode_counts(counts), encoder.encode(texts))


def many_texts():
    rng = np.random.default_rng(1)
    endings = ["", "s", "boat", "boats", "ss", "sboat", "q"]
    words = [f"{a}{b}" for a in ("whale", "reef", "tax", "cafe") for b in endings]
    return [" ".join(rng.choice(words, size)) for size in rng.integers(1, 60, 80)]


def test_neither_batch_nor_order_nor_history_changes_a_bit(encoder, monkeypatch):
    texts = many_texts()
    together = encoder.encode(texts)

    np.testing.assert_array_equal(np.concatenate([encoder.encode([t]) for t in texts]), together)
    np.testing.assert_array_equal(encoder.encode(texts[::-1])[::-1], together)
    monkeypatch.setattr(static_table, "KEPT_WORDS", 30)  # it forgets words all the time
    monkeypatch.setattr(static_table, "MOST_WORDS", 30)
    arrays = encoder._arrays
    forgetful = StaticEncoder("x", TOKENS, arrays["rows"], arrays["scales"], PIECES, FACTS)
    np.testing.assert_array_equal(forgetful.encode(texts), together)


def test_of_a_text_with_endless_words_the_first_count(encoder, monkeypatch):
    monkeypatch.setattr(static_table, "MOST_WORDS", 3)

    np.testing.assert_array_equal(*encoder.encode(["whale reef tax cafe", "whale reef tax"]))


def test_a_saved_table_is_the_same(encoder, tmp_path):
    encoder.save(tmp_path / "table")
    loaded = load_encoder(str(tmp_path / "table"))

    assert loaded.digest == encoder.digest
    assert loaded.facts == FACTS
    np.testing.assert_array_equal(loaded.encode(many_texts()), encoder.encode(many_texts()))


def test_the_digest_is_that_of_the_parameters(encoder):
    rows, scales = encoder._arrays["rows"], encoder._arrays["scales"]

    def digest(*args):
        return StaticEncoder("other", *args).digest

    assert digest(TOKENS, rows, scales, PIECES, {}) == encoder.digest
    others = [
        digest(TOKENS[::-1], rows, scales, PIECES, FACTS),
        digest(TOKENS, rows, scales * 2, PIECES, FACTS),
        digest(TOKENS, -rows, scales, PIECES, FACTS),
        digest(TOKENS, rows, scales, PIECES - 1, FACTS),
    ]
    assert len({encoder.digest, *others}) == 5


@pytest.mark.parametrize("name", ["vocabulary.txt", "weights.npz", "model.json"])
def test_a_damaged_file_is_refused(encoder, tmp_path, name):
    encoder.save(tmp_path)
    content = bytearray((tmp_path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name).write_bytes(content)

    with pytest.raises(ModelError, match=name):
        load_encoder(str(tmp_path))


@pytest.mark.parametrize(
    "changed",
    [
        {"rows": np.zeros((len(TOKENS), 6), np.float32)},
        {"rows": np.zeros((3, 6), np.int8)},
        {"rows": np.zeros(len(TOKENS), np.int8)},
        {"rows": np.zeros((len(TOKENS), 0), np.int8)},
        {"scales": np.full(len(TOKENS), np.nan, np.float32)},
        {"scales": np.ones(3, np.float32)},
        {"pieces": np.array([len(TOKENS) + 1])},
        {"pieces": np.array([1, 2])},
        {"more": np.zeros(1)},
    ],
)
def test_arrays_that_do_not_fit_are_refused(encoder, tmp_path, changed):
    encoder._arrays |= changed
    encoder.save(tmp_path)

    with pytest.raises(ModelError, match="holds no table of tokens"):
        load_encoder(str(tmp_path))


def test_a_model_is_no_encoder(tfidf, tmp_path):
    tfidf.save(tmp_path)

    with pytest.raises(ModelError, match="holds no table of tokens"):
        load_encoder(str(tmp_path))


@pytest.fixture(scope="module")
def built_in():
    return load_encoder("static")


def test_the_table_of_tres_knows_what_words_mean(built_in):
    cello, violin, tax, cellists = built_in.encode(["cello", "violin", "income tax", "cellists"])

    assert cello @ violin > 0.3 > cello @ tax
    assert cellists @ violin > cellists @ tax
    assert not built_in.encode(["the of and"]).any()


def test_the_table_of_tres_says_where_it_comes_from(built_in):
    assert built_in.name == "static"
    assert built_in.facts["source"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert built_in.facts["licence"] == "Apache-2.0"
    manifest = json.loads((sources.TABLE / "model.json").read_text())
    assert built_in.digest == manifest["digest"]


def test_numpy_alone_serves_it():
    program = (
        "import sys; from tres.relevance.encoders.sources import load_encoder;"
        "assert load_encoder('static').encode(['whale reef']).any();"
        "print({'torch', 'onnxruntime', 'tokenizers', 'sklearn', 'onnx'} & sys.modules.keys())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert run.stdout == "set()\n"
