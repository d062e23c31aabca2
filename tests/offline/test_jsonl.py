"""JSON lines as a web: lazy when whole, refused with the line's number when not."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tres.errors import ArchiveError
from tres.offline import JsonlArchive
from tres.web.page import Failed, FailureKind, Link, Page

STAR = {
    "url": "http://a.example/star",
    "title": "A star",
    "text": "It shines.",
    "links": [["http://a.example/moon", "the moon"], ["http://gone.example/", "gone"]],
    "labels": ["Science/Astronomy"],
    "site": "ignored",
}
MOON = {"url": "http://a.example/moon", "title": "The moon", "text": "", "links": []}


def archive(path: Path, *records: Any) -> Path:
    lines = [
        record if isinstance(record, bytes) else json.dumps(record).encode() for record in records
    ]
    data = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.fixture(params=["web.jsonl", "web.jsonl.gz"])
def path(request, tmp_path) -> Path:
    return tmp_path / request.param


class TestAWholeArchive:
    def test_gives_pages_by_canonical_url(self, path):
        web = JsonlArchive(archive(path, STAR, MOON))
        assert web.fetch("http://a.example/star") == Page(
            "http://a.example/star",
            "A star",
            "It shines.",
            (Link("http://a.example/moon", "the moon"), Link("http://gone.example/", "gone")),
            ("Science/Astronomy",),
        )
        assert len(web) == 2
        assert web.name == path.name

    def test_fails_with_404_for_an_unknown_url(self, path):
        web = JsonlArchive(archive(path, STAR))
        assert web.fetch("http://gone.example/") == Failed(
            "http://gone.example/", FailureKind.NOT_FOUND
        )

    def test_lists_its_pages_in_the_order_of_the_file(self, path):
        web = JsonlArchive(archive(path, MOON, STAR))
        assert [page.title for page in web.pages()] == ["The moon", "A star"]
        assert list(web.pages()) == [web.fetch(page.url) for page in web.pages()]

    def test_knows_a_page_by_any_spelling_and_keeps_the_first(self, path):
        again = {**STAR, "url": "HTTP://A.example:80/star#top", "title": "Another"}
        web = JsonlArchive(archive(path, again, STAR))
        assert [page.title for page in web.pages()] == ["Another"]

    def test_makes_links_canonical_and_drops_those_that_cannot_be(self, path):
        links = [["HTTP://B.example", "b"], ["mailto:x@y", "x"], ["next", "n"]]
        web = JsonlArchive(archive(path, {**STAR, "links": links}))
        (page,) = web.pages()
        assert [link.url for link in page.links] == ["http://b.example/", "http://a.example/next"]

    def test_reads_missing_fields_from_html(self, path):
        html = "<title>From html</title><p>Words <a href=moon>m</a>"
        web = JsonlArchive(
            archive(path, {"url": STAR["url"], "html": html, "text": "Given", "labels": ["x"]})
        )
        assert web.fetch("http://a.example/star") == Page(
            "http://a.example/star",
            "From html",
            "Given",
            (Link("http://a.example/moon", "m"),),
            ("x",),
        )

    def test_names_the_failure_of_html_that_is_binary(self, path):
        web = JsonlArchive(archive(path, {"url": STAR["url"], "html": "\0" * 50}, MOON))
        assert web.fetch("http://a.example/star") == Failed(
            "http://a.example/star", FailureKind.MALFORMED
        )
        assert [page.title for page in web.pages()] == ["The moon"]

    def test_skips_blank_lines_and_urls_that_are_no_web_pages(self, path):
        web = JsonlArchive(
            archive(path, b"", {"url": "mailto:x@y"}, b"  ", {"url": "http://b.example"})
        )
        assert list(web.pages()) == [Page("http://b.example/", "", "")]

    def test_gives_only_text_that_can_be_written_again(self, path):
        web = JsonlArchive(archive(path, b'{"url": "http://a.example/", "text": "\\ud800!"}'))
        assert next(web.pages()).text == "?!"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"{not json}", "is not JSON"),
        (b'{"url": "http://a.example/"', "is not JSON"),
        (b'"\xff"', "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        ([1, 2], "has no `url`"),
        ({"title": "t"}, "has no `url`"),
        ({"url": 7}, "has no `url`"),
        ({"url": "http://a.example/", "title": None}, "`title` is not a string"),
        ({"url": "http://a.example/", "html": 1}, "`html` is not a string"),
        ({"url": "http://a.example/", "links": {}}, "`links` is not a list of [url, anchor]"),
        ({"url": "http://a.example/", "links": ["b"]}, "`links` is not a list of [url, anchor]"),
        ({"url": "http://a.example/", "links": [["b"]]}, "`links` is not a list of [url, anchor]"),
        (
            {"url": "http://a.example/", "links": [["b", None]]},
            "`links` is not a list of [url, anchor]",
        ),
        ({"url": "http://a.example/", "labels": "x"}, "`labels` is not a list of strings"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_damaged_line_is_named_by_its_number(path, line, problem):
    with pytest.raises(ArchiveError) as error:
        JsonlArchive(archive(path, STAR, b"", line))
    assert str(error.value) == f"{path}: line 3 {problem}; correct or remove the line"


def test_a_missing_file(tmp_path):
    with pytest.raises(ArchiveError, match=r"none.jsonl: no such file; check the path"):
        JsonlArchive(tmp_path / "none.jsonl")


def test_a_directory(tmp_path):
    with pytest.raises(ArchiveError, match="is a directory; give one file"):
        JsonlArchive(tmp_path)


def test_an_empty_file(path):
    path.write_bytes(b"")
    with pytest.raises(ArchiveError, match="is empty; save the archive again"):
        JsonlArchive(path)


def test_a_line_without_an_end_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "web.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(200):
            file.write(bytes(1_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveError) as error:
            JsonlArchive(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert str(error.value) == (
        f"{path}: cannot be read (line 1 is longer than 32,000,000 bytes); check or replace it"
    )
    assert most < 100_000_000


def test_no_usable_page(path):
    with pytest.raises(ArchiveError, match="has no usable page; it needs lines with an http"):
        JsonlArchive(archive(path, {"url": "mailto:x@y"}))


@pytest.mark.parametrize("kept", [20, -1, -9])
def test_a_gzip_that_was_cut_short(tmp_path, kept):
    path = archive(tmp_path / "web.jsonl.gz", STAR, MOON)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ArchiveError, match=r"is cut short; copy or download it again"):
        JsonlArchive(path)


def test_a_gzip_that_was_damaged(tmp_path):
    path = archive(tmp_path / "web.jsonl.gz", STAR, MOON)
    data = bytearray(path.read_bytes())
    data[30:60] = bytes(30)
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=r"web.jsonl.gz: (is damaged|cannot be read)"):
        JsonlArchive(path)


def test_a_name_that_promises_gzip(tmp_path):
    path = archive(tmp_path / "web.jsonl", STAR).rename(tmp_path / "web.jsonl.gz")
    with pytest.raises(ArchiveError, match=r"is not gzip; rename it to web.jsonl or compress it"):
        JsonlArchive(path)


def test_a_name_that_hides_gzip(tmp_path):
    path = archive(tmp_path / "web.jsonl.gz", STAR).rename(tmp_path / "web.jsonl")
    with pytest.raises(ArchiveError, match=r"is gzip; rename it to web.jsonl.gz"):
        JsonlArchive(path)
