"""How does `tres` read the Web, compared with browsers? Results of other people's test suites.

    python benchmarks/standards.py --urls urltestdata.json --hosts toascii.json IdnaTestV2.json
    python benchmarks/standards.py --pages campus.warc.gz [--limit 1000]
    python benchmarks/standards.py --robots tests/engines/network/robots_cases.toml
    python benchmarks/standards.py --speed campus.warc.gz [--against OLD/src]

`--urls` and `--hosts` take the files of these names from `url/resources` of web-platform-tests.
Only http and https URLs count, without their fragments. `--pages` reads the pages of a WARC file
once with `tres` and once with html5lib (`pip install html5lib`), which follows the HTML standard
and shares no code with our parser, and compares titles and links. `--robots` counts the cases of a
file, also for Protego alone. `--speed` measures URLs per second of CPU time on the links of a WARC
file; `--against` measures another checkout in the same run. `--show N` prints that many differences
of each kind.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

from fastwarc.warc import ArchiveIterator, WarcRecordType
from rich.console import Console
from rich.table import Table

from tres.web.page import Page
from tres.web.parse import MAX_TITLE_CHARS, fold_blanks, parse_html
from tres.web.url import MAX_HOST_CHARS, canonical, host_of

MAX_BODY = 2_000_000
HTML = "{http://www.w3.org/1999/xhtml}"
LINKS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}


class Tally:
    """Counts by suite and verdict, with examples of each."""

    def __init__(self, show: int) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._show = show

    def add(self, suite: str, verdict: str, *example: object) -> None:
        self.counts[suite][verdict] += 1
        if verdict != "same" and self.counts[suite][verdict] <= self._show:
            print(f"{suite}, {verdict}: {' | '.join(map(ascii, example))}")

    def table(self) -> Table:
        table = Table("suite", "same", "of", "share", "differences")
        for suite, found in self.counts.items():
            total = found.total()
            others = ", ".join(f"{n:,} {name}" for name, n in found.most_common() if name != "same")
            share = f"{found['same'] / total:.2%}"
            table.add_row(suite, f"{found['same']:,}", f"{total:,}", share, others)
        return table


def count_urls(path: Path, tally: Tally) -> None:
    """How browsers parse URLs; what they refuse counts as a suite of its own."""
    for case in filter(_is_case, json.loads(path.read_text())):
        base, expected = case["base"], case.get("href")
        if expected and not expected.startswith(("http:", "https:")):
            continue
        found = canonical(case["input"], canonical(base) if base else None)
        wanted = expected.partition("#")[0] if expected else None
        suite = "URLs" if wanted else "URLs to refuse"
        tally.add(suite, _url_verdict(found, wanted, case), case["input"], wanted, found)


def _url_verdict(found: str | None, wanted: str | None, case: dict[str, Any]) -> str:
    if found == wanted:
        return "same"
    if case.get("username") or case.get("password"):
        return "user name or password"
    return "taken" if wanted is None else "refused" if found is None else "another URL"


def count_hosts(path: Path, tally: Tally) -> None:
    """International host names."""
    for case in filter(_is_case, json.loads(path.read_text())):
        found = canonical(f"http://{case['input']}/")
        host, wanted = host_of(found) if found else None, case["output"]
        tally.add(f"hosts, {path.name}", _host_verdict(host, wanted), case["input"], wanted, host)


def _host_verdict(found: str | None, wanted: str | None) -> str:
    if found == wanted:
        return "same"
    if wanted is None:
        return "too lenient"
    if found is not None:
        return "without its final dot" if found + "." == wanted else "another host"
    name = wanted.removesuffix(".")
    labels = name.split(".")
    if len(name) > MAX_HOST_CHARS or max(map(len, labels)) > 63:
        return "refused, too long for DNS"
    return "refused, an empty label" if "" in labels else "refused, not letters, digits, - or _"


def _is_case(entry: object) -> bool:
    return isinstance(entry, dict) and entry.get("input") is not None


def records(path: Path, limit: int) -> Iterator[tuple[str, bytes, str | None]]:
    """URL, body and charset of the HTML pages of a WARC file."""
    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.response):
            http, kind = record.http_headers, record.http_content_type or ""
            if http is None or http.status_code != 200 or "html" not in kind:
                continue
            if url := canonical((record.headers.get("WARC-Target-URI") or "").strip("<>")):
                yield url, record.reader.read(MAX_BODY), record.http_charset
                limit -= 1
            if not limit:
                return


def count_pages(path: Path, limit: int, tally: Tally) -> None:
    """Titles and links of real pages, by another parser."""
    for url, body, charset in records(path, limit):
        page = parse_html(url, body, charset)
        if isinstance(page, Page):
            title, links = other_reading(url, body, charset)
            if title:
                verdict = "same" if page.title == title[:MAX_TITLE_CHARS] else "another title"
                tally.add("titles", verdict, url, title, page.title)
            ours = Counter(link.url for link in page.links)
            for verdict, some in (("same", ours & links), ("missed", links - ours)):
                for link in some.elements():
                    tally.add("links", verdict, url, link)
            for link in (ours - links).elements():
                tally.add("links", "taken by tres alone", url, link)


def other_reading(url: str, body: bytes, charset: str | None) -> tuple[str, Counter[str]]:
    """Title and links of a page as html5lib reads them; URLs are a suite of their own."""
    import html5lib

    from tres.web.charset import encoding_of

    encoding = encoding_of(charset) if charset else None
    parser = html5lib.HTMLParser(html5lib.getTreeBuilder("etree"))
    hint = {"transport_encoding": encoding} if encoding else {}
    tree = parser.parse(body, scripting=True, **hint)
    used = encoding_of(parser.documentEncoding) or "utf-8"
    named = tree.find(f".//{HTML}title")
    base = url
    for node in tree.iter(f"{HTML}base"):
        if "href" in node.attrib:
            base = canonical(node.attrib["href"], url) or url
            break
    links: Counter[str] = Counter()
    for node in tree.iter():
        attribute = LINKS.get(node.tag.removeprefix(HTML)) if isinstance(node.tag, str) else None
        written = node.attrib.get(attribute) if attribute else None
        if written is not None and (target := canonical(written, base, used)):
            links[target] += 1
    return fold_blanks(named.text or "") if named is not None else "", links


def count_robots(path: Path, tally: Tally) -> None:
    """The cases of a file, read by us and by Protego alone."""
    from protego import Protego

    from tres.engines.politeness.robots_txt import RobotsRules

    for case in tomllib.loads(path.read_text())["case"]:
        text, agent = case["robots"], case["agent"]
        ours, plain = RobotsRules(text.encode(), agent.lower()), Protego.parse(text)
        for path_, allowed in _asked(case):
            url = f"http://example.org{path_}"
            for suite, found in (
                ("tres", ours.allows(url)),
                ("Protego", plain.can_fetch(url, agent)),
            ):
                verdict = "same" if found is allowed else "too lax" if found else "too strict"
                tally.add(f"robots.txt, {suite}", verdict, case["about"], path_)


def _asked(case: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    yield from ((path, True) for path in case.get("allowed", ()))
    yield from ((path, False) for path in case.get("denied", ()))


def links_of(path: Path, limit: int) -> list[tuple[str, str]]:
    """The links of real pages as they are written, with the URLs of the pages."""
    from selectolax.lexbor import LexborHTMLParser

    return [
        (node.attributes["href"] or "", url)
        for url, body, _ in records(path, limit)
        for node in LexborHTMLParser(body.decode(errors="replace")).css("a[href], area[href]")
    ]


def hostile_links() -> list[tuple[str, str]]:
    """Links to hosts of long Han labels, each another."""
    return [
        (f"http://{chr(0x4E00 + n) * 100}{'漢字' * 75}.example/", "http://a.example/")
        for n in range(200)
    ]


def speed(links: list[tuple[str, str]]) -> float:
    """URLs per second of CPU time."""
    start = process_time()
    for link, base in links:
        canonical(link, base)
    return len(links) / (process_time() - start)


def show_speed(path: Path, limit: int, against: str | None) -> None:
    """URLs per second, here and in another checkout."""
    links = links_of(path, limit)
    absolute = [(url, "") for link, base in links if (url := canonical(link, base))]
    for name, some in (
        ("as written", links),
        ("canonical", absolute),
        ("hostile", hostile_links()),
    ):
        print(f"{name}: {len(some):,} links, {speed(some):,.0f} URLs/s", flush=True)
    if against:
        print(f"the same in {against}:", flush=True)
        command = [sys.executable, __file__, "--speed", str(path), "--limit", str(limit)]
        subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": against})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--urls", type=Path)
    parser.add_argument("--hosts", type=Path, nargs="+", default=[])
    parser.add_argument("--pages", type=Path)
    parser.add_argument("--robots", type=Path)
    parser.add_argument("--speed", type=Path)
    parser.add_argument("--against", help="the `src` of another checkout, for --speed")
    parser.add_argument("--limit", type=int, default=-1, help="pages of the WARC file, at most")
    parser.add_argument("--show", type=int, default=0, help="differences of each kind to print")
    options = parser.parse_args()
    tally = Tally(options.show)
    if options.urls:
        count_urls(options.urls, tally)
    for path in options.hosts:
        count_hosts(path, tally)
    if options.pages:
        count_pages(options.pages, options.limit, tally)
    if options.robots:
        count_robots(options.robots, tally)
    if tally.counts:
        Console().print(tally.table())
    if options.speed:
        show_speed(options.speed, options.limit, options.against)


if __name__ == "__main__":
    main()
