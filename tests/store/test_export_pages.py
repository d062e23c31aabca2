"""Exports of a run: which pages, in which words, and nothing that harms who reads them."""

from __future__ import annotations

import csv
import io
import json
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tres.errors import RunError
from tres.offline import JsonlArchive
from tres.store.export_pages import Exported, Selection, export, new_file
from tres.store.export_parquet import GROUP_ROWS
from tres.web.page import Failed, FailureKind, Link, Outcome, Page

ROWS = [
    ("1", "http://a.example/", "", "0.9", "1", "a.example", "en", "1", "model"),
    ("2", "http://b.example/", "http://a.example/", "0.4", "1", "b.example", "de", "0", "model"),
    ("3", "http://a.example/c", "http://a.example/", "0.55", "0", "a.example", "de", "1", "person"),
]
COLUMNS = (
    *("step", "url", "parent", "relevance", "reward", "site", "language"),
    *("relevant", "judged_by"),
)

Export = Callable[..., bytes]


class TextWeb:
    """Pages by URL; what is not there is a dead link."""

    name = "text"

    def __init__(self, **titles: str) -> None:
        self.titles = {f"http://{key.replace('_', '.example/')}": t for key, t in titles.items()}

    def fetch(self, url: str) -> Outcome:
        if url not in self.titles:
            return Failed(url, FailureKind.NOT_FOUND)
        title = self.titles[url]
        return Page(url, title, f"Text of {title}", (Link("http://b.example/", "to b"),))

    def pages(self) -> Iterator[Page]:
        raise AssertionError("an export looks at its own pages only")

    def __len__(self) -> int:
        return len(self.titles)


WEB = TextWeb(a_="A", b_="B", a_c="C")


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Export:
    """Export these rows with the texts of this web."""

    def call(form: str, web: object = WEB, rows: object = None, **chosen: object) -> bytes:
        table = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS] if rows is None else rows
        monkeypatch.setattr("tres.store.export_pages.read_pages", lambda run: table)
        monkeypatch.setattr("tres.store.export_pages.web_of", lambda run, address: web)
        out = io.BytesIO()
        call.result = export(tmp_path, form, out, Selection(**chosen))  # type: ignore[attr-defined]
        return out.getvalue()

    return call


class TestASelection:
    @pytest.mark.parametrize(
        ("chosen", "steps"),
        [
            ({}, "123"),
            ({"relevant": True}, "13"),
            ({"min_relevance": 0.5}, "13"),
            ({"min_relevance": 0.55}, "13"),
            ({"min_relevance": 0.6}, "1"),
            ({"sites": ("b.example",)}, "2"),
            ({"sites": ("b.example", "a.example")}, "123"),
            ({"languages": ("de",)}, "23"),
            ({"limit": 2}, "12"),
            ({"relevant": True, "languages": ("de",), "limit": 1}, "3"),
            ({"sites": ("nowhere.example",)}, ""),
        ],
        ids=str,
    )
    def test_takes_the_rows_that_fit_all_its_words(
        self, exported: Export, chosen: dict[str, object], steps: str
    ) -> None:
        lines = exported("csv", **chosen).decode().splitlines()
        assert "".join(line[0] for line in lines[1:]) == steps
        assert lines[0] == ",".join(COLUMNS)


class TestJsonLines:
    def test_hold_what_the_page_says_and_what_the_crawl_knows(self, exported: Export) -> None:
        lines = exported("jsonl").splitlines()
        assert json.loads(lines[2]) == {
            "url": "http://a.example/c",
            "title": "C",
            "text": "Text of C",
            "links": [["http://b.example/", "to b"]],
            "language": "de",
            "relevance": 0.55,
            "relevant": True,
            "judged_by": "person",
            "reward": 0,
            "step": 3,
            "site": "a.example",
            "parent": "http://a.example/",
        }
        assert json.loads(lines[0])["parent"] is None

    def test_are_an_archive(self, exported: Export, tmp_path: Path) -> None:
        path = tmp_path / "export.jsonl"
        path.write_bytes(exported("jsonl"))
        web = JsonlArchive(path)
        assert list(web.pages()) == [WEB.fetch(row[1]) for row in ROWS]

    def test_are_lines_whatever_a_title_holds(self, exported: Export) -> None:
        title = "a\nb\x1b[2J\x85\u2028\x7f ü"
        (line,) = exported("jsonl", TextWeb(a_=title), limit=1).decode().splitlines()
        assert line.isprintable()
        assert "ü" in line
        assert json.loads(line)["title"] == title

    def test_of_pages_that_are_gone_have_no_text_and_are_counted(self, exported: Export) -> None:
        lines = [json.loads(line) for line in exported("jsonl", TextWeb(a_="A")).splitlines()]
        assert exported.result == Exported(3, missing=2)  # type: ignore[attr-defined]
        assert ["text" in line for line in lines] == [True, False, False]
        assert lines[1]["url"] == "http://b.example/"
        exported("jsonl", None)
        assert exported.result == Exported(3, missing=3)  # type: ignore[attr-defined]


class TestATable:
    def test_in_parquet_has_types_and_nulls(self, exported: Export) -> None:
        table = parquet.read_table(io.BytesIO(exported("parquet", TextWeb(a_="A", b_="B"))))
        kinds = {field.name: str(field.type) for field in table.schema}
        assert kinds["step"] == "int64"
        assert kinds["relevance"] == "double"
        assert kinds["relevant"] == "bool"
        assert pyarrow.types.is_struct(table.schema.field("links").type.value_type)
        assert table.column("title").to_pylist() == ["A", "B", None]
        assert table.column("relevant").to_pylist() == [True, False, True]
        assert table.column("judged_by").to_pylist() == ["model", "model", "person"]
        assert table.column("reward").to_pylist() == [1, 1, 0]
        assert table.column("links").to_pylist()[0] == [
            {"url": "http://b.example/", "anchor": "to b"}
        ]
        assert table.column("parent").to_pylist()[0] is None

    def test_in_parquet_is_compressed_and_comes_in_groups(self, exported: Export) -> None:
        row = dict(zip(COLUMNS, ROWS[0], strict=True))
        many = [row] * (2 * GROUP_ROWS + 1)
        file = parquet.ParquetFile(io.BytesIO(exported("parquet", rows=many)))
        assert file.metadata.num_row_groups == 3
        assert file.metadata.num_rows == len(many)
        assert file.metadata.row_group(0).column(0).compression == "ZSTD"

    def test_without_the_library_is_refused_with_the_remedy(
        self, exported: Export, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("tres.store.export_parquet.find_spec", lambda name: None)
        with pytest.raises(RunError, match=r"not installed: pip install 'tres-crawler\[parquet\]'"):
            exported("parquet")

    @pytest.mark.parametrize(
        ("title", "cell"),
        [
            ('=HYPERLINK("http://evil.example/")', '\'=HYPERLINK("http://evil.example/")'),
            ("+1 reason", "'+1 reason"),
            ("-x", "'-x"),
            ("@cmd", "'@cmd"),
            ("-0.25", "-0.25"),
            ("plain, with = inside", "plain, with = inside"),
            ("two\nlines\x1b[2J\u2028", "two lines [2J "),
            ("\t=1+1", " =1+1"),
        ],
    )
    def test_in_csv_holds_no_formula_and_no_second_line(
        self, exported: Export, title: str, cell: str
    ) -> None:
        row = dict(zip(COLUMNS, ROWS[0], strict=True)) | {"title": title}
        text = exported("csv", rows=[row]).decode()
        assert len(text.splitlines()) == 2
        (read,) = csv.DictReader(io.StringIO(text))
        assert read == row | {"title": cell}


def test_urls_come_one_per_line(exported: Export) -> None:
    assert exported("urls", relevant=True) == b"http://a.example/\nhttp://a.example/c\n"


def test_what_is_small_needs_no_web(exported: Export) -> None:
    class Untouched:
        def fetch(self, url: str) -> Outcome:
            raise AssertionError

    assert exported("urls", Untouched())
    assert exported("csv", Untouched())


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_texts_are_not_held_in_memory(exported: Export, form: str) -> None:
    class Text(str):
        """A string that can be watched."""

        __slots__ = ("__weakref__",)

    alive: list[weakref.ref[Text]] = []
    most = 0

    class RunStatus(TextWeb):
        def fetch(self, url: str) -> Outcome:
            nonlocal most
            most = max(most, sum(text() is not None for text in alive))
            text = Text("words " * 100)
            alive.append(weakref.ref(text))
            return Page(url, "", text)

    rows = [dict(zip(COLUMNS, ROWS[0], strict=True))] * (3 * GROUP_ROWS)
    exported(form, RunStatus(), rows=rows)
    assert most <= (2 * GROUP_ROWS if form == "parquet" else 2)  # one is written, one gathered


class TestANewFile:
    def test_is_there_when_it_is_complete_and_not_before(self, tmp_path: Path) -> None:
        path = tmp_path / "out"
        with new_file(path, overwrite=False) as file:
            file.write(b"data")
            assert not path.exists()
        assert [one.name for one in tmp_path.iterdir()] == ["out"]
        assert path.read_bytes() == b"data"

    def test_leaves_the_old_one_if_it_fails(self, tmp_path: Path) -> None:
        path = tmp_path / "out"
        path.write_bytes(b"old")
        with pytest.raises(ZeroDivisionError), new_file(path, overwrite=True) as file:
            file.write(b"%d" % (1 / 0))
        assert [one.name for one in tmp_path.iterdir()] == ["out"]
        assert path.read_bytes() == b"old"

    def test_takes_no_place_of_another_unless_that_was_said(self, tmp_path: Path) -> None:
        path = tmp_path / "out"
        path.write_bytes(b"old")
        with pytest.raises(RunError, match="add --overwrite"), new_file(path, overwrite=False):
            pass
        with new_file(path, overwrite=True) as file:
            file.write(b"new")
        assert path.read_bytes() == b"new"

    @pytest.mark.parametrize("name", [".", "/dev/null"])
    def test_never_replaces_what_is_no_file(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(RunError, match="is not a file"), new_file(tmp_path / name, True):
            pass

    def test_says_why_it_cannot_be_written(self, tmp_path: Path) -> None:
        path = tmp_path / "nowhere" / "out"
        with pytest.raises(RunError, match="cannot be written"), new_file(path, overwrite=False):
            pass
