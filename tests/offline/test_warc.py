"""WARC files as a web: what servers once answered, with all their faults."""

from __future__ import annotations

import gzip
import zlib
from contextlib import nullcontext
from pathlib import Path

import pytest

from tres.errors import ArchiveError
from tres.offline import WarcArchive
from tres.offline.archive import ArchiveWarning
from tres.offline.warc import MAX_REDIRECTS
from tres.offline.warc_reader import MAX_BODY_BYTES
from tres.web.page import Failed, FailureKind, Link, Page

PAGE = b"<title>A star</title><p>It shines. <a href=/moon>moon</a>"
HTML = "Content-Type: text/html; charset=utf-8"


def response(body: bytes = PAGE, *headers: str, status: str = "200 OK") -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", *(headers or (HTML,)), "", ""])
    return head.encode() + body


def record(url: str, block: bytes, kind: str = "response") -> bytes:
    head = [
        "WARC/1.0",
        f"WARC-Type: {kind}",
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000001>",
        "WARC-Date: 2020-01-01T00:00:00Z",
        f"WARC-Target-URI: {url}",
        f"Content-Type: application/http; msgtype={kind}",
        f"Content-Length: {len(block)}",
        "",
        "",
    ]
    return "\r\n".join(head).encode() + block + b"\r\n\r\n"


def archive(path: Path, *records: bytes) -> Path:
    zipped = path.suffix == ".gz"
    path.write_bytes(b"".join(gzip.compress(one) if zipped else one for one in records))
    return path


@pytest.fixture(params=["web.warc", "web.warc.gz"])
def path(request, tmp_path) -> Path:
    return tmp_path / request.param


def fetched(path: Path, block: bytes) -> Page | Failed:
    """What a web gives for one record beside a sound page."""
    sound = record("http://sound.example/", response())
    return WarcArchive(archive(path, sound, record("http://a.example/", block))).fetch(
        "http://a.example/"
    )


def failed(kind: FailureKind) -> Failed:
    return Failed("http://a.example/", kind)


class TestAPage:
    def test_is_a_response_with_status_200_and_html(self, path):
        assert fetched(path, response()) == Page(
            "http://a.example/",
            "A star",
            "It shines. moon",
            (Link("http://a.example/moon", "moon"),),
        )

    @pytest.mark.parametrize(
        "header",
        ["Content-Type: TEXT/HTML", "Content-Type: application/xhtml+xml; charset=x", "X-Other: 1"],
    )
    def test_may_be_labelled_in_several_ways_or_not_at_all(self, path, header):
        assert isinstance(fetched(path, response(PAGE, header)), Page)

    def test_is_decoded_by_its_charset(self, path):
        block = response("<p>Привет".encode("koi8-r"), "Content-Type: text/html; charset=koi8-r")
        outcome = fetched(path, block)
        assert isinstance(outcome, Page)
        assert outcome.text == "Привет"

    @pytest.mark.parametrize(
        ("header", "body"),
        [
            ("Content-Encoding: gzip", gzip.compress(PAGE, mtime=0)),
            ("Content-Encoding: deflate", zlib.compress(PAGE)),
            ("Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE)),
            ("Content-Encoding: gzip", PAGE),
            ("Content-Encoding: unheard-of", PAGE),
            ("Transfer-Encoding: chunked", PAGE),
        ],
        ids=["gzip", "deflate", "chunked", "not gzip", "unknown", "not chunked"],
    )
    def test_is_unpacked_if_it_is_packed(self, path, header, body):
        outcome = fetched(path, response(body, HTML, header))
        assert isinstance(outcome, Page)
        assert outcome.title == "A star"

    def test_is_the_first_of_its_url(self, path):
        first, second = response(b"<title>first"), response(b"<title>second")
        web = WarcArchive(
            archive(path, record("http://a.example", first), record("http://A.example/", second))
        )
        assert [page.title for page in web.pages()] == ["first"]
        assert len(web) == 1


class TestAFailure:
    @pytest.mark.parametrize(
        ("block", "kind"),
        [
            (response(status="404 Not Found"), FailureKind.NOT_FOUND),
            (response(status="410 Gone"), FailureKind.NOT_FOUND),
            (response(status="500 Oops"), FailureKind.HTTP_ERROR),
            (response(status="403 Forbidden"), FailureKind.HTTP_ERROR),
            (response(status="304 Not Modified"), FailureKind.HTTP_ERROR),
            (response(PAGE, "Content-Type: image/png"), FailureKind.NOT_HTML),
            (response(PAGE, "Content-Type: application/pdf"), FailureKind.NOT_HTML),
            (response(bytes(range(256)) * 40), FailureKind.MALFORMED),
            (response(status="what?"), FailureKind.MALFORMED),
            (b"no HTTP at all", FailureKind.MALFORMED),
            (b"", FailureKind.MALFORMED),
            (response(PAGE, HTML, "X: " + "x" * 100_000), FailureKind.MALFORMED),
            (response(b"a" * (MAX_BODY_BYTES + 1)), FailureKind.TOO_LARGE),
        ],
        ids=lambda value: str(value[:20]),
    )
    def test_has_a_name(self, path, block, kind):
        assert fetched(path, block) == failed(kind)

    def test_of_a_gzip_bomb_is_that_it_is_too_large(self, path):
        bomb = gzip.compress(bytes(20 * MAX_BODY_BYTES))
        block = response(bomb, HTML, "Content-Encoding: gzip")
        assert fetched(path, block) == failed(FailureKind.TOO_LARGE)

    def test_of_a_url_that_was_never_fetched_is_404(self, path):
        web = WarcArchive(archive(path, record("http://sound.example/", response())))
        assert web.fetch("http://a.example/") == failed(FailureKind.NOT_FOUND)

    def test_is_no_page_of_the_web(self, path):
        records = [
            record("http://a.example/1", response(status="404 Not Found")),
            record("http://a.example/2", response(b"request"), kind="request"),
            record("mailto:x@y", response()),
            record("http://a.example/3", response()),
        ]
        web = WarcArchive(archive(path, *records))
        assert [page.url for page in web.pages()] == ["http://a.example/3"]
        assert len(web) == 1


class TestRedirects:
    @staticmethod
    def chain(path: Path, length: int) -> WarcArchive:
        """/0 leads to /1 and so on; the last one is a page."""
        steps = (
            record(
                f"http://a.example/{step}",
                response(b"", f"Location: /{step + 1}", status="302 Found"),
            )
            for step in range(length)
        )
        return WarcArchive(archive(path, *steps, record(f"http://a.example/{length}", response())))

    @pytest.mark.parametrize("length", [1, 2, MAX_REDIRECTS])
    def test_lead_to_a_page_with_its_final_url(self, path, length):
        outcome = self.chain(path, length).fetch("http://a.example/0")
        assert isinstance(outcome, Page)
        assert outcome.url == f"http://a.example/{length}"

    def test_are_not_followed_for_ever(self, path):
        outcome = self.chain(path, MAX_REDIRECTS + 1).fetch("http://a.example/0")
        assert outcome == Failed("http://a.example/0", FailureKind.REDIRECT_LOOP)

    @pytest.mark.parametrize(
        ("location", "kind"),
        [
            ("/", FailureKind.REDIRECT_LOOP),
            ("http://gone.example/", FailureKind.NOT_FOUND),
            ("mailto:x@y", FailureKind.HTTP_ERROR),
        ],
    )
    def test_that_lead_nowhere_fail_under_the_url_that_was_asked_for(self, path, location, kind):
        block = response(b"", f"Location: {location}", status="301 Moved Permanently")
        assert fetched(path, block) == failed(kind)


class TestADamagedFile:
    @pytest.mark.parametrize("lost", [10, 120, 300, 420])
    def test_is_refused_if_it_is_cut_short(self, path, lost):
        archive(path, *(record(f"http://a.example/{n}", response()) for n in range(9)))
        data = path.read_bytes()
        path.write_bytes(data[: len(data) - lost])
        with pytest.raises(ArchiveError, match=r"is cut short; copy or download it again"):
            WarcArchive(path)

    def test_is_refused_if_it_is_no_warc(self, path):
        archive(path, b"hello, this is something else\n" * 20)
        with pytest.raises(ArchiveError, match=r"cannot be read \(Invalid WARC header\); check or"):
            WarcArchive(path)

    def test_is_refused_if_there_is_no_page_in_it(self, path):
        archive(path, record("http://a.example/", response(status="404 Not Found")))
        with pytest.raises(ArchiveError, match="has no usable page; it needs response records"):
            WarcArchive(path)

    def test_is_refused_if_it_is_compressed_as_a_whole(self, tmp_path):
        path = tmp_path / "web.warc.gz"
        records = [record(f"http://a.example/{n}", response()) for n in range(3)]
        path.write_bytes(gzip.compress(b"".join(records)))
        with pytest.raises(ArchiveError, match=r"run `warcio recompress web.warc.gz NEW.warc.gz`"):
            WarcArchive(path)

    @pytest.mark.parametrize("wrong", [-10_000, -40, -1, 5, 150, 400, 10**6])
    def test_is_read_on_behind_a_record_with_a_wrong_length(self, path, wrong):
        records = [record(f"http://a.example/{i}", response()) for i in range(8)]
        length = len(response())
        claim = f"Content-Length: {max(length + wrong, 0)}"
        records[3] = records[3].replace(f"Content-Length: {length}".encode(), claim.encode())
        with pytest.warns(ArchiveWarning, match=rf"{path.name}: damaged between bytes"):
            web = WarcArchive(archive(path, *records))
        assert [page.url[-1] for page in web.pages()] == list("0124567")

    @pytest.mark.parametrize("at", [0, 2, 8, 30, 70])
    def test_is_read_on_after_damaged_bytes(self, path, at):
        records = [record(f"http://a.example/{i}", response()) for i in range(8)]
        before = len(archive(path, *records[:3]).read_bytes())
        content = bytearray(archive(path, *records).read_bytes())
        content[before + at : before + at + 9] = b"?????????"
        path.write_bytes(content)
        with pytest.warns(ArchiveWarning) if path.suffix == ".gz" or at < 9 else nullcontext():
            web = WarcArchive(path)
        assert {page.url[-1] for page in web.pages()} >= set("0124567")

    def test_is_named_if_it_disappears_later(self, path):
        web = WarcArchive(archive(path, record("http://a.example/", response())))
        path.unlink()
        with pytest.raises(ArchiveError, match="no such file"):
            web.fetch("http://a.example/")
