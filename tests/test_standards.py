"""The counts of `benchmarks/standards.py`, on suites of a few cases."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.standards import Tally, count_hosts, count_robots, count_urls

ROBOTS = Path(__file__).parent / "engines/network/robots_cases.toml"


def written(path: Path, *cases: object) -> Path:
    path.write_text(json.dumps(["a remark", *cases]))
    return path


def test_urls_are_as_browsers_have_them_but_for_what_is_meant(tmp_path: Path) -> None:
    cases = (
        {"input": "/b#c", "base": "http://a.example/", "href": "http://a.example/b#c"},
        {
            "input": "http://u@a.example/",
            "base": None,
            "href": "http://u@a.example/",
            "username": "u",
        },
        {"input": "data:x", "base": None, "href": "data:x"},
        {"input": "http://256.0.0.1/", "base": None, "failure": True},
    )
    tally = Tally(0)
    count_urls(written(tmp_path / "urls.json", *cases), tally)
    assert tally.counts["URLs"] == {"same": 1, "user name or password": 1}
    assert tally.counts["URLs to refuse"] == {"same": 1}


def test_hosts_are_as_browsers_have_them_but_for_what_is_meant(tmp_path: Path) -> None:
    names = {
        "stra\u00dfe.de": "xn--strae-oqa.de",
        "a.example.": "a.example.",
        "a..b": "a..b",
        "a$b": "a$b",
        "a" * 64: "a" * 64,
        "a\u200cb": None,
    }
    cases = [{"input": name, "output": output} for name, output in names.items()]
    tally = Tally(0)
    count_hosts(written(tmp_path / "hosts.json", *cases), tally)
    assert tally.counts["hosts, hosts.json"] == {
        "same": 2,
        "without its final dot": 1,
        "refused, an empty label": 1,
        "refused, not letters, digits, - or _": 1,
        "refused, too long for DNS": 1,
    }


def test_robots_txt_is_read_as_the_standard_has_it_and_protego_is_counted_beside() -> None:
    tally = Tally(0)
    count_robots(ROBOTS, tally)
    ours, protego = tally.counts["robots.txt, tres"], tally.counts["robots.txt, Protego"]
    assert set(ours) == {"same"}
    assert ours.total() == protego.total() >= 163
