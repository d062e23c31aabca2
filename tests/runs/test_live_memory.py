"""A live crawl that is taken up knows again what it has read."""

from __future__ import annotations

from pathlib import Path

from tests.support.webs import To, links, page

from tres.crawl.events import FetchFailed, Stepped
from tres.engines.protocols import Fetched
from tres.runs.live_components import restore_memory
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.store.journal import Journal
from tres.store.journal_file import Meta
from tres.store.journal_records import Begin, Received, Seeds
from tres.web.page import Failed, FailureKind
from tres.web.traps import LIMITS

CONFIG = TopicConfig(
    name="bees",
    topic=TopicSection(keywords=("bee",), seeds=("http://a.example/",)),
    training=TrainingSection(labels=("Nature",)),
    crawl=CrawlSection(),
)
STEP, REFUSED = 7, (1 << 256) - 1


def shop(number: int) -> str:
    return f"http://shop.example/list?a={number}&b=1&c=2"


def test_it_knows_the_pages_and_the_links_of_its_steps_and_of_nothing_else(tmp_path: Path) -> None:
    full = page("http://a.example/", 0.9, *(To(shop(n)) for n in range(LIMITS["combinations"])))
    step = Stepped(
        step=1, url=full.url, parent=None, relevance=0.9, relevant=True, q=0.0, leaf=None,
        explored=True, site=full.site, language="", asked=full.url, frontier=0, leaves=0,
        candidates=0, features={},
    )  # fmt: skip
    failed = Failed("http://b.example/", FailureKind.NEAR_DUPLICATE)
    told = FetchFailed(failed.url, failed.kind, False)
    begin = Seeds(links(full.url)), Begin(9, "model")
    with Journal.create(tmp_path / "journal.db", Meta("", "live", ()), *begin) as journal:
        journal.append(Received(full.url, full), [step], Fetched(1.0, fingerprint=STEP))
        journal.append(Received(failed.url, failed), [told], Fetched(2.0, fingerprint=REFUSED))
        memory = restore_memory(CONFIG, journal)
    assert memory.duplicates is not None
    assert memory.spaces is not None
    assert [memory.duplicates.seen(mark) for mark in (STEP, REFUSED)] == [True, False]
    more = page("http://a.example/more", 0.9, To(shop(3)), To(shop(10**6)))
    assert memory.spaces.without_full_spaces(more).links.urls == (shop(3),)
