"""WARC files of a run: what other tools read in them, and what a crash leaves."""

from __future__ import annotations

import errno
import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import brotli
import pytest
from click.testing import CliRunner
from fastwarc.cli import main as fastwarc
from fastwarc.stream_io import ZstdWriter
from fastwarc.warc import ArchiveIterator, WarcRecord
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator as OtherIterator
from warcio.cli import main

from tres.engines.protocols import Exchange
from tres.errors import ArchiveError
from tres.offline import WarcArchive, open_web
from tres.settings.sections import LiveSection
from tres.store.warc_writer import WarcStore, about_crawl, parts_of
from tres.web.page import Failed, FailureKind, Page

PAGE = b"<title>A star</title><p>It shines. <a href=/moon>moon</a>"
REQUEST = b"GET / HTTP/1.1\r\nHost: a.example\r\nUser-Agent: tres\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
STAR = Exchange("http://a.example/", REQUEST, HEAD, PAGE, "192.0.2.7", 1_700_000_000.25)


def store(directory: Path, part_bytes: int = 10**9) -> WarcStore:
    live = LiveSection(contact="http://me.example/")
    return WarcStore(directory, about_crawl(live, "tres/1 (+http://me.example/)"), part_bytes)


def zstd(data: bytes) -> bytes:
    packed = io.BytesIO()
    with ZstdWriter(packed) as writer:
        writer.write(data)
    return packed.getvalue()


def star(number: int) -> Exchange:
    return replace(STAR, url=f"http://a.example/{number}", at=STAR.at + number)


def kept(directory: Path, *exchanges: Exchange) -> Path:
    with store(directory) as warc:
        for exchange in exchanges:
            warc.append(exchange)
    (file,) = parts_of(directory)
    return file


def records(file: Path) -> Iterator[tuple[WarcRecord, bytes]]:
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, parse_http=False):
            yield record, record.reader.read()


def headers_of(file: Path, kind: str) -> dict[str, str]:
    found = (record.headers.to_dict() for record, _ in records(file))
    return next(headers for headers in found if headers["WARC-Type"] == kind)


def block_of(file: Path, kind: str) -> bytes:
    return next(block for record, block in records(file) if str(record.record_type) == kind)


def passes_check(file: Path) -> bool:
    """As `warcio check` sees it."""
    with pytest.raises(SystemExit) as end:
        main(["check", "-v", str(file)])
    return end.value.code == 0


def passes_fastwarc(file: Path) -> bool:
    """As `fastwarc check` sees it, which docs/export.md names."""
    command = ["check", "--verify-payloads", "--quiet", str(file)]
    checked = CliRunner().invoke(fastwarc, command)
    return checked.exit_code == 0


class TestAFile:
    def test_begins_with_what_made_it_and_how_it_behaved(self, tmp_path: Path) -> None:
        file = kept(tmp_path, STAR)
        told = block_of(file, "warcinfo").decode()
        assert "software: tres/" in told
        assert "format: WARC File Format 1.1\r\n" in told
        assert "robots: obey\r\n" in told
        assert "http-header-user-agent: tres/1 (+http://me.example/)\r\n" in told
        assert "operator: http://me.example/\r\n" in told
        headers = headers_of(file, "warcinfo")
        assert headers["WARC-Filename"] == file.name == "pages-00000.warc.gz"
        assert headers["Content-Type"] == "application/warc-fields"

    def test_holds_request_and_response_with_their_particulars(self, tmp_path: Path) -> None:
        file = kept(tmp_path, STAR)
        kinds = [str(record.record_type) for record, _ in records(file)]
        assert kinds == ["warcinfo", "request", "response"]
        request, response = headers_of(file, "request"), headers_of(file, "response")
        assert request["WARC-Concurrent-To"] == response["WARC-Record-ID"]
        assert request["WARC-Record-ID"] != response["WARC-Record-ID"]
        for headers in (request, response):
            assert headers["WARC-Target-URI"] == "http://a.example/"
            assert headers["WARC-IP-Address"] == "192.0.2.7"
            assert headers["WARC-Date"] == "2023-11-14T22:13:20.250000Z"
        assert block_of(file, "request") == REQUEST
        assert block_of(file, "response").endswith(b"\r\n\r\n" + PAGE)

    def test_has_a_gzip_member_for_every_record(self, tmp_path: Path) -> None:
        file = kept(tmp_path, STAR, star(1))
        data, members = file.read_bytes(), 0
        while data:
            member = zlib.decompressobj(31)
            assert member.decompress(data).startswith(b"WARC/1.1\r\n")
            data, members = member.unused_data, members + 1
        assert members == 5

    def test_passes_the_check_of_another_tool(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        packed = replace(star(2), body=gzip.compress(PAGE), response_head=_encoded(b"gzip"))
        chunked = replace(star(3), response_head=HEAD[:-2] + b"Transfer-Encoding: chunked\r\n\r\n")
        file = kept(tmp_path, STAR, packed, chunked)
        assert passes_check(file)
        assert capsys.readouterr().out.count("digest pass") == 7

    def test_is_the_same_for_the_same_exchanges_and_no_id_comes_twice(self, tmp_path: Path) -> None:
        (tmp_path / "again").mkdir()
        file, again = kept(tmp_path, STAR, STAR), kept(tmp_path / "again", STAR, STAR)
        assert file.read_bytes() == again.read_bytes()
        ids = [record.record_id for record, _ in records(file)]
        assert len(set(ids)) == len(ids) == 5

    def test_is_written_without_a_request_that_nobody_knows(self, tmp_path: Path) -> None:
        file = kept(tmp_path, replace(STAR, request_head=b"", address="unknown"))
        assert [str(one.record_type) for one, _ in records(file)] == ["warcinfo", "response"]
        assert "WARC-IP-Address" not in headers_of(file, "response")


def _encoded(encoding: bytes) -> bytes:
    return HEAD[:-2] + b"Content-Encoding: " + encoding + b"\r\n\r\n"


class TestHeaders:
    @pytest.mark.parametrize(
        ("told", "kept_as"),
        [
            (b"Transfer-Encoding: chunked", b"X-Crawler-Transfer-Encoding: chunked"),
            (b"transfer-encoding : chunked", b"X-Crawler-transfer-encoding : chunked"),
            (b"Content-Length: 7", b"X-Crawler-Content-Length: 7"),
            (b"Content-Length: %d" % len(PAGE), b"Content-Length: %d" % len(PAGE)),
            (b"Content-Encoding: gzip", b"Content-Encoding: gzip"),
        ],
    )
    def test_are_true_of_the_body_that_is_kept(
        self, tmp_path: Path, told: bytes, kept_as: bytes
    ) -> None:
        file = kept(tmp_path, replace(STAR, response_head=HEAD[:-2] + told + b"\r\n\r\n"))
        lines = block_of(file, "response").split(b"\r\n\r\n")[0].split(b"\r\n")
        assert kept_as in lines
        assert [line for line in lines if line.lower().startswith(b"content-length")] == [
            b"Content-Length: %d" % len(PAGE)
        ]

    def test_cannot_end_the_head_early(self, tmp_path: Path) -> None:
        head = b"HTTP/1.1 200 OK\nX: 1\r\n \r\n\r\nContent-Type: text/html\r\r\n\r\n\r\n"
        file = kept(tmp_path, replace(STAR, response_head=head))
        assert (
            block_of(file, "response")
            == (
                b"HTTP/1.1 200 OK\r\nX: 1\r\nContent-Type: text/html\r\n"
                b"Content-Length: %d\r\n\r\n" % len(PAGE)
            )
            + PAGE
        )

    def test_of_the_record_cannot_be_forged_by_a_url_or_an_address(self, tmp_path: Path) -> None:
        forged = "http://a.example/\r\nWARC-Type: warcinfo\r\n\r\n é"
        file = kept(tmp_path, replace(STAR, url=forged, address="fe80::1%x\r\nEvil: 1"))
        headers = headers_of(file, "response")
        assert headers["WARC-Target-URI"] == (
            "http://a.example/%0D%0AWARC-Type:%20warcinfo%0D%0A%0D%0A%20%C3%A9"
        )
        assert headers["WARC-IP-Address"] == "fe80::1"
        assert "Evil" not in headers


LINE_ENDS = st.sampled_from([b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"\r\n ", b"\x85", b"\x1c\r\n"])
PIECES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from([b"Transfer-Encoding: chunked", b"Content-Length: 3", b"WARC/1.1", b"X:"]),
    st.just(b"X: " + b"y" * 100_000),
)
HEADS = st.lists(st.one_of(PIECES, LINE_ENDS), max_size=8).map(b"".join)
URLS = st.one_of(st.text(max_size=60), st.just("ä" * 20_000)).map("http://a.example/".__add__)


class TestAnyExchange:
    @settings(max_examples=60, deadline=None)
    @given(URLS, HEADS, HEADS, st.binary(max_size=200), st.text(max_size=20))
    def test_is_read_back_and_so_is_the_one_that_follows(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        url: str,
        request_head: bytes,
        head: bytes,
        body: bytes,
        address: str,
    ) -> None:
        head = b"HTTP/1.1 200 OK\r\n" + head
        hostile = Exchange(url, request_head, head, body, address, 1e9)
        file = kept(tmp_path_factory.mktemp("warc"), hostile, STAR)
        answers = [one for one in records(file) if str(one[0].record_type) == "response"]
        assert len(answers) == 2
        assert answers[0][1].partition(b"\r\n\r\n")[2] == body
        assert answers[1][1].endswith(b"\r\n\r\n" + PAGE)
        assert answers[1][0].headers["WARC-Target-URI"] == STAR.url
        with file.open("rb") as stream:
            assert all(
                one.verify_block_digest(consume=True)
                for one in ArchiveIterator(stream, parse_http=False)
            )
        assert _payloads(file) == [body, PAGE]


def _payloads(file: Path) -> list[bytes]:
    """What another tool takes for the bodies, its digests checked."""
    with file.open("rb") as stream:
        every = OtherIterator(stream, check_digests="raise")
        return [record.raw_stream.read() for record in every if record.rec_type == "response"]


class TestAsAWeb:
    @pytest.mark.parametrize(
        ("encoding", "body"),
        [
            (b"gzip", gzip.compress(PAGE, mtime=0)),
            (b"x-gzip", gzip.compress(PAGE, mtime=0)),
            (b"deflate", zlib.compress(PAGE)),
            (b"deflate", zlib.compress(PAGE, wbits=-15)),
            (b"br", brotli.compress(PAGE)),
            (b"zstd", zstd(PAGE)),
            (b"gzip, br", brotli.compress(gzip.compress(PAGE, mtime=0))),
            (b"identity", PAGE),
            (b"deflate", PAGE),
        ],
    )
    def test_bodies_are_unpacked(self, tmp_path: Path, encoding: bytes, body: bytes) -> None:
        file = kept(tmp_path, replace(STAR, response_head=_encoded(encoding), body=body))
        assert passes_fastwarc(file)
        page = open_web(str(tmp_path)).fetch(STAR.url)
        assert isinstance(page, Page)
        assert (page.title, page.links[0].url) == ("A star", "http://a.example/moon")

    @pytest.mark.parametrize(
        ("encoding", "pack"),
        [
            (b"gzip", gzip.compress),
            (b"deflate", lambda data: zlib.compress(data, wbits=-15)),
            (b"br", brotli.compress),
            (b"zstd", zstd),
        ],
        ids=["gzip", "raw deflate", "br", "zstd"],
    )
    def test_bombs_are_too_large(self, tmp_path: Path, encoding: bytes, pack) -> None:
        bomb = replace(star(1), response_head=_encoded(encoding), body=pack(bytes(12_000_000)))
        kept(tmp_path, STAR, bomb)
        outcome = open_web(str(tmp_path)).fetch(bomb.url)
        assert outcome == Failed(bomb.url, FailureKind.TOO_LARGE)

    def test_a_page_is_found_by_all_its_names(self, tmp_path: Path) -> None:
        asked, page = "http://short.example/s", "http://a.example/canonical"
        with store(tmp_path) as warc:
            warc.append(STAR, asked, page)
        web = WarcArchive(tmp_path)
        assert len(web) == 1
        for name in (asked, STAR.url, page):
            found = web.fetch(name)
            assert isinstance(found, Page)
            assert found.url == page

    def test_a_page_wins_over_an_earlier_failure_of_its_url(self, tmp_path: Path) -> None:
        busy = replace(STAR, response_head=b"HTTP/1.1 503 Busy\r\n\r\n", body=b"")
        kept(tmp_path, busy, STAR)
        assert isinstance(WarcArchive(tmp_path).fetch(STAR.url), Page)

    def test_a_directory_without_warc_files_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(ArchiveError, match="has no WARC files"):
            open_web(str(tmp_path))


class TestSeveralFiles:
    def test_are_one_archive(self, tmp_path: Path) -> None:
        with store(tmp_path, part_bytes=1_500) as warc:
            ends = [warc.append(star(number)) for number in range(9)]
        parts = parts_of(tmp_path)
        assert [part.name for part in parts] == [f"pages-0000{n}.warc.gz" for n in range(5)]
        assert ends[-1] == sum(part.stat().st_size for part in parts)
        assert all(headers_of(part, "warcinfo") for part in parts)
        web = open_web(str(tmp_path))
        assert [page.url for page in web.pages()] == [star(number).url for number in range(9)]

    @pytest.mark.parametrize("whole", range(10))
    def test_can_be_taken_back_to_any_end_and_go_on_as_before(
        self, tmp_path: Path, whole: int
    ) -> None:
        with store(tmp_path, part_bytes=1_500) as warc:
            ends = [0, *(warc.append(star(number)) for number in range(9))]
        before = [part.read_bytes() for part in parts_of(tmp_path)]
        with store(tmp_path, part_bytes=1_500) as warc:
            warc.truncate(ends[whole])
            assert warc.end == ends[whole]
            assert [warc.append(star(number)) for number in range(whole, 9)] == ends[whole + 1 :]
        assert [part.read_bytes() for part in parts_of(tmp_path)] == before

    def test_of_other_people_are_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "pages-mine.warc.gz").write_bytes(b"mine")
        with store(tmp_path) as warc:
            warc.append(STAR)
            warc.truncate(0)
        assert [file.name for file in tmp_path.iterdir()] == ["pages-mine.warc.gz"]

    def test_may_end_with_one_that_is_still_empty(self, tmp_path: Path) -> None:
        kept(tmp_path, STAR)
        (tmp_path / "pages-00001.warc.gz").touch()
        assert len(open_web(str(tmp_path))) == 1
        with store(tmp_path) as warc:
            warc.append(star(1))
        assert headers_of(tmp_path / "pages-00001.warc.gz", "warcinfo")
        assert len(open_web(str(tmp_path))) == 2

    def test_tell_whether_an_exchange_is_still_there(self, tmp_path: Path) -> None:
        with store(tmp_path, part_bytes=1_500) as warc:
            ends = [0, *(warc.append(star(number)) for number in range(9))]
            assert all(warc.is_whole(*span) for span in pairwise(ends))
            assert not warc.is_whole(ends[-1], ends[-1] + 1)
            assert warc.surplus(ends[7]) == 5  # a file begins there
        last = parts_of(tmp_path)[-1]
        whole = last.read_bytes()
        for damaged in (whole[:-1], whole[:-500] + bytes(500), flipped(whole, -30)):
            last.write_bytes(damaged)
            warc = store(tmp_path, part_bytes=1_500)
            assert [warc.is_whole(*span) for span in pairwise(ends)] == [True] * 8 + [False]


class TestACrash:
    def test_leaves_the_earlier_pages_readable_wherever_it_cuts(self, tmp_path: Path) -> None:
        with store(tmp_path) as warc:
            first, second = warc.append(STAR), warc.append(star(1))
        (file,) = parts_of(tmp_path)
        data = file.read_bytes()
        for cut in (*range(first, first + 20), *range(first + 20, second, 7)):
            file.write_bytes(data[:cut])
            assert isinstance(open_web(str(tmp_path)).fetch(STAR.url), Page), cut

    def test_is_forgotten_by_the_next_start(self, tmp_path: Path) -> None:
        with store(tmp_path) as warc:
            end = warc.append(STAR)
        (file,) = parts_of(tmp_path)
        with file.open("ab") as stream:
            stream.write(b"\x1f\x8b half of a member")
        with store(tmp_path) as warc:
            warc.truncate(end)
            warc.append(star(1))
        assert passes_check(file)
        assert len(WarcArchive(file)) == 2

    def test_of_a_full_disk_leaves_all_as_it_was(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Full(io.FileIO):
            """Takes some bytes and no more, as a disk does."""

            room = 100

            def write(self, data) -> int:
                if not self.room:
                    raise OSError(errno.ENOSPC, "No space left on device")
                self.room = 0
                return super().write(data[:100])

        with store(tmp_path) as warc:
            end = warc.append(STAR)
        warc = store(tmp_path)
        with monkeypatch.context() as small:
            small.setattr("tres.store.warc_writer.FileIO", Full)
            with pytest.raises(OSError, match="No space left"):
                warc.append(star(1))
        (file,) = parts_of(tmp_path)
        assert warc.end == end == file.stat().st_size
        warc.close()
        with warc:
            warc.append(star(1))
        assert len(WarcArchive(file)) == 2


def flipped(content: bytes, at: int) -> bytes:
    """The content with one bit changed."""
    changed = bytearray(content)
    changed[at] ^= 1
    return bytes(changed)
