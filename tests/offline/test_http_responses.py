"""Archives over HTTP: responses as they were stored, pages with their own markup."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tres.offline import JsonlArchive, WarcArchive
from tres.offline.http_messages import HttpResponse
from tres.offline.http_responses import response_source
from tres.web.page import Page
from tres.web.parse import parse_html

PAGE = b"<title>A star</title><p>It shines."
URL = "http://a.example/"


def record(url: str, block: bytes) -> bytes:
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def stored(tmp_path: Path, block: bytes) -> HttpResponse | None:
    """The answer of an archive for a record beside a sound page."""
    sound = record("http://sound.example/", b"HTTP/1.1 200 OK\r\n\r\n" + PAGE)
    path = tmp_path / "web.warc.gz"
    path.write_bytes(gzip.compress(sound) + gzip.compress(record(URL, block)))
    return response_source(WarcArchive(path))(URL)


def parts(answer: HttpResponse | None) -> tuple[int, list[str], bytes]:
    """Status, head and body."""
    assert answer is not None
    head, body = answer.whole[: answer.head], answer.whole[answer.head + 2 :]
    return answer.status, head.decode("latin-1").splitlines(), body


class TestARecord:
    def test_is_sent_as_the_server_sent_it(self, tmp_path):
        block = b"HTTP/1.0 200 Fine\r\nContent-Type: text/html\r\nX-Caf\xe9: \xff\r\n\r\n" + PAGE
        status, head, body = parts(stored(tmp_path, block))
        assert (status, head[0], body) == (200, "HTTP/1.1 200 Fine", PAGE)
        assert head[1] == "Content-Type: text/html"
        assert head[-1] == f"Content-Length: {len(PAGE)}"

    @pytest.mark.parametrize(
        ("line", "header"),
        [
            ("302 Found", "Location: ../elsewhere"),
            ("404 Not Found", "Content-Type: text/html"),
            ("503 Busy", "Retry-After: 7"),
            ("200 OK", "Content-Type: image/png"),
        ],
    )
    def test_may_be_no_page_at_all(self, tmp_path, line, header):
        block = f"HTTP/1.1 {line}\r\n{header}\r\n\r\n".encode() + PAGE
        status, head, body = parts(stored(tmp_path, block))
        assert (status, head[:2], body) == (
            int(line[:3]),
            [f"HTTP/1.1 {line}", header],
            PAGE,
        )

    def test_loses_the_framing_of_its_old_connection(self, tmp_path):
        chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE)
        headers = b"Transfer-Encoding: chunked\r\nConnection: keep-alive\r\nContent-Length: 9\r\n"
        block = b"HTTP/1.1 200 OK\r\n" + headers + b"\r\n" + chunked
        _, head, body = parts(stored(tmp_path, block))
        assert head == ["HTTP/1.1 200 OK", f"Content-Length: {len(PAGE)}"]
        assert body == PAGE

    def test_stays_compressed(self, tmp_path):
        packed = gzip.compress(PAGE)
        block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + packed
        _, head, body = parts(stored(tmp_path, block))
        assert "Content-Encoding: gzip" in head
        assert gzip.decompress(body) == PAGE

    def test_with_a_wrong_content_encoding_is_sent_without_it(self, tmp_path):
        block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + PAGE
        _, head, body = parts(stored(tmp_path, block))
        assert head == ["HTTP/1.1 200 OK", f"Content-Length: {len(PAGE)}"]
        assert body == PAGE

    @pytest.mark.parametrize("status", [204, 304])
    def test_without_a_body_has_none(self, tmp_path, status):
        block = b"HTTP/1.1 %d X\r\n\r\nnot to be sent" % status
        _, head, body = parts(stored(tmp_path, block))
        assert (head, body) == ([f"HTTP/1.1 {status} X"], b"")

    def test_that_is_no_http_is_the_fault_of_the_archive(self, tmp_path):
        assert parts(stored(tmp_path, b"no http"))[0] == 502

    def test_that_is_not_there_has_no_answer(self, tmp_path):
        path = tmp_path / "web.warc"
        path.write_bytes(record(URL, b"HTTP/1.1 200 OK\r\n\r\n" + PAGE))
        source = response_source(WarcArchive(path))
        assert source("http://a.example/robots.txt") is None


class TestALine:
    def answered(self, tmp_path: Path, **line: object) -> tuple[Page, bytes]:
        path = tmp_path / "web.jsonl"
        path.write_text(json.dumps({"url": URL, **line}))
        web = JsonlArchive(path)
        page = web.fetch(URL)
        assert isinstance(page, Page)
        return page, parts(response_source(web)(URL))[2]

    def test_with_markup_is_sent_as_it_is(self, tmp_path):
        html = "<title>Ü</title><meta charset=latin-1><p>Text <a href=/x>x</a>"
        assert self.answered(tmp_path, html=html)[1] == html.encode()

    def test_whose_markup_gives_another_page_is_rendered(self, tmp_path):
        page, body = self.answered(tmp_path, html="<title>Old</title>words", title="New")
        assert parse_html(URL, body, "utf-8") == page
        assert (page.title, page.text) == ("New", "words")

    def test_without_markup_gets_some(self, tmp_path):
        page, body = self.answered(
            tmp_path, title=" A\u00a0 b ", text="x\n\n y", links=[["/c", "d "]]
        )
        assert parse_html(URL, body, "utf-8") == page
        assert (page.title, page.text) == ("A b", "x\ny")
