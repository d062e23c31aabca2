"""What a crawl remembers of pages that were steps."""

from __future__ import annotations

from dataclasses import replace

from tests.support.reading import ENGLISH, html, reader, received

from tres.engines.reading.duplicates_and_traps import DuplicatesAndTraps
from tres.engines.reading.page_reader import Reading
from tres.settings.sections import LiveSection
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept
from tres.web.traps import LIMITS

LONG = " ".join(f"{ENGLISH} {number}" for number in range(20))


def reading(text: str, more: str = "") -> Reading:
    return reader().read(received(html("Cells", text, more)))


def kind(outcome: Percept | Failed) -> str:
    return outcome.kind if isinstance(outcome, Failed) else "page"


def remember(memory: DuplicatesAndTraps, known: Reading) -> None:
    assert isinstance(known.outcome, Percept)
    memory.remember(known.outcome.links.urls, known.fingerprint)


def test_a_page_nearly_equal_to_an_earlier_step_is_a_near_duplicate():
    memory = DuplicatesAndTraps(LiveSection())
    first, second = reading(LONG), reading(f"{LONG} today")
    assert kind(memory.check(first)) == "page"
    remember(memory, first)
    assert kind(memory.check(second)) == FailureKind.NEAR_DUPLICATE
    assert kind(memory.check(reading(ENGLISH))) == "page"


def test_a_page_that_was_not_a_step_is_not_remembered():
    memory = DuplicatesAndTraps(LiveSection())
    assert [kind(memory.check(reading(LONG))) for _ in range(2)] == ["page", "page"]


def test_both_checks_can_be_turned_off():
    memory = DuplicatesAndTraps(LiveSection(near_duplicates=False, traps=False))
    known = reading(LONG)
    remember(memory, known)
    assert memory.check(known) is known.outcome


def test_endless_spaces_are_bounded():
    memory = DuplicatesAndTraps(LiveSection())
    links = "".join(f"<a href='/s?a={n}&b=1&c=2'>x</a>" for n in range(500))
    outcome = memory.check(reading(ENGLISH, links))
    assert isinstance(outcome, Percept)
    assert len(outcome.links) == LIMITS["combinations"]


def test_dropped_links_are_counted_over_all_pages():
    memory = DuplicatesAndTraps(LiveSection())
    links = "<a href=/a.jpg>1</a>" + "".join(
        f"<a href='/s?a={n}&b=1&c=2'>x</a>" for n in range(LIMITS["combinations"] + 3)
    )
    for _ in range(2):
        memory.check(reading(ENGLISH, links))
    assert memory.dropped == {"file": 2, "combinations": 6}


def test_failures_pass_through():
    failed = Failed("http://example.org/", FailureKind.NOT_HTML)
    assert DuplicatesAndTraps(LiveSection()).check(replace(reading(LONG), outcome=failed)) is failed
