"""The report of a run: one page that loads nothing and says everything."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from tests.report.runs import HOSTILE_TITLE, crawl, finished, killed, opened, unpacked

from tres.experiment.resume import tree_of
from tres.report.markup import harmless
from tres.report.page import meaning, report_page
from tres.report.pages_table import SHOWN, compact
from tres.report.reader import RunReader
from tres.report.words import reason, rules_of
from tres.web.page import FailureKind


def headings(page: str) -> list[str]:
    return re.findall(r"<h2[^>]*>([^<]*)</h2>", page)


def test_every_part_is_there(page: str) -> None:
    assert headings(page) == [
        "Over the steps",
        "Relevance",
        "Sites",
        "Failures",
        "Politeness",
        "Decision tree",
        "Pages",
        "Configuration",
    ]
    assert page.count("<figure") == 5


def test_it_loads_nothing_and_forbids_everything_else(page: str) -> None:
    without_links = re.sub(r'<a href="[^"]*" rel="noreferrer noopener">', "", page)
    assert re.findall(r'(?:src|href)="(?!#|data:,")[^"]*"', without_links) == []
    assert "default-src &#x27;none&#x27;" in page
    assert "unsafe-inline" not in page
    assert " style=" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_what_the_web_wrote_is_escaped(page: str) -> None:
    assert page.count("<script") == 2  # the data and our own
    assert "<img" not in page
    assert "<b>and</b>" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert 'href="javascript' not in page
    assert harmless(HOSTILE_TITLE) in unescape(page)


def test_the_data_of_the_script_are_all_pages(page: str, reader: RunReader) -> None:
    data = unpacked(page)
    last: dict[int, str] = {}
    urls = []
    for host, shared, rest in zip(data["host"], data["shared"], data["path"], strict=True):
        last[host] = last.get(host, "")[:shared] + rest
        urls.append(data["hosts"][host] + last[host])
    assert urls == [each.url for each in reader.pages]
    assert data["step"] == [each.step for each in reader.pages]
    assert data["relevant"] == "".join(str(int(each.relevant)) for each in reader.pages)
    assert sum(data["shared"]) > 5 * len(urls)


def test_the_data_cannot_end_their_element(reader: RunReader) -> None:
    inside = compact(reader.pages, rules_of(None))
    assert inside.count("<") == 2
    assert "&" not in inside


def test_the_first_pages_can_be_read_without_a_script(page: str, reader: RunReader) -> None:
    rule = rules_of(tree_of(reader.run))
    body = unescape(page.partition('id="page-table"')[2].partition("</tbody>")[0])
    for each in reader.pages[:SHOWN]:
        assert reason(each, rule) in body
        assert f"<td>{each.relevance:.2f}" in body
    assert body.count("<tr>") == SHOWN + 1


def test_every_kind_of_failure_has_a_meaning() -> None:
    meanings = [kind.meaning for kind in FailureKind]
    assert len(set(meanings)) == len(FailureKind)
    assert all(text.endswith(".") and len(text) < 90 for text in meanings)
    assert meaning("of-another-version") == ""


def test_failures_are_explained(page: str) -> None:
    assert FailureKind.NOT_FOUND.meaning in page
    assert "(HTTP 404)" in page


def test_the_configuration_is_the_topic_file(page: str, done: Path) -> None:
    shown = page.partition("<code>")[2].partition("</code>")[0]
    assert unescape(shown) == (done / "config.toml").read_text()


def test_a_run_that_is_going_on_says_so(tmp_path: Path) -> None:
    with opened(tmp_path / "run") as run:
        crawl(run, 30)
        assert "This crawl is going on" in report_page(RunReader(tmp_path / "run"))


def test_a_run_that_was_killed_has_the_same_report_but_says_so(tmp_path: Path) -> None:
    page = report_page(RunReader(killed(tmp_path / "run")))
    assert "was cut off before its end" in page
    assert "Decision tree" in headings(page)
    assert "<dd>40</dd>" in page


def test_a_run_that_has_no_page_yet_can_be_reported(tmp_path: Path) -> None:
    page = report_page(RunReader(killed(tmp_path / "run", steps=0)))
    assert headings(page) == ["Failures", "Pages", "Configuration"]


@pytest.mark.parametrize("policy", ["parent", "random"])
def test_other_policies_have_no_rules_but_reasons(tmp_path: Path, policy: str) -> None:
    reader = RunReader(finished(tmp_path / "run", 30, policy=policy))
    page = report_page(reader)
    assert ("Decision tree" in headings(page)) == (policy == "random")
    why = unpacked(page)
    assert set(why["kind"]) == {"seed", "at random" if policy == "random" else ""}
    assert why["rules"] == [""]


def test_a_tree_that_cannot_be_had_is_explained(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", 30)
    (run / "tree.json").write_text("{}")
    page = report_page(RunReader(run))
    assert "tree.json: damaged" in page
    assert "Pages" in headings(page)
