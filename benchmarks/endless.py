"""Memory of a crawl of an endless site: every page has new links, for ever.

    python benchmarks/endless.py --pages 100000
    python benchmarks/endless.py --pages 1000 --links 4500 --long

The session is driven in memory, without HTTP: what grows is the session and its policy. Limits are
the defaults (`crawl.links_per_page`, `frontier_per_site` and `frontier_size`), or set by options.
Prints the resident memory of the process during the crawl, and at the end how many links each limit
dropped.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from tres.crawl.events import Fetch
from tres.crawl.frontier_limits import LinkLimits
from tres.crawl.session import CrawlSession
from tres.mdp.state import CrawlState
from tres.policies.registry import make_policy
from tres.policies.setup import PolicySettings
from tres.web.percept import LinkPercepts, Percept

SITE = "endless.example"
WORDS = ("field", "honey", "summer", "market", "river", "garden", "window", "letter")


def main() -> None:
    """Crawl, and print a line at intervals."""
    options = arguments()
    session = endless_session(options)
    rng = np.random.default_rng(1)
    began, before = time.process_time(), resident()
    print(
        f"{'pages':>8}  {'links waiting':>13}  {'MB':>6}  {'kB a page since':>15}  {'ms a page':>9}"
    )
    last = before
    for page in range(1, options.pages + 1):
        demand = session.next(1)
        assert isinstance(demand, Fetch), demand
        session.receive(demand.urls[0], endless_page(demand.urls[0], page, options, rng))
        if page % options.every == 0:
            now, spent = resident(), time.process_time() - began
            grown = 1000 * (now - last) / options.every
            waiting = len(session.policy)
            print(
                f"{page:8,}  {waiting:13,}  {now:6.0f}  {grown:15.2f}  {1000 * spent / page:9.1f}"
            )
            last = now
    print(f"started with {before:.0f} MB; dropped: {dict(session.dropped)}")


def arguments() -> argparse.Namespace:
    """The command line."""
    usual = LinkLimits()
    parser = argparse.ArgumentParser(description="Memory of a crawl of an endless site.")
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--links", type=int, default=25)
    parser.add_argument("--long", action="store_true", help="URLs of 480 characters")
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--links-per-page", type=int, default=usual.links_per_page)
    parser.add_argument("--frontier-per-site", type=int, default=usual.frontier_per_site)
    parser.add_argument("--frontier-size", type=int, default=usual.frontier_size)
    options = parser.parse_args()
    options.every = options.every or max(1, options.pages // 20)
    return options


def endless_session(options: argparse.Namespace) -> CrawlSession:
    """Start a crawl by the default policy from the first page."""
    crawl = CrawlState()
    policy = make_policy(PolicySettings(), crawl, np.random.default_rng(1))
    limits = LinkLimits(options.links_per_page, options.frontier_per_site, options.frontier_size)
    seeds = described((f"http://{SITE}/",), np.zeros(1, np.float32))
    return CrawlSession(crawl, policy, seeds, options.pages, limits=limits)


def endless_page(
    url: str, page: int, options: argparse.Namespace, rng: np.random.Generator
) -> Percept:
    """Return a page with new links, some better than others; four pages of ten are relevant."""
    padding = "/" + "x" * 440 if options.long else ""
    words = rng.integers(len(WORDS), size=(options.links, 2)).tolist()
    urls = tuple(
        f"http://{SITE}/{WORDS[one]}-{WORDS[two]}{padding}/{page}-{place}"
        for place, (one, two) in enumerate(words)
    )
    relevance = 0.9 if rng.random() < 0.4 else 0.1
    return Percept(url, SITE, relevance, described(urls, rng.random(len(urls), np.float32)))


def described(urls: tuple[str, ...], relevance: np.ndarray) -> LinkPercepts:
    """Links as a page reader describes them."""
    none = np.zeros(len(urls), np.bool_)
    anchors = tuple(url.split("/")[3] for url in urls)
    return LinkPercepts(urls, (SITE,) * len(urls), none, none, relevance, anchors)


def resident() -> float:
    """Resident memory in megabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


if __name__ == "__main__":
    main()
