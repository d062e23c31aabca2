"""A web over HTTP: what goes over the wire, also to clients that mean no good."""

from __future__ import annotations

import http.client
import io
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.errors import ArchiveError
from tres.offline import proxy as proxy_module
from tres.offline.faults import Faults
from tres.offline.http_messages import Request, parse_request, text_response
from tres.offline.proxy import MAX_HEAD_BYTES, Proxy
from tres.offline.serving import serving
from tres.web.page import Failed, FailureKind, Link, Outcome, Page
from tres.web.parse import parse_html

STAR = Page("http://a.example/star", "A star", "It shines.", (Link("https://b.example/", "b"),))
SECURE = Page("https://b.example/", "Secure", "No TLS is needed here.")
LARGE = Page("http://a.example/large", "Large", "word " * 15_000)


class SmallWeb:
    """A few pages, one of them under two addresses."""

    name = "small"

    def fetch(self, url: str) -> Outcome:
        pages = {page.url: page for page in self.pages()}
        if url == "http://a.example/moved":
            return STAR
        return pages.get(url, Failed(url, FailureKind.NOT_FOUND))

    def pages(self) -> Iterator[Page]:
        return iter((STAR, SECURE, LARGE))

    def __len__(self) -> int:
        return 3


@contextmanager
def connected(**options) -> Iterator[socket.socket]:
    """A connection to a proxy that serves the small web."""
    with (
        serving(SmallWeb(), **options) as address,
        socket.create_connection(place(address), timeout=30) as client,
    ):
        yield client


def place(address: str) -> tuple[str, int]:
    host, _, port = address.removeprefix("http://").rpartition(":")
    return host, int(port)


def ask(target: str, method: str = "GET", *headers: str, version: str = "1.1") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/{version}", *headers, "", ""]).encode()


def response(
    client: socket.socket, method: str = "GET"
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """The next response on a connection; exactly its bytes are taken."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += exactly(client, 1)
    first, _, rest = head.partition(b"\r\n")
    headers = http.client.parse_headers(io.BytesIO(rest))
    length = 0 if method == "HEAD" else int(headers["Content-Length"])
    return int(first.split()[1]), exactly(client, length), headers


def exactly(client: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        piece = client.recv(count - len(received))
        assert piece, f"the connection ended after {received!r}"
        received += piece
    return received


def is_ended(client: socket.socket) -> bool:
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


class TestARequest:
    @pytest.mark.parametrize("page", [STAR, SECURE, LARGE])
    def test_in_absolute_form_gets_the_page_with_or_without_https(self, page):
        with connected() as client:
            client.sendall(ask(page.url))
            status, body, headers = response(client)
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert parse_html(page.url, body, "utf-8") == Page(
            page.url, page.title, page.text.strip(), page.links
        )

    @pytest.mark.parametrize("port", ["", ":80", "own"])
    def test_in_origin_form_goes_to_the_host_of_its_header(self, port):
        with connected() as client:
            own = f":{client.getpeername()[1]}"
            client.sendall(ask("/star", "GET", f"HOST:  A.example{own if port == 'own' else port}"))
            assert response(client)[0] == 200

    def test_in_absolute_form_overrules_the_header(self):
        with connected() as client:
            client.sendall(ask(STAR.url, "GET", "Host: nobody.example"))
            assert response(client)[0] == 200

    def test_for_an_unknown_url_is_404(self):
        with connected() as client:
            client.sendall(ask("http://a.example/nothing"))
            assert response(client)[0] == 404

    def test_for_a_page_that_is_elsewhere_is_redirected(self):
        with connected() as client:
            client.sendall(ask("http://a.example/moved"))
            status, _, headers = response(client)
        assert (status, headers["Location"]) == (302, STAR.url)

    def test_by_head_gets_the_same_head_and_no_body(self):
        with connected() as client:
            client.sendall(ask(STAR.url) + ask(STAR.url, "HEAD") + ask(STAR.url))
            _, body, headers = response(client)
            status, nothing, same = response(client, "HEAD")
            assert (status, nothing, same.items()) == (200, b"", headers.items())
            assert response(client)[1] == body

    def test_by_connect_is_refused_with_advice(self):
        with connected() as client:
            client.sendall(ask("b.example:443", "CONNECT", "Host: b.example:443"))
            status, body, _ = response(client)
            assert status == 405
            assert b"without TLS" in body
            assert b"absolute form" in body
            assert is_ended(client)


class TestAConnection:
    def test_takes_one_request_after_another(self):
        with connected() as client:
            for page in (STAR, SECURE, STAR):
                client.sendall(ask(page.url))
                assert page.title.encode() in response(client)[1]

    def test_answers_pipelined_requests_in_their_order(self):
        pages = [STAR, LARGE, SECURE] * 20
        with connected() as client:
            client.sendall(b"".join(ask(page.url) for page in pages))
            for page in pages:
                assert f"<title>{page.title}</title>".encode() in response(client)[1]

    def test_keeps_the_order_when_answers_take_their_time(self):
        pages = [STAR, SECURE, LARGE]
        with connected(faults=Faults((0.0, 0.05))) as client:
            client.sendall(b"".join(ask(page.url) for page in pages))
            titles = [response(client)[1] for _ in pages]
        assert all(page.title.encode() in body for page, body in zip(pages, titles, strict=True))

    def test_takes_a_request_in_any_pieces(self):
        with connected() as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in b"\r\n" + ask(STAR.url, "GET", "X: y"):
                client.sendall(bytes([byte]))
            assert response(client)[0] == 200

    @pytest.mark.parametrize(
        ("version", "headers", "stays"),
        [
            ("1.1", [], True),
            ("1.1", ["Connection: close"], False),
            ("1.1", ["connection: Close"], False),
            ("1.1", ["Proxy-Connection: close"], False),
            ("1.0", [], False),
            ("1.0", ["Connection: keep-alive"], True),
        ],
    )
    def test_stays_open_as_the_client_wishes(self, version, headers, stays):
        with connected() as client:
            client.sendall(ask(STAR.url, "GET", *headers, version=version))
            assert (response(client)[2]["Connection"] == "close") is not stays
            if stays:
                client.sendall(ask(STAR.url))
                assert response(client)[0] == 200
            else:
                assert is_ended(client)


class TestAHostileClient:
    @pytest.mark.parametrize(
        ("sent", "status"),
        [
            (b"\x16\x03\x01\x02\x00\r\n\r\n", 400),
            (b"GET\r\n\r\n", 400),
            (b"GET  http://a.example/star HTTP/1.1\r\n\r\n", 400),
            (b"GET http://a.example/star HTTP/2.0\r\n\r\n", 400),
            (b"GET /star HTTP/1.1\r\n\r\n", 400),
            (b"GET /star HTTP/1.1\r\nHost: a b\r\n\r\n", 400),
            (b"GET ftp://a.example/ HTTP/1.1\r\n\r\n", 400),
            (b"GET http://me:secret@a.example/star HTTP/1.1\r\n\r\n", 400),
            (b"GET http://a.example/\xff HTTP/1.1\r\n\r\n", 400),
            (b"GET http://a.example/star HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 400),
            (b"GET http://a.example/star HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            (b"POST http://a.example/star HTTP/1.1\r\n\r\n", 405),
            (b"GET http://a.example/star HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES, 431),
        ],
    )
    def test_is_refused_and_the_connection_ends(self, sent, status):
        with connected() as client:
            client.sendall(sent)
            assert response(client)[0] == status
            assert is_ended(client)

    def test_that_never_ends_its_request_is_cut_off(self):
        with impatient(0.2) as address, socket.create_connection(place(address), 30) as client:
            client.sendall(b"GET http://a.example/star HT")
            assert is_ended(client)

    def test_that_never_reads_holds_little_and_is_cut_off(self):
        with (
            impatient(0.5) as address,
            socket.create_connection(place(address), 30) as client,
            pytest.raises(ConnectionError),
        ):
            flood(client)

    def test_does_not_disturb_others(self):
        with serving(SmallWeb()) as address:
            bad = [socket.create_connection(place(address), 30) for _ in range(20)]
            for number, client in enumerate(bad):
                client.sendall([b"GET ", b"\0" * 50_000, ask(LARGE.url), b"\r\n"][number % 4])
            for client in bad[::2]:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                client.close()
            with socket.create_connection(place(address), 30) as client:
                client.sendall(ask(STAR.url))
                assert response(client)[0] == 200
            for client in bad:
                client.close()

    def test_cannot_open_more_connections_than_there_may_be(self, monkeypatch):
        monkeypatch.setattr(proxy_module, "MAX_CONNECTIONS", 2)
        with serving(SmallWeb()) as address:
            clients = [socket.create_connection(place(address), 30) for _ in range(3)]
            assert is_ended(clients[2])
            clients[0].sendall(ask(STAR.url))
            assert response(clients[0])[0] == 200
            for client in clients:
                client.close()

    @given(st.binary(max_size=200))
    def test_may_send_any_bytes(self, head):
        request = parse_request(head, 80)
        assert isinstance(request, Request) or request.response.status in (400, 405)


def flood(client: socket.socket) -> None:
    """Ask for some ten gigabytes and read nothing."""
    for _ in range(1000):
        client.sendall(ask(LARGE.url) * 100)


@contextmanager
def impatient(seconds: float) -> Iterator[str]:
    with serving(SmallWeb(), idle_seconds=seconds) as address:
        yield address


class TestRobots:
    @pytest.mark.parametrize(
        ("robots", "status"), [(None, 404), (b"", 200), (b"User-agent: *\nDisallow: /x\n", 200)]
    )
    def test_are_those_of_the_file_for_every_host(self, robots, status):
        with connected(robots=robots, faults=Faults(errors=1.0, lasting=True)) as client:
            for host in ("a", "b", "nobody"):
                client.sendall(ask(f"http://{host}.example/robots.txt"))
                assert response(client)[:2] == (status, robots) if status == 200 else (404, b"")


class TestTheLog:
    def test_has_a_line_per_request_with_the_time_it_came(self):
        log, now = io.StringIO(), iter([1.0, 2.25, 3.5])
        with connected(log=log, clock=lambda: next(now)) as client:
            client.sendall(ask(STAR.url) + ask("https://B.example/no", "HEAD") + b"\x1b\r\n\r\n")
            while client.recv(65_536):
                pass
        assert log.getvalue().splitlines() == [
            "1.000000\ta.example\tGET\thttp://a.example/star\t200",
            "2.250000\tb.example\tHEAD\thttps://b.example/no\t404",
            "3.500000\t-\t-\t-\t400",
        ]


class TestWeather:
    def test_fails_a_seeded_share_of_pages_once(self):
        faults, same = Faults(errors=0.3, seed=7), Faults(errors=0.3, seed=7)
        urls = [f"http://a.example/{number}" for number in range(1000)]
        failed = [faults.fails(url) for url in urls]
        assert 250 < sum(failed) < 350
        assert failed == [same.fails(url) for url in urls]
        assert not any(faults.fails(url) for url in urls)
        other = Faults(errors=0.3, seed=8)
        assert failed != [other.fails(url) for url in urls]

    def test_may_last(self):
        faults = Faults(errors=1.0, lasting=True)
        assert [faults.fails("http://a.example/") for _ in range(3)] == [True] * 3

    def test_remembers_a_bounded_number_of_failures(self, monkeypatch):
        monkeypatch.setattr("tres.offline.faults.MAX_REMEMBERED", 2)
        faults = Faults(errors=1.0)
        assert all(faults.fails(f"http://a.example/{number}") for number in range(9))
        assert not faults.fails("http://a.example/8")
        assert faults.fails("http://a.example/0")

    def test_draws_delays_between_its_bounds(self):
        faults = Faults((0.05, 0.2))
        seconds = [faults.next_delay() for _ in range(100)]
        assert 0.05 <= min(seconds) < 0.1 < max(seconds) <= 0.2

    def test_reaches_the_client(self):
        with connected(faults=Faults(errors=1.0)) as client:
            client.sendall(ask(STAR.url) * 2 + ask("http://a.example/nothing"))
            assert [response(client)[0] for _ in range(3)] == [503, 200, 404]


class TestAnswers:
    def test_are_computed_once_and_cached_within_bounds(self):
        asked: list[str] = []

        def source(url):
            asked.append(url)
            return text_response(200, "x" * 1000)

        proxy = Proxy(source, max_cached_bytes=3500)
        for number in (1, 1, 2, 2, 3, 4, 4, 1):
            proxy.response(Request(b"GET", f"http://a.example/{number}", True))
        assert [url[-1] for url in asked] == ["1", "2", "3", "4", "1"]

    def test_of_an_archive_that_is_gone_are_500(self):
        def source(url):
            raise ArchiveError("web.warc: no such file; check the path given as the web")

        reply = Proxy(source).response(Request(b"GET", "http://a.example/", True))
        assert reply.status == 500
        assert b"no such file" in reply.whole
