"""What one hostile host costs the others: the speed of a crawl alone, and next to each attack.

    python -m benchmarks.hostile [ATTACK ...] [--seconds 45] [--repetitions 1]

Twelve good hosts on loopback addresses have endless pages, half of them about a topic. Every good
page also links to a hostile host, with words that look relevant. It makes one of these attacks:

- `frames`: bodies of a few kilobytes that are 620,000 empty zstd frames in gzip;
- `marks`: pages with 96,000 combining marks on one letter, which are slow to compose;
- `labels`: pages with 600 links to hosts whose names are 250 Chinese characters, and a sitemap
  with 1,500 more (`live.sitemaps` is on in all crawls);
- `robots`: a robots.txt of 5 kB that decompresses to 4.9 MB.

The crawl has the default settings and 16 pages in flight. What counts is the number of good pages
requested in the given seconds, from the first one on; delays allow one per second and host. The
crawls alternate: read the ratio to the crawl alone.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

HOSTS = 12
GOOD = [f"127.0.3.{number}" for number in range(1, HOSTS + 1)]
HOSTILE = "127.0.3.200"
ABOUT = "telescope galaxy nebula comet orbit".split()
OTHER = "garden recipe window letter market bridge".split()
IN_FLIGHT = 16
EMPTY_FRAME = bytes.fromhex("502a4d18 00000000")
"""Of zstd: one to be skipped, and nothing in it."""
VARIANTS = 4
ALONE = "alone"


@cache
def frames(variant: int) -> tuple[bytes, str]:
    """Bytes that decompress to nothing, slowly."""
    return gzip.compress(EMPTY_FRAME * (620_000 + variant)), "zstd, gzip"


@cache
def marks(variant: int) -> tuple[bytes, str]:
    """A letter with a huge number of combining marks."""
    rng = Random(variant)
    marked = "a" + "".join(rng.choices("\u0301\u0316\u0323\u0327\u0334", k=96_000))
    return document(f"Telescope {variant}", f"{marked} {text_of(rng)}", []), ""


@cache
def labels(variant: int) -> tuple[bytes, str]:
    """Links to names that are slow to encode in ASCII."""
    return document(f"Galaxy {variant}", text_of(Random(variant)), han_urls(600, variant)), ""


def han_urls(count: int, seed: int) -> list[str]:
    """URLs with a label of 250 Chinese characters."""
    rng = Random(seed)
    letters = [chr(code) for code in range(0x4E00, 0x9FA5)]
    return [f"http://{''.join(rng.choices(letters, k=250))}.com/" for _ in range(count)]


def plain(variant: int) -> tuple[bytes, str]:
    """A page like any other."""
    return document(f"Comet {variant}", text_of(Random(variant)), []), ""


ATTACKS: dict[str, Callable[[int], tuple[bytes, str]]] = {
    "frames": frames,
    "marks": marks,
    "labels": labels,
    "robots": plain,
}
"""The body of a hostile page, and how it is packed."""


def text_of(rng: Random, words: list[str] = ABOUT) -> str:
    """Words in an order that no other page has."""
    return " ".join(f"{rng.choice(words)} {rng.randrange(10**6)}" for _ in range(120))


def document(title: str, text: str, links: list[str], anchor: str = "a link") -> bytes:
    """A page."""
    anchors = "".join(f'<a href="{url}">{anchor}</a>\n' for url in links)
    return f"<title>{title}</title><p>{text}</p>\n{anchors}".encode()


class Server:
    """All hosts on one port; a line in the log for each request."""

    def __init__(self, attack: str, log: Path) -> None:
        self.attack = attack
        self.log = log.open("a", buffering=1)
        self.port = 0

    async def serve(self) -> None:
        """Listen until killed."""
        for host in (*GOOD, HOSTILE):
            server = await asyncio.start_server(self.answer, host, self.port)
            self.port = server.sockets[0].getsockname()[1]
        for variant in range(VARIANTS):
            if self.attack != ALONE:
                ATTACKS[self.attack](variant)
        print(self.port, flush=True)
        await asyncio.Event().wait()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        host = writer.get_extra_info("sockname")[0]
        with suppress(OSError, EOFError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode("latin-1")
                self.log.write(f"{time.time():.4f} {host} {path}\n")
                writer.write(self.response(host, path))
                await writer.drain()
        writer.close()

    def response(self, host: str, path: str) -> bytes:
        """Return a host's answer for a path."""
        if path == "/robots.txt":
            return self.robots(host)
        if path == "/sitemap.xml":
            listed = "".join(f"<url><loc>{url}</loc></url>" for url in han_urls(1_500, 0))
            return reply(f"<urlset>{listed}</urlset>".encode(), kind="application/xml")
        number = int(path[1:]) if path[1:].isdecimal() else 0
        if host == HOSTILE:
            return reply(*ATTACKS[self.attack](number % VARIANTS))
        return reply(self.good(GOOD.index(host), number))

    def robots(self, host: str) -> bytes:
        """A robots.txt that forbids nothing, short or long."""
        if host != HOSTILE or self.attack not in ("robots", "labels"):
            return reply(b"User-agent: *\nDisallow: /no\n", kind="text/plain")
        if self.attack == "labels":
            return reply(
                f"Sitemap: http://{host}:{self.port}/sitemap.xml\n".encode(), kind="text/plain"
            )
        return reply(gzip.compress(b"# a remark\n" * 445_000), "gzip", "text/plain")

    def good(self, site: int, number: int) -> bytes:
        """A page that leads to others of its site, to the next site, and into the trap."""
        about = number % 2 == 0
        rng = Random(site * 1_000_003 + number)
        here = [f"/{2 * number + step}" for step in (1, 2)]
        there = f"http://{GOOD[(site + 1) % HOSTS]}:{self.port}/{number}"
        page = document(f"Page {number}", text_of(rng, ABOUT if about else OTHER), [*here, there])
        if self.attack == ALONE:
            return page
        trap = f"http://{HOSTILE}:{self.port}/{number * HOSTS + site}"
        return page + document("", "", [trap], anchor="telescope galaxy nebula")


def reply(body: bytes, encoding: str = "", kind: str = "text/html") -> bytes:
    """A whole response."""
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    lines += [f"Content-Encoding: {encoding}"] if encoding else []
    return "\r\n".join([*lines, "", ""]).encode() + body


@contextmanager
def served(attack: str, log: Path) -> Iterator[int]:
    """Run the hosts in their own process; yield their port."""
    command = [sys.executable, "-m", "benchmarks.hostile", "--serve", attack, str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


def write_topic(place: Path, port: int) -> Path:
    """The topic of the good pages, taught by examples, with default settings."""
    for name, words in (("about", ABOUT), ("other", OTHER)):
        (place / name).mkdir()
        for number in range(10):
            (place / name / f"{number}.txt").write_text(text_of(Random(-number), words))
    seeds = [f"http://{host}:{port}/0" for host in GOOD]
    path = place / "topic.toml"
    path.write_text(
        f"[topic]\nkeywords = {json.dumps(ABOUT)}\nseeds = {json.dumps(seeds)}\n"
        '[training]\npositives = "about"\nnegatives = "other"\n'
        f"[crawl]\npages = 100000\nin_flight = {IN_FLIGHT}\n"
        '[live]\ncontact = "you@example.org"\nallow = ["127.0.0.0/8"]\nsitemaps = true\n'
    )
    return path


def measured(attack: str, seconds: float) -> tuple[int, int, int]:
    """Count requests for good pages, hostile pages and robots.txt in the given seconds."""
    with TemporaryDirectory() as scratch:
        place, log = Path(scratch), Path(scratch) / "log"
        log.touch()
        with served(attack, log) as port:
            topic = write_topic(place, port)
            command = [sys.executable, "-m", "tres", "crawl", str(topic), "--run", f"{scratch}/run"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as crawl:
                while not (asked := requests(log)):
                    time.sleep(0.1)
                time.sleep(max(0.0, asked[0][0] + seconds - time.time()))
                crawl.kill()
        began = requests(log)[0][0]
        asked = [each for each in requests(log) if each[0] < began + seconds]
    rules = sum(path == "/robots.txt" for _, _, path in asked)
    good = sum(host != HOSTILE and path != "/robots.txt" for _, host, path in asked)
    return good, len(asked) - good - rules, rules


def requests(log: Path) -> list[tuple[float, str, str]]:
    """Time, host and path of each request."""
    lines = [line.split(" ") for line in log.read_text().splitlines()]
    return [(float(at), host, path) for at, host, path in lines]


def main() -> None:
    """Measure, or serve one crawl."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attacks", nargs="*", default=[*ATTACKS], metavar="ATTACK")
    parser.add_argument("--seconds", type=float, default=45.0)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        attack, log = options.serve
        asyncio.run(Server(attack, Path(log)).serve())
        return
    runs: dict[str, list[tuple[int, int, int]]] = {ALONE: [], **{a: [] for a in options.attacks}}
    for _ in range(options.repetitions):
        for attack, results in runs.items():
            results.append(measured(attack, options.seconds))
    table = Table("beside", "good pages", "ratio", "hostile pages", "robots.txt")
    medians = {
        a: [statistics.median(each) for each in zip(*r, strict=True)] for a, r in runs.items()
    }
    for attack, (good, hostile, rules) in medians.items():
        ratio = f"{good / medians[ALONE][0]:.2f}"
        table.add_row(attack, f"{good:.0f}", ratio, f"{hostile:.0f}", f"{rules:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
