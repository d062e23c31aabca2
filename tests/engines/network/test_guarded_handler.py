"""No connection to an address that is not the Web's, however it is spelt or resolved."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Thread

import pytest
from tests.engines.network.fetching import fetch
from tests.support.certificates import self_signed_certificate
from tests.support.http_server import Request, response, serving

from tres.engines.network.addresses import AddressGuard
from tres.engines.scrapy.politeness_middleware import site_of_url

PRIVATE = """
    127.0.0.1 127.8.8.8 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 100.100.100.200
    0.0.0.0 255.255.255.255 224.0.0.1 240.0.0.1 192.0.2.1 198.18.0.1 192.0.0.192 168.63.129.16
    ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 fec0::1 2001:db8::1 ::127.0.0.1
    ::ffff:127.0.0.1 ::ffff:169.254.169.254 2002:7f00:1:: 2002:a01:203:: 64:ff9b::7f00:1
    64:ff9b::a9fe:a9fe 64:ff9b:1::a01:203 2001:0:4136:e378:8000:63bf:3fff:fdd2 no-address
""".split()
PUBLIC = """
    8.8.8.8 93.184.216.34 2606:4700::1111 ::ffff:8.8.8.8 2002:808:808:: 64:ff9b::808:808
""".split()


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_refused(address):
    assert not AddressGuard().permits(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_permitted(address):
    assert AddressGuard().permits(address)


def test_networks_that_the_user_allows_are_permitted_and_no_others():
    guard = AddressGuard(["10.1.0.0/16", "::1"])
    assert guard.permits("10.1.2.3")
    assert guard.permits("::ffff:10.1.2.3")
    assert guard.permits("::1")
    assert not guard.permits("10.2.0.1")


def answer(asked: Request) -> bytes | list[bytes]:
    if asked.path.startswith("/to?"):
        return response(b"", "302 Found", Location=asked.path.partition("?")[2])
    if asked.path == "/moved":
        return [response(b"", "302 Found", Location="/again", Connection="close")]
    if asked.path == "/reset":
        return []
    return response()


@pytest.fixture(scope="module")
def guarded():
    """127.0.0.2 plays the Web; 127.0.0.1 is private and must never be connected to."""
    with serving(answer, "127.0.0.1", "127.0.0.2", "127.0.0.4") as web:
        spellings = ("127.0.0.1", "2130706433", "0x7f.1", "017700000001", "[::ffff:127.0.0.1]")
        urls = {spelling: web.url(address=spelling) for spelling in spellings}
        urls |= {
            "by name": web.url(address="private.example"),
            "localhost": web.url(address="localhost"),
            "redirected": web.url(f"/to?{web.url()}", "127.0.0.2"),
            "both": web.url(address="both.example"),
            "rebinding": web.url("/moved", "rebinding.example"),
            "retried": web.url("/reset", "retried.example"),
            "kept": web.url("/to?/kept", "127.0.0.4"),
            "public": web.url(address="127.0.0.2"),
            "unknown": web.url(address="unknown.example"),
            "odd": "http://" + "a" * 80 + ".example/",
            "file": "file:///etc/passwd",
            "data": "data:text/html,hello",
            "ftp": "ftp://127.0.0.1/",
            "s3": "s3://bucket/key",
        }
        names = {
            "private.example": [["127.0.0.1"]],
            "both.example": [["127.0.0.1", "127.0.0.2"]],
            "rebinding.example": [["127.0.0.2"], ["127.0.0.1"]],
            "retried.example": [["127.0.0.2"], ["127.0.0.1"]],
            "unknown.example": [[]],
        }
        allowed = ["127.0.0.2/32", "127.0.0.4/32"]
        result = fetch(urls.values(), names, allow=allowed, retries=1)
        yield {case: result["told"][url] for case, url in urls.items()}, web, result


@pytest.mark.parametrize(
    "case",
    [
        *("127.0.0.1", "2130706433", "0x7f.1", "017700000001", "[::ffff:127.0.0.1]"),
        *("by name", "localhost", "redirected"),
    ],
)
def test_every_spelling_of_a_private_address_is_blocked(guarded, case):
    assert guarded[0][case]["kind"] == "blocked-address"


def test_no_connection_to_a_private_address_was_ever_made(guarded):
    _, web, _ = guarded
    assert set(web.connections) == {"127.0.0.2", "127.0.0.4"}


def test_of_several_addresses_only_the_public_ones_are_tried(guarded):
    assert guarded[0]["both"]["status"] == 200
    assert guarded[0]["both"]["exchange"]["address"] == "127.0.0.2"


@pytest.mark.parametrize("case", ["rebinding", "retried"])
def test_a_name_that_is_rebound_is_blocked_on_its_next_hop_and_on_its_next_attempt(guarded, case):
    told, web, result = guarded
    assert told[case]["kind"] == "blocked-address"
    assert result["asked"].count(f"{case}.example") == 2  # one look-up per connection, no more
    assert {"/moved", "/reset"} <= set(web.paths("127.0.0.2"))


def test_connections_are_kept_and_used_again(guarded):
    _, web, _ = guarded
    assert web.paths("127.0.0.4") == ["/to?/kept", "/kept"]
    assert web.connections.count("127.0.0.4") == 1


def test_a_name_without_an_address_fails_as_no_such_host(guarded):
    assert guarded[0]["unknown"]["kind"] == "no-such-host"
    assert guarded[0]["odd"]["kind"] == "no-such-host"


def test_a_silent_name_server_times_out():
    url = "http://silent.example/"
    told = fetch([url], settings={"DNS_TIMEOUT": 1.0})["told"][url]
    assert told["kind"] == "no-such-host"
    assert "too long" in told["note"]


@pytest.mark.parametrize("case", ["file", "data", "ftp", "s3"])
def test_nothing_but_http_is_ever_fetched(guarded, case):
    assert guarded[0][case]["kind"] == "blocked-url"


def test_urls_that_are_not_of_the_web_share_no_site_so_that_none_backs_off_for_another():
    """The name in the first one has no address; its site then backs off."""
    urls = ["http://" + "a" * 80 + ".example/", "s3://bucket/key", "data:text/html,hello"]
    assert len({site_of_url(url, "host") for url in urls}) == len(urls)


def test_a_proxy_gets_everything_in_absolute_form_and_no_name_is_looked_up():
    with serving(answer) as web:
        urls = ["http://a.example/x?y=1", "https://b.example/", "http://10.0.0.1/"]
        result = fetch(urls, proxy=web.url())
        assert sorted(asked.line for asked in web.requests) == [
            "GET http://10.0.0.1/ HTTP/1.1",
            "GET http://a.example/x?y=1 HTTP/1.1",
            "GET https://b.example/ HTTP/1.1",
        ]
        assert {asked.headers["host"] for asked in web.requests} == {
            "a.example",
            "b.example",
            "10.0.0.1",
        }
        assert set(result["asked"]) == {"127.0.0.1"}
        told = result["told"]["https://b.example/"]
        assert told["status"] == 200
        assert told["exchange"]["request"].startswith("GET https://b.example/ HTTP/1.1\r\n")


@pytest.mark.parametrize("robots", [False, True])
def test_a_dead_proxy_is_named_whether_robots_txt_or_a_page_comes_first(robots):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        proxy = f"http://127.0.0.1:{taken.getsockname()[1]}"
    told = fetch(["http://a.example/", "https://b.example/c"], proxy=proxy, robots=robots)["told"]
    assert {each["kind"] for each in told.values()} == {"proxy-unreachable"}
    assert all(f"the proxy {proxy} does not answer; start it" in n["note"] for n in told.values())


def test_a_proxy_without_an_address_is_named():
    told = fetch(["http://a.example/"], proxy="http://nowhere.example:3128")["told"]
    assert told["http://a.example/"]["kind"] == "proxy-unreachable"


@pytest.fixture
def self_signed(tmp_path):
    return self_signed_certificate(tmp_path)


@pytest.mark.parametrize(
    ("level", "alert", "note"),
    [
        (1, 0, "closed during the handshake"),
        (1, 112, "too many warn alerts"),
        (2, 40, "tls alert handshake failure"),
    ],
)
def test_floods_of_tls_alerts_are_named(level, alert, note):
    """`fetch` fails if anything prints a traceback."""

    def flood(server):
        connection, _ = server.accept()
        with connection, suppress(OSError):  # the crawler hangs up
            connection.recv(4096)
            connection.sendall(bytes([0x15, 3, 3, 0, 2, level, alert]) * 100_000)

    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=flood, args=(server,), daemon=True).start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}/"
        told = fetch([url], allow=["127.0.0.1/32"])["told"][url]
    assert (told["kind"], told["note"]) == ("no-connection", f"TLS failed: {note}")


def test_certificates_are_verified(self_signed, monkeypatch):
    tls, file = self_signed
    with serving(answer, tls=tls) as web:
        url = web.url().replace("http:", "https:")
        told = fetch([url], allow=["127.0.0.1/32"])["told"][url]
        assert (told["kind"], told["note"]) == (
            "no-connection",
            "TLS failed: certificate verify failed",
        )
        assert web.requests == []
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        assert fetch([url], allow=["127.0.0.1/32"])["told"][url]["status"] == 200
