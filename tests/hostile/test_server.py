"""Every case does on the wire what it says.

All hosts are asked at once, with bare sockets. What a client sees is written down as the bytes
that it got and how it ended: `<end>`, `<reset>`, `<silence>` (nothing more came),
`<drip>` (it comes slowly), `<more>` (more than anybody wants to read) or `<endless>` (none of
these, and for too long).
"""

from __future__ import annotations

import asyncio
import gzip
import io
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.hostile import good, names
from tests.hostile.bombs import MEGABYTE, MEGABYTES, gzip_bomb
from tests.hostile.case import PAGE, Case, all_cases
from tests.hostile.server import hostile_web

from tres.web.page import FailureKind, Page
from tres.web.parse import parse_html

CASES = all_cases()
ENOUGH_BYTES = 150_000
SHORT, LONG = 3.0, 30.0
"""Seconds without a word that are silence: where it is expected, and on a busy machine, on which
a bomb is long in the making."""
WHOLE = 60.0
AT_ONCE = 12
DRIPS = re.compile(rb"(?:Drip</title>\.+|OK\r\n(?:X-Slow: yes\r\n)+)\Z")
"""A client that was held up finds several of them at once."""
KINDS = {PAGE, *FailureKind}


async def seen(host: str, port: int, path: str, patience: float) -> str:
    """What a client gets that asks for a path, and how it ends."""
    received = bytearray()
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET {path} HTTP/1.1\r\nConnection: close\r\n\r\n".encode())
    try:
        async with asyncio.timeout(WHOLE):
            ending = await ending_of(reader, received, patience)
    except ConnectionResetError:
        ending = "<reset>"
    except TimeoutError:
        ending = "<endless>"
    finally:
        writer.transport.abort()
    return received.decode("latin-1") + ending


async def ending_of(reader: asyncio.StreamReader, received: bytearray, patience: float) -> str:
    """Receive what comes until it is clear how that ends."""
    while len(received) < ENOUGH_BYTES:
        try:
            piece = await asyncio.wait_for(reader.read(ENOUGH_BYTES), patience)
        except TimeoutError:
            return "<silence>"
        if not piece:
            return "<end>"
        received += piece
        if DRIPS.search(received):
            return "<drip>"
    return "<more>"


async def all_seen(port: int, places: dict[tuple[str, str], str]) -> dict[tuple[str, str], str]:
    """What is seen at places, of each of which a pattern is known."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(host: str, path: str, pattern: str) -> str:
        async with turns:
            return await seen(host, port, path, SHORT if "<silence>" in pattern else LONG)

    told = await asyncio.gather(*(one(*place, pattern) for place, pattern in places.items()))
    return dict(zip(places, told, strict=True))


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "requests.log"


@pytest.fixture(scope="module")
def web(log: Path) -> Iterator[int]:
    with hostile_web(log) as port:
        yield port


@pytest.fixture(scope="module")
def wire(web: int) -> dict[tuple[str, str], str]:
    places = {(case.host, "/"): case.wire for case in CASES}
    places |= {(case.host, "/robots.txt"): case.robots_wire for case in CASES}
    places |= {(host, path): "" for host in good.hosts()[:3] for path in ("/", "/7", "/robots.txt")}
    return asyncio.run(all_seen(web, places | {(good.hosts()[0], "/none"): ""}))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
class TestACase:
    def test_does_what_it_says(self, case: Case, wire):
        assert re.search(case.wire, wire[case.host, "/"], re.DOTALL), wire[case.host, "/"][:300]

    def test_has_a_robots_file_or_none(self, case: Case, wire):
        assert re.search(case.robots_wire, wire[case.host, "/robots.txt"], re.DOTALL)

    def test_is_described_and_expects_what_can_be_reported(self, case: Case):
        assert case.about
        assert set(case.expect) <= KINDS
        assert all(set(kinds) <= KINDS for kinds in case.also.values())


def test_the_good_part_is_pages_that_lead_to_all_hostile_hosts(web):
    hostile = [case.host for case in CASES]
    led_to = set()
    for host in good.hosts():
        for number in range(good.PAGES):
            body = good.document(host, f"/{number}", web, hostile)
            page = parse_html(f"http://{host}:{web}/{number}", body, "utf-8")
            assert isinstance(page, Page)
            led_to |= {link.url for link in page.links}
    assert {f"http://{host}:{web}/" for host in hostile} <= led_to


def test_good_hosts_answer_honestly_among_the_others(wire):
    for host in good.hosts()[:3]:
        assert wire[host, "/"].startswith("HTTP/1.1 200 OK")
        assert "<title>Page 7 of site" in wire[host, "/7"]
        assert wire[host, "/robots.txt"].startswith("HTTP/1.1 404")
    assert wire[good.hosts()[0], "/none"].startswith("HTTP/1.1 404")


def test_every_request_is_in_the_log(wire, log):
    lines = [line.split("\t") for line in log.read_text().splitlines()]
    assert {(host, path.strip("'")) for _, host, _, path, _ in lines} == set(wire)
    assert all(re.fullmatch(r"\d+\.\d{6}", line[0]) for line in lines)


def test_the_bomb_is_sound_gzip_of_a_gigabyte():
    bomb = gzip_bomb()
    assert len(bomb) < 2 << 20
    with gzip.open(io.BytesIO(bomb)) as file:
        assert file.read(10 << 20) == bytes(10 << 20)
    checksum = 0
    for _ in range(MEGABYTES):
        checksum = zlib.crc32(bytes(MEGABYTE), checksum)
    assert struct.unpack("<II", bomb[-8:]) == (checksum, 1 << 30)


def test_names_that_rebind_do_so_from_their_second_look_up_on():
    resolver = names.Resolver()
    answers = [resolver.resolve("rebinding.hostile.test") for _ in range(3)]
    assert answers == [["127.0.1.1"], ["10.0.0.1"], ["10.0.0.1"]]
    assert resolver.resolve("unknown.hostile.test") == []
    assert set(names.EXPECT) == set(names.NAMES)
    assert {kind for kinds in names.EXPECT.values() for kind in kinds} <= KINDS
