"""Files of strangers: only regular ones are opened, within limits, whoever reads them."""

from __future__ import annotations

import gzip
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from tres.cli.serve import _robots
from tres.errors import TresError
from tres.files import opening as files
from tres.offline import open_web
from tres.relevance.example_files import examples_from_files
from tres.relevance.model_kinds import load_model
from tres.settings.topic_file import load_topic
from tres.store.judgements import read_judgements
from tres.store.run_results import read_summary
from tres.topic.vectors.formats import file_source, read_vectors


@pytest.fixture(autouse=True)
def _impatience() -> Iterator[None]:
    """Whoever waits for a FIFO fails, instead of hanging."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError("it waits for a file")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


READERS: dict[str, Callable[[Path], object]] = {
    "topic.toml": load_topic,
    "model.json": lambda path: load_model(path.parent),
    "vectors.txt": lambda path: list(read_vectors(path)),
    "digest.txt": file_source,
    "examples.jsonl": lambda path: examples_from_files(path, path),
    "web.jsonl": lambda path: open_web(str(path)),
    "web.jsonl.gz": lambda path: open_web(str(path)),
    "web.warc": lambda path: open_web(str(path)),
    "web.warc.gz": lambda path: open_web(str(path)),
    "judgements.jsonl": lambda path: read_judgements(path.parent),
    "examples.jsonl.gz": lambda path: examples_from_files(path, path),
    "summary.json": lambda path: read_summary(path.parent),
    "robots.txt": _robots,
}


@pytest.mark.parametrize("make", [fifo, endless])
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_regular_file_is_refused_by_name(
    name: str, make: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / name
    make(path)
    with pytest.raises(TresError) as refused:
        READERS[name](path)
    assert str(path) in refused.value.message
    assert "it is not a regular file" in refused.value.message


def test_a_link_to_a_regular_file_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert files.content(tmp_path / "link") == b"content"


def test_a_directory_is_called_one(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        files.opened(tmp_path)


def test_content_has_a_largest_size(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert files.content(path, 5) == b"12345"
    with pytest.raises(OSError, match="it holds more than 4 bytes") as refused:
        files.content(path, 4)
    assert refused.value.filename == str(path)


def test_unpacked_content_has_a_largest_size(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(bytes(1_000_000)))
    assert len(files.content(path, 1_000_000, packed=True)) == 1_000_000
    with pytest.raises(OSError, match="it holds more than 999,999 bytes"):
        files.content(path, 999_999, packed=True)


@pytest.mark.parametrize("packed", [False, True])
def test_lines_have_a_greatest_length(packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    text = b"one\nthree\nfive, last"
    path.write_bytes(gzip.compress(text) if packed else text)

    def read(longest: int) -> list[bytes]:
        with files.opened(path) as file:
            return list(files.lines(files.unpacking(file, packed), longest))

    assert read(10) == [b"one\n", b"three\n", b"five, last"]
    with pytest.raises(OSError, match="line 2 is longer than 5 bytes"):
        read(5)
