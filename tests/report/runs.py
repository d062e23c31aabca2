"""Runs to report on: a small web of pages on six sites, some of them hostile, crawled at once.

Time is made up: a request every half second. Every third page is relevant and says so in the
anchors that lead to it; every eleventh link is dead.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.support.models import Half
from tests.support.webs import To, links

from tres.crawl.events import Fetch, StopReason
from tres.engines.protocols import Fetched
from tres.report.run_reader import PageRow
from tres.runs.open_run import OpenRun, start_run
from tres.settings.sections import AgentSection, CrawlSection, LiveSection, TopicSection
from tres.settings.topic_file import TopicConfig, TrainingSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.page import Failed, FailureKind
from tres.web.percept import Perceiver, Percept
from tres.web.url import site_of

PAGES = 400
HOSTILE_TITLE = (
    "</script><script>document.title='owned'</script><img src=x onerror=owned()> "
    "\u202egnp.exe\x00\x1b[2J"
)
HOSTILE_PATH = "\"><script>document.title='owned'</script>"
SCRIPT_URL = "javascript:document.title='owned'"


def url(i: int) -> str:
    if i == 2:
        return SCRIPT_URL
    rest = HOSTILE_PATH if i == 4 else f"bees/page-{i}"
    return f"http://site{i % 6}.example/{rest}"


def title(i: int) -> str:
    return HOSTILE_TITLE if i == 0 else f"Page {i} about {'bees' if relevant(i) else 'markets'}"


def relevant(i: int) -> bool:
    return i % 3 == 0


def percept(i: int) -> Percept:
    targets = [(i + 1) % PAGES, (i + 3) % PAGES, (7 * i + 2) % PAGES, (11 * i + 4) % PAGES]
    outlinks = links(*(To(url(j), 0.9 * relevant(j), False, relevant(j)) for j in targets))
    sites = tuple(_site(target) for target in outlinks.urls)
    probability = 0.99 - i % 40 / 100 if relevant(i) else i % 45 / 100
    return Percept(url(i), _site(url(i)), probability, replace(outlinks, sites=sites))


def _site(address: str) -> str:
    return site_of(address) if "://" in address else "nowhere"


WEB = {url(i): i for i in range(PAGES)}


def config(pages: int, **changes: Any) -> TopicConfig:
    return TopicConfig(
        name="bees <b>and</b> honey",
        topic=TopicSection(keywords=("bee", "honey"), seeds=(url(0),)),
        training=TrainingSection(labels=("a",)),
        crawl=CrawlSection(pages=pages),
        live=LiveSection(delay=0.5),
        agent=AgentSection(guided=0),
    ).override(**changes)


def crawl(run: OpenRun, steps: int) -> None:
    """Go on for some steps."""
    until, clock = run.session.steps + steps, 1000.0 + run.session.steps / 2
    while run.session.steps < until:
        demand = run.recorded.next()
        assert isinstance(demand, Fetch)
        (asked,) = demand.urls
        i = WEB[asked]
        clock += 0.5
        if i % 11 == 10:
            failed = Failed(asked, FailureKind.NOT_FOUND)
            run.recorded.receive(asked, failed, Fetched(clock, 0.1, 404, note="HTTP 404"))
        else:
            run.recorded.receive(asked, percept(i), Fetched(clock, 0.1, 200, 999, title(i)))


def opened(directory: Path, pages: int = 150, **changes: Any):
    """A run that is being crawled, as a context."""
    perceiver = Perceiver(Half(), KeywordMatcher(["bee"]))
    return start_run(config(pages, **changes), perceiver, directory)


def finished(directory: Path, pages: int = 150, **changes: Any) -> Path:
    """A run that has spent its budget."""
    with opened(directory, pages, **changes) as run:
        crawl(run, pages)
        run.finish(StopReason.BUDGET)
    return directory


def killed(directory: Path, steps: int = 40, **changes: Any) -> Path:
    """A run that was cut off."""
    with opened(directory, **changes) as run:
        crawl(run, steps)
    return directory


def unpacked(page: str) -> dict[str, Any]:
    """The data of a report's script."""
    _, _, rest = page.partition('id="all-pages">')
    return dict(json.loads(rest.partition("</script>")[0]))


def row(**values: Any) -> PageRow:
    """One step, of which a test names what matters to it."""
    plain = PageRow(
        record=1, step=1, url="http://a.example/", asked="http://a.example/",
        parent="http://b.example/", site="a.example",
        relevance=0.9, relevant=True, first_relevance=0.9, reward=True,
        q=None, leaf=None, explored=False,
        language="en", frontier=1, leaves=1, candidates=0, at=None, seconds=None, status=None,
        size=None, title="", note="", features=(), rivals_json="[]",
    )  # fmt: skip
    return replace(plain, **values)
