"""One page of a run is read where it stands in the WARC files, and nothing else."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from tests.support.models import Half

from tres.engines.protocols import Exchange, Fetched
from tres.errors import ArchiveError
from tres.offline.archive import ArchiveWarning
from tres.runs.open_run import start_run
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig
from tres.store.journal import JOURNAL, Journal
from tres.store.page_source import page_of, pages_of, web_of
from tres.store.warc_writer import WarcStore, parts_of
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.page import Page
from tres.web.percept import Perceiver

SEEDS = tuple(f"http://a.example/{n}" for n in range(6))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Six pages in several small WARC files."""
    config = TopicConfig(
        name="kept",
        topic=TopicSection(keywords=("a",), seeds=SEEDS),
        training=TrainingSection(labels=("a",)),
        crawl=CrawlSection(pages=6),
    )
    perceiver = Perceiver(Half(), KeywordMatcher(["a"]))
    with start_run(
        config, perceiver, tmp_path / "run", warc=lambda where: WarcStore(where, {}, 1_500)
    ) as opened:
        for url in SEEDS:
            opened.recorded.next()
            body = f"<title>Page {url[-1]}</title><p>text of {url}".encode()
            exchange = Exchange(
                url=url,
                at=1e9,
                request_head=b"GET / HTTP/1.1\r\n\r\n",
                response_head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
                body=body,
            )
            percept = perceiver.judge_page(Page(url, "", ""))
            opened.recorded.receive(url, percept, Fetched(at=1e9, seconds=0.1, exchange=exchange))
    return tmp_path / "run"


def record(step: int) -> int:
    return 2 + 2 * step  # seeds, begin, then a demand and a page for each


def read_page(run: Path, record: int, url: str) -> Page | None:
    with Journal.open(run / JOURNAL) as journal:
        return page_of(journal, record, url)


def test_every_page_is_found_by_its_record(run: Path) -> None:
    assert len(parts_of(run)) > 1
    for step, url in enumerate(SEEDS, start=1):
        page = read_page(run, record(step), url)
        assert page is not None
        assert (page.url, page.title) == (url, f"Page {url[-1]}")


def test_many_pages_are_found_in_the_order_asked_for(run: Path) -> None:
    wanted = [(record(step), SEEDS[step - 1]) for step in (5, 2, 6, 1)]
    found = list(pages_of(run, [*wanted, (1, SEEDS[0])]))
    assert found == [*(read_page(run, *each) for each in wanted), None]
    assert [page.title for page in found if page] == ["Page 4", "Page 1", "Page 5", "Page 0"]


def test_damage_elsewhere_does_not_matter(run: Path) -> None:
    first = parts_of(run)[0]
    first.write_bytes(b"x" * first.stat().st_size)
    last = read_page(run, record(6), SEEDS[5])
    assert last is not None
    assert last.title == "Page 5"
    with pytest.raises(ArchiveError):
        read_page(run, record(1), SEEDS[0])


def test_what_is_no_page_is_not_found(run: Path) -> None:
    assert read_page(run, 1, SEEDS[0]) is None


def pages_and_warnings(run: Path) -> tuple[list[Page], list[str]]:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        web = web_of(run)
        assert web is not None
        return list(web.pages()), [str(warning.message) for warning in warned]


def test_any_bit_changed_at_the_end_of_the_files_is_harmless_or_reported(run: Path) -> None:
    """Some of them make the last record look as if it was still being written."""
    last, whole = parts_of(run)[-1], pages_and_warnings(run)
    content = last.read_bytes()
    lost = 0
    for place in range(8 * (len(content) - 40), 8 * len(content)):
        changed = bytearray(content)
        changed[place // 8] ^= 1 << place % 8
        last.write_bytes(changed)
        try:
            pages, warned = pages_and_warnings(run)
        except ArchiveError:
            continue
        assert warned or (pages, []) == whole
        lost += any("have lost their end; to fetch it again: tres resume" in w for w in warned)
    assert lost


def test_files_that_lack_their_last_bytes_are_reported(run: Path) -> None:
    last = parts_of(run)[-1]
    last.write_bytes(last.read_bytes()[:-1])
    with pytest.warns(ArchiveWarning, match="its WARC files have lost their end"):
        assert web_of(run) is not None
