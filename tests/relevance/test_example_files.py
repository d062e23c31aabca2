"""Examples read from files: directories of pages, or JSON lines."""

import gzip
import os

import pytest

from tres.errors import TrainingError
from tres.files import opening as files
from tres.relevance.example_files import examples_from_files

HTML = """<!doctype html><title>The
 Reef</title><style>p {}</style><p>Fish <b>live</b> here.<script>x()</script>"""


@pytest.fixture
def wall(tmp_path):
    (tmp_path / "wall.jsonl").write_text('{"title": "Wall", "text": "stone"}\n')
    return tmp_path / "wall.jsonl"


def test_a_directory_gives_its_pages_in_the_order_of_their_names(tmp_path, wall):
    sea = tmp_path / "sea"
    (sea / "deep").mkdir(parents=True)
    (sea / "b.HTML").write_text(HTML)
    (sea / "a.txt").write_bytes(b"sal\xc3\xa9 \xff wave")
    (sea / "deep" / "c.htm").write_text("whale")
    (sea / "notes.md").write_text("not an example")

    examples = examples_from_files(sea, wall)

    text, page, deep = (" ".join(example.split()) for example in examples.relevant)
    assert text == "salé \ufffd wave"
    assert page == "The Reef Fish live here."
    assert deep == "whale"
    assert examples.relevant[1].startswith("The Reef\n")
    assert examples.irrelevant == ("Wall\nstone",)


def test_json_lines_may_be_compressed_and_hold_blank_lines(tmp_path, wall):
    sea = tmp_path / "sea.jsonl.gz"
    sea.write_bytes(gzip.compress(b'{"text": "reef"}\n\n{"title": "The\\nSea", "text": null}\n'))

    assert examples_from_files(sea, wall).relevant == ("\nreef", "The Sea\n")


def test_sites_are_known_if_every_page_names_its_address(tmp_path):
    def row(url):
        return f'{{"text": "reef", "url": {url}}}\n'

    sea, wall, notes = (tmp_path / f"{name}.jsonl" for name in ("sea", "wall", "notes"))
    sea.write_text(row('"a"') + row('"b"'))
    wall.write_text(row('"c"'))
    notes.write_text(row('"c"') + row("null"))

    assert examples_from_files(sea, wall, str.upper).sites == ("A", "B", "C")
    assert examples_from_files(sea, notes, str.upper).sites is None
    assert examples_from_files(sea, wall, {"a": "A", "b": "B"}.get).sites is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", b'{"text": "reef"}\n{oops}', ":2: is not JSON; write one object per line"),
        ("a.jsonl", b"\xff\xfe\n", ":1: is not JSON; write one object per line"),
        ("a.jsonl", b'["reef"]', ":1: needs an object with text, title or both"),
        ("a.jsonl", b'{"body": "reef"}', ":1: needs an object with text, title or both"),
        ("a.jsonl", b'{"text": 5}', ":1: title and text must be strings"),
        ("a.jsonl", b"\n", ": holds no example page; add .txt, .html, .htm or JSON lines"),
        ("a.csv", b"reef", ": give a directory of .txt, .html, .htm files, or .jsonl(.gz)"),
    ],
)
def test_files_that_are_refused(tmp_path, wall, name, content, message):
    (tmp_path / name).write_bytes(content)

    with pytest.raises(TrainingError) as caught:
        examples_from_files(tmp_path / name, wall)

    assert caught.value.message == f"{tmp_path / name}{message}"


@pytest.mark.parametrize(
    "damage", [lambda b: b[:-12], lambda b: b"plain", lambda b: b[:12] + b"??"]
)
def test_a_damaged_compressed_file(tmp_path, wall, damage):
    sea = tmp_path / "sea.jsonl.gz"
    sea.write_bytes(damage(gzip.compress(b'{"text": "reef"}\n' * 99)))

    with pytest.raises(TrainingError, match=r"sea\.jsonl\.gz: cannot be read to its end: "):
        examples_from_files(sea, wall)


@pytest.mark.parametrize("name", ["sea.jsonl", "sea.jsonl.gz"])
def test_a_line_without_an_end(tmp_path, wall, name, monkeypatch):
    monkeypatch.setattr(files.lines, "__defaults__", (1_000,))
    line = b'{"text": "reef"}\n' + bytes(2_000)
    (tmp_path / name).write_bytes(gzip.compress(line) if name.endswith(".gz") else line)

    with pytest.raises(TrainingError) as caught:
        examples_from_files(tmp_path / name, wall)
    assert caught.value.message == (
        f"{tmp_path / name}: cannot be read to its end: line 2 is longer than 1,000 bytes"
    )


def test_examples_that_are_not_files_are_skipped_and_large_ones_are_named(tmp_path, wall):
    sea = tmp_path / "sea"
    sea.mkdir()
    os.mkfifo(sea / "a.txt")
    (sea / "b.txt").write_text("reef")
    assert len(examples_from_files(sea, wall).relevant) == 1
    with (sea / "c.html").open("wb") as file:
        file.truncate(16_000_001)
    with pytest.raises(TrainingError) as caught:
        examples_from_files(sea, wall)
    assert caught.value.message == (
        f"{sea / 'c.html'}: cannot be read to its end: it holds more than 16,000,000 bytes"
    )


def test_an_empty_directory(tmp_path, wall):
    (tmp_path / "sea").mkdir()

    with pytest.raises(TrainingError, match="sea: holds no example page"):
        examples_from_files(tmp_path / "sea", wall)
