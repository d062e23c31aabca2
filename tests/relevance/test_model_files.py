"""Saved models: what is loaded is what was saved, or is refused by name."""

import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from tres.errors import ModelError
from tres.relevance.model_kinds import MODEL_KINDS, load_model

AGAIN = "copy the model again or train it anew"


@pytest.fixture
def saved(tfidf, tmp_path):
    directory = tmp_path / "models" / "sea"
    tfidf.save(directory)
    return directory


def refusal(directory):
    with pytest.raises(ModelError) as caught:
        load_model(directory)
    assert caught.value.exit_code == 2
    return caught.value.message


def change_manifest(directory, **changes):
    path = directory / "model.json"
    manifest = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: manifest[key] for key in manifest if key != "checksum"}))


def test_a_manifest_with_a_changed_letter_is_refused(saved):
    path = saved / "model.json"
    path.write_text(path.read_text().replace('"tres"', '"tris"'))
    assert refusal(saved) == f"{path}: is damaged (it is not what was written); {AGAIN}"


def put(directory, name, content):
    """Replace a file and make the manifest vouch for it."""
    import hashlib

    (directory / name).write_bytes(content)
    sums = json.loads((directory / "model.json").read_text())["sha256"]
    change_manifest(directory, sha256=sums | {name: hashlib.sha256(content).hexdigest()})


def test_a_directory_that_cannot_be_written(tfidf, tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(ModelError) as caught:
        tfidf.save(tmp_path / "file")

    assert caught.value.message == (
        f"{tmp_path / 'file'}: the model cannot be written (File exists); "
        "free some space or name another directory"
    )


def test_a_foreign_directory(tmp_path):
    assert refusal(tmp_path).startswith(f"{tmp_path / 'model.json'}: is missing")
    assert refusal(tmp_path / "nowhere").startswith(
        f"{tmp_path / 'nowhere' / 'model.json'}: is mis"
    )


@pytest.mark.parametrize("content", [b"", b"{", b'{"format": 1}', b"\xff", b"[" * 100_000])
def test_a_damaged_manifest(saved, content):
    (saved / "model.json").write_bytes(content)

    assert refusal(saved) == f"{saved / 'model.json'}: is damaged; {AGAIN}"


@pytest.mark.parametrize("content", ["[]", "3", '{"name": "npm package"}'])
def test_a_manifest_of_something_else(saved, content):
    (saved / "model.json").write_text(content)

    assert refusal(saved) == (
        f"{saved / 'model.json'}: is not the manifest of a tres model; name a directory with one"
    )


def test_a_model_of_another_format(saved):
    change_manifest(saved, format=2)

    assert refusal(saved) == (
        f"{saved / 'model.json'}: has format 2, this version of tres reads format 1; "
        "train the model anew or use the version that wrote it"
    )


def test_a_model_of_an_unknown_kind(saved):
    change_manifest(saved, kind="oracle")

    assert refusal(saved) == (
        f"{saved / 'model.json'}: is a model of the unknown kind 'oracle'; "
        f"this version of tres knows {', '.join(MODEL_KINDS)}"
    )


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


class Bomb:
    """Unpickling this would fail the test, and could do anything else as well."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


@pytest.mark.parametrize(
    "content", [b"junk", pickle.dumps(Bomb()), npz(idf=np.array([Bomb()], dtype=object))]
)
def test_arrays_are_never_unpickled(saved, content):
    put(saved, "weights.npz", content)

    assert refusal(saved).startswith(f"{saved / 'weights.npz'}: holds no arrays (")


def npy(shape, numbers=b""):
    """An array that says it has this shape."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + numbers


def zipped(*pieces):
    """A zip file with one array in it, in pieces."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file,
        file.open("idf.npy", "w", force_zip64=True) as member,
    ):
        for piece in pieces:
            member.write(piece)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "shape", ["(10**15,)", "(1000000000000000,)", "(9999999999, 9999999999)", "(-1,)", "(" * 999]
)
def test_arrays_that_claim_to_be_large_are_refused(saved, shape):
    put(saved, "weights.npz", zipped(npy(shape, bytes(8))))

    assert refusal(saved).startswith(f"{saved / 'weights.npz'}: holds no arrays (")


def test_arrays_that_unpack_to_more_than_a_model_has(saved, monkeypatch):
    monkeypatch.setattr("tres.relevance.model_files.MOST_BYTES", 20_000_000)
    put(saved, "weights.npz", zipped(npy("(6000000,)"), *[bytes(1_000_000)] * 24))

    tracemalloc.start()
    try:
        message = refusal(saved)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "weights.npz: holds no arrays (they take 24,0" in message
    assert most < 5_000_000


def test_files_that_are_too_large_together(saved, monkeypatch):
    size = sum(file.stat().st_size for file in saved.iterdir() if file.name != "model.json")
    monkeypatch.setattr("tres.relevance.model_files.MOST_BYTES", size - 1)

    assert "it holds more than" in refusal(saved)


def test_arrays_that_do_not_fit_the_vocabulary(saved):
    put(saved, "vocabulary.txt", b"one\ntwo\n")

    assert refusal(saved) == (
        f"{saved}: its arrays do not fit its vocabulary; train the model anew"
    )


def test_arrays_without_numbers(saved):
    put(saved, "vocabulary.txt", b"one\n")
    nothing = np.array([np.nan], np.float32)
    put(saved, "weights.npz", npz(idf=nothing, weights=nothing, scalars=np.zeros(2)))

    assert refusal(saved) == f"{saved}: its arrays hold no usable numbers; train the model anew"
