"""One server under many names is asked as a few sites would be, not as all of them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from itertools import pairwise

import pytest
from tests.engines.network.fetching import fetch
from tests.support.http_server import Request, response, serving

from tres.engines.network.addresses import server_of

NAMES = [f"name{number}.example" for number in range(12)]


class Server:
    """Takes its time, and counts how many requests are under way, by address."""

    def __init__(self, seconds: float = 0.2) -> None:
        self.most: Counter[str] = Counter()
        self._now: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._seconds = seconds

    def answer(self, asked: Request) -> bytes:
        with self._lock:
            self._now[asked.address] += 1
            self.most[asked.address] = max(self.most[asked.address], self._now[asked.address])
        time.sleep(self._seconds)
        with self._lock:
            self._now[asked.address] -= 1
        return response()


def at(*addresses: str) -> dict[str, list[list[str]]]:
    """The names, at these addresses in turn."""
    return {name: [[addresses[place % len(addresses)]]] for place, name in enumerate(NAMES)}


def test_requests_in_flight_at_one_address_are_limited():
    server = Server()
    with serving(server.answer, "127.0.0.1", "127.0.0.2") as web:
        urls = [web.url("/", name) for name in NAMES]
        names, allow = at("127.0.0.1", "127.0.0.2"), ["127.0.0.0/8"]
        told = fetch(urls, names, per_site=1, per_address=2, allow=allow, robots=True)
    assert all(each["status"] == 200 for each in told["told"].values())
    assert set(server.most) == {"127.0.0.1", "127.0.0.2"}
    assert max(server.most.values()) <= 2
    assert max(Counter(told["asked"]).values()) == 1  # finding out costs no second look-up


def test_requests_to_an_address_are_spaced():
    server = Server(0.0)
    with serving(server.answer, "127.0.0.1") as web:
        urls = [web.url("/", name) for name in NAMES[:6]]
        live = {"delay": 2.0, "per_site": 1, "per_address": 8, "allow": ["127.0.0.0/8"]}
        fetch(urls, at("127.0.0.1"), **live)
        times = [asked.at for asked in web.requests]
    assert len(times) == 6
    assert min(b - a for a, b in pairwise(times)) >= 0.2  # a quarter second, less what a clock errs


def test_the_limit_can_be_switched_off():
    server = Server(1.0)
    with serving(server.answer, "127.0.0.1") as web:
        urls = [web.url("/", name) for name in NAMES]
        fetch(urls, at("127.0.0.1"), per_site=1, per_address=0, allow=["127.0.0.0/8"])
    assert server.most["127.0.0.1"] > 4


@pytest.mark.parametrize(
    ("addresses", "server"),
    [
        (["192.0.2.9", "192.0.2.10"], "192.0.2.9"),
        (["192.0.2.10", "192.0.2.9"], "192.0.2.9"),
        (["2001:db8::1", "192.0.2.9"], "192.0.2.9"),
        (["::ffff:192.0.2.9"], "192.0.2.9"),
        (["2001:db8:0:1:ffff::1"], "2001:db8:0:1::/64"),
        (["2001:db8:0:1::2%eth0"], "2001:db8:0:1::/64"),
    ],
)
def test_a_server_has_one_key_whatever_the_order_of_its_addresses(
    addresses: list[str], server: str
):
    assert server_of(addresses) == server
