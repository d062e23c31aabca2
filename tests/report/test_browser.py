"""The report in a real browser: it requests nothing, executes nothing from the Web, and works."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from tests.report.runs import HOSTILE_TITLE, crawl, opened
from tests.support.bees import BEES, bees_config, crawl_bees, write_bees
from tests.support.browser import opened_browser
from tests.support.missing import need_package

from tres.report.compare import comparison_page, name_runs
from tres.report.reasons import reasons_of
from tres.report.report_page import report_page
from tres.report.run_reader import RunReader
from tres.report.safe_html import harmless

sync_api = need_package("playwright.sync_api")


@pytest.fixture(scope="module")
def browser() -> Iterator[sync_api.Browser]:
    with opened_browser() as started:
        yield started


@dataclass
class Tab:
    """A page in the browser, and whatever it did that it should not."""

    page: sync_api.Page
    asked: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)

    def rows(self) -> list[str]:
        """The steps of the pages that are shown."""
        return self.page.locator("#page-table tbody td:first-child").all_inner_texts()

    def caption(self) -> str:
        return self.page.locator("#shown").inner_text()


@pytest.fixture(scope="module")
def file(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path


@pytest.fixture
def tab(browser: sync_api.Browser, file: Path, request: pytest.FixtureRequest) -> Iterator[Tab]:
    options = getattr(request, "param", {})
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
    tab = Tab(context.new_page())
    tab.page.on("request", lambda asked: tab.asked.append(asked.url))
    tab.page.on("console", lambda message: tab.console.append(message.text))
    tab.page.on("pageerror", lambda error: tab.console.append(str(error)))
    tab.page.goto(file.as_uri())
    yield tab
    context.close()


NARROW = {"viewport": {"width": 360, "height": 740}}
DARK = {"color_scheme": "dark"}
NO_SCRIPT = {"java_script_enabled": False}


def test_it_makes_no_request_and_logs_nothing(tab: Tab, file: Path) -> None:
    assert tab.page.evaluate("document.documentElement.dataset.ready") == "yes"
    assert tab.asked == [file.as_uri()]
    assert tab.console == []


def test_what_the_web_wrote_is_shown_and_does_nothing(tab: Tab) -> None:
    tab.page.fill("#search", "onerror")
    assert tab.caption().startswith("1 page that matches")
    shown = tab.page.locator("#page-table tbody bdi").inner_text()
    assert shown == harmless(HOSTILE_TITLE)
    tab.page.fill("#search", "javascript:")
    assert tab.page.locator("#page-table tbody a").count() == 0
    assert tab.page.title() == "bees <b>and</b> honey"
    assert tab.page.locator("img").count() == 0
    assert tab.console == []


def test_the_policy_keeps_even_injected_script_from_running(tab: Tab) -> None:
    tab.page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')"
    )
    for _ in range(300):
        tab.page.wait_for_timeout(100)
        if tab.console:
            break
    assert tab.page.title() != "1"
    assert any("Content Security Policy" in text for text in tab.console)


def test_words_are_searched_in_title_address_and_reason(tab: Tab, reader: RunReader) -> None:
    tab.page.fill("#search", "MARKETS about")
    expected = [each for each in reader.pages if "about markets" in each.title]
    assert f"of {len(expected)} pages that match, of 150 in all" in tab.caption()
    tab.page.fill("#search", "because it looked best")
    chosen = [each for each in reasons_of(reader) if "because it looked best" in each]
    assert len(chosen) > 20
    assert f"of {len(chosen)} pages that match, of 150 in all" in tab.caption()
    tab.page.fill("#search", "no such thing")
    assert tab.caption() == "No page matches."


def test_only_relevant_pages_can_be_shown(tab: Tab, reader: RunReader) -> None:
    tab.page.check("#only")
    assert f"of {reader.relevant} pages that match" in tab.caption()
    tab.page.uncheck("#only")
    assert tab.caption() == "1 to 25 of 150 pages"


def test_the_most_relevant_pages_come_first_as_without_a_script(tab: Tab, page: str) -> None:
    body = page.partition('id="page-table"')[2].partition("</tbody>")[0]
    assert tab.rows() == re.findall(r"<tr><td>(\d+)</td>", body)[:25]
    head = tab.page.locator("#page-table th[data-key=relevance]")
    assert head.get_attribute("aria-sort") == "descending"


@pytest.mark.parametrize(
    ("key", "directions"),
    [("relevance", ("ascending", "descending")), ("q", ("descending", "ascending"))],
)
def test_a_click_on_a_head_sorts_and_another_turns_it_round(
    tab: Tab, reader: RunReader, key: str, directions: tuple[str, str]
) -> None:
    head = tab.page.locator(f"#page-table th[data-key={key}]")
    values = {str(each.step): getattr(each, key) for each in reader.pages}
    for direction in directions:
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == direction
        shown = [values[step] for step in tab.rows()]
        assert None not in shown
        rounded = [round(value, 2 if key == "q" else 3) for value in shown]
        assert rounded == sorted(rounded, reverse=direction == "descending")


def test_the_leaves_of_the_table_can_be_turned(tab: Tab) -> None:
    tab.page.click("#page-table th[data-key=step] button")
    tab.page.click("text=Next")
    assert tab.caption() == "26 to 50 of 150 pages"
    assert tab.rows() == [str(step) for step in range(26, 51)]
    tab.page.click("text=Previous")
    assert tab.rows() == [str(step) for step in range(1, 26)]


@pytest.mark.parametrize("tab", [NO_SCRIPT], indirect=True)
def test_without_scripts_the_first_pages_are_there(tab: Tab) -> None:
    assert len(tab.rows()) == 100
    assert tab.page.locator("#controls").is_hidden()
    assert tab.caption() == "The 100 most relevant of 150 pages"


@pytest.mark.parametrize("tab", [NARROW, {**NARROW, **DARK}], indirect=True)
def test_nothing_sticks_out_on_a_phone(tab: Tab) -> None:
    wide = """[...document.querySelectorAll('main *')]
        .filter(each => !each.closest('pre, svg') && each.getBoundingClientRect().right > 361)
        .map(each => each.outerHTML.slice(0, 80))"""
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 360
    assert tab.page.evaluate(wide) == []


@pytest.mark.parametrize("tab", [{}, DARK], indirect=True)
def test_text_can_be_read_on_its_ground(tab: Tab) -> None:
    """WCAG AA: 4.5 to 1 for everything that is written."""
    assert tab.page.evaluate(FAINT) == []


def test_it_can_be_printed(tab: Tab) -> None:
    tab.page.emulate_media(media="print")
    assert tab.page.locator("#controls").is_hidden()
    assert tab.page.pdf(format="A4").startswith(b"%PDF")


def test_paper_has_more_pages_than_the_screen(tab: Tab) -> None:
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.caption() == "1 to 100 of 150 pages"
    tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.caption() == "1 to 25 of 150 pages"


@pytest.mark.parametrize("tab", [{}, NARROW], indirect=True)
def test_nothing_is_larger_than_the_harvest_rate(tab: Tab) -> None:
    sizes = tab.page.evaluate(SIZES)
    (text, size), *others = sorted(sizes, key=lambda each: -each[1])
    assert text.endswith("%")
    assert size > 1.5 * others[0][1]


def test_every_table_has_a_caption_and_every_picture_a_text(tab: Tab) -> None:
    count = tab.page.locator
    assert count("table").count() == count("table > caption").count() >= 4
    assert count("svg").count() > 5
    assert count("svg:not([aria-label]):not([aria-hidden])").count() == 0
    levels = [int(name[1]) for name in tab.page.evaluate(HEADINGS)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_a_comparison_is_as_well_behaved(
    browser: sync_api.Browser, reader: RunReader, tmp_path: Path
) -> None:
    with opened(tmp_path / "<i>other", policy="random") as run:
        crawl(run, 40)
        other = RunReader(run.directory)
    path = tmp_path / "comparison.html"
    path.write_text(comparison_page(name_runs([reader, other])), encoding="utf-8")
    context = browser.new_context(**NARROW)
    tab = Tab(context.new_page())
    tab.page.on("console", lambda message: tab.console.append(message.text))
    tab.page.goto(path.as_uri())
    assert tab.console == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") == 360
    assert "<i>other" in tab.page.locator("main").inner_text()
    context.close()


SIZES = """[...document.querySelectorAll('body *')]
  .filter((each) => each.checkVisibility() && !each.closest('svg')
    && [...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
  .map((each) => [each.textContent, parseFloat(getComputedStyle(each).fontSize)])"""


def test_what_pages_say_is_shown_and_does_nothing(
    browser: sync_api.Browser, tmp_path: Path
) -> None:
    archive = write_bees(tmp_path / "bees.jsonl")
    hostile = f"{HOSTILE_TITLE} <mark>honey</mark> of the hive"
    archive.write_text(archive.read_text().replace(BEES, json.dumps(hostile)[1:-1]))
    run = crawl_bees(tmp_path / "run", archive, bees_config())
    path = tmp_path / "report.html"
    path.write_text(report_page(RunReader(run)), encoding="utf-8")
    for options in ({}, NO_SCRIPT):
        context = browser.new_context(**options)
        tab = Tab(context.new_page())
        tab.page.on("console", lambda message, tab=tab: tab.console.append(message.text))
        tab.page.goto(path.as_uri())
        shown = tab.page.locator("#page-table tbody p").first
        text = shown.inner_text()
        assert text.startswith("</script><script>document.title='owned'</script><img src=x onerror")
        assert "gnp.exe" in text
        assert "<mark>honey</mark> of the hive" in text
        assert not set("\u202e\x00\x1b") & set(text)
        assert shown.locator("mark").all_inner_texts() == ["honey", "hive"]
        assert tab.page.locator("img").count() == 0
        assert tab.page.title() == "bees"
        assert tab.console == []
        context.close()


HEADINGS = "[...document.querySelectorAll('h1, h2, h3')].map(each => each.tagName)"
FAINT = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (each) => {
    const colour = getComputedStyle(each).backgroundColor;
    const [, , , alpha = 1] = numbers(colour);
    return alpha === 0 && each.parentElement ? ground(each.parentElement) : colour;
  };
  const written = (each) => [...each.childNodes]
    .some((node) => node.nodeType === 3 && node.textContent.trim());
  return [...document.querySelectorAll('body *')]
    .filter((each) => written(each) && each.checkVisibility() && !each.disabled)
    .filter((each) => !each.closest('script'))
    .map((each) => {
      const style = getComputedStyle(each);
      const ink = light(each.closest('svg') ? style.fill : style.color);
      const [high, low] = [ink, light(ground(each))].sort((a, b) => b - a);
      return [each.outerHTML.slice(0, 60), (high + 0.05) / (low + 0.05)];
    })
    .filter(([, contrast]) => contrast < 4.5);
}"""
