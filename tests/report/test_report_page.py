"""The report of a run: one page that loads nothing and says everything."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from tests.report.runs import HOSTILE_TITLE, crawl, finished, killed, opened, unpacked
from tests.support.bees import bees_config, crawl_bees, write_bees

from tres.report.details import meaning
from tres.report.pages_table import PRINTED, Extracts, PageList, compact
from tres.report.reasons import reasons_of
from tres.report.report_page import report_page
from tres.report.run_reader import RunReader
from tres.report.safe_html import harmless
from tres.settings.sections import TrainingSection
from tres.topic.excerpt import excerpt
from tres.web.page import FailureKind


def headings(page: str) -> list[str]:
    return re.findall(r"<h2[^>]*>([^<]*)</h2>", page)


def test_every_part_is_there(page: str) -> None:
    assert headings(page) == [
        "Pages",
        "What the model has learnt",
        "Sites",
        "How it went",
        "Relevance",
        "Failures",
        "Politeness",
        "Decision tree",
        "Run",
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
    extracts = Extracts({}, {1: excerpt(HOSTILE_TITLE, ["script"])})
    inside = compact(PageList(reader.pages, reasons_of(reader), extracts))
    assert inside.count("<") == 2
    assert "&" not in inside


def test_the_most_relevant_pages_can_be_read_without_a_script(page: str, reader: RunReader) -> None:
    whys = reasons_of(reader)
    body = unescape(page.partition('id="page-table"')[2].partition("</tbody>")[0])
    steps = [int(step) for step in re.findall(r"<tr><td>(\d+)</td>", body)]
    ranked = sorted(reader.pages, key=lambda each: (-round(each.relevance, 3), each.step))
    assert steps == [each.step for each in ranked[:PRINTED]]
    for each in ranked[:PRINTED]:
        assert whys[each.step - 1] in body
        assert f"<td>{each.relevance:.2f}" in body


def test_the_script_has_the_sentences_that_the_table_has(page: str, reader: RunReader) -> None:
    data = unpacked(page)
    sentences = [" ".join(data["parts"][part] for part in parts) for parts in data["why"]]
    assert sentences == reasons_of(reader)
    assert len(data["parts"]) < len(sentences)


def test_the_harvest_rate_stands_first_with_a_verdict_and_the_version_last(
    page: str, reader: RunReader
) -> None:
    rate = page.index(f'<p class="rate"><strong>{reader.harvest_rate:.1%}</strong>')
    order = [rate, page.index('class="verdict"'), page.index('id="pages"'), page.index('id="run"')]
    assert order == sorted(order)
    assert page.index(f"<dd>{reader.meta.version}") > order[-1]


def test_every_kind_of_failure_has_a_meaning() -> None:
    meanings = [kind.meaning for kind in FailureKind]
    assert len(set(meanings)) == len(FailureKind)
    assert all(text.endswith(".") and len(text) < 90 for text in meanings)
    assert meaning("of-another-version") == ""


def test_failures_are_explained(page: str) -> None:
    assert FailureKind.NOT_FOUND.meaning in page
    assert "(HTTP 404)" in page


def test_the_configuration_is_the_topic_file(page: str, done: Path) -> None:
    shown = page.partition('<pre tabindex="0"><code>')[2].partition("</code>")[0]
    *topic, checksum = (done / "config.toml").read_text().splitlines(keepends=True)
    assert unescape(shown) == "".join(topic)
    assert checksum.startswith("# checksum: ")


def test_a_run_that_is_going_on_says_so(tmp_path: Path) -> None:
    with opened(tmp_path / "run") as run:
        crawl(run, 30)
        assert "It is running; " in report_page(RunReader(tmp_path / "run"))


def test_a_run_that_was_killed_has_the_same_report_but_says_so(tmp_path: Path) -> None:
    page = report_page(RunReader(killed(tmp_path / "run")))
    assert "It was cut off before its end" in page
    assert "Decision tree" in headings(page)
    assert "<dd>40</dd>" in page


def test_a_run_without_pages_can_be_reported(tmp_path: Path) -> None:
    page = report_page(RunReader(killed(tmp_path / "run", steps=0)))
    assert headings(page) == ["Pages", "What the model has learnt", "Failures", "Run"]
    assert "No page has been fetched." in page


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        ("parent", "because its score was the highest: "),
        ("random", "at random, to explore."),
    ],
)
def test_other_policies_have_their_own_reasons(tmp_path: Path, policy: str, why: str) -> None:
    reader = RunReader(finished(tmp_path / "run", 30, policy=policy))
    page = report_page(reader)
    assert ("Decision tree" in headings(page)) == (policy == "random")
    first, *others = reasons_of(reader)
    assert first == "Fetched because it is a seed."
    assert all(each.startswith(f"Fetched {why}") for each in others)


def test_the_words_of_the_judge_are_shown(tmp_path: Path) -> None:
    archive = write_bees(tmp_path / "bees.jsonl")
    page = report_page(RunReader(crawl_bees(tmp_path / "run", archive, bees_config())))
    pro, con = page.partition("For the topic")[2].split("Against it")
    assert "<li><span>bees</span>" in pro
    assert "<li><span>bees</span>" not in con
    assert re.search(r"<li><span>(station|train|garden|roses)</span>", con)


def test_a_crawl_too_short_to_learn_words_says_by_what_it_judged(tmp_path: Path) -> None:
    archive = write_bees(tmp_path / "bees.jsonl")
    config = replace(bees_config(pages=10), training=TrainingSection())
    page = report_page(RunReader(crawl_bees(tmp_path / "run", archive, config)))
    assert "The model has learnt no words yet" in page
    assert "For the topic" not in page


def test_a_model_without_words_does_not_stop_a_report(page: str) -> None:
    assert "The words of the model are not available: " in page


def test_a_missing_tree_is_explained(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", 30)
    (run / "tree.json").write_text("{}")
    page = report_page(RunReader(run))
    assert "tree.json: damaged" in page
    assert "Pages" in headings(page)


def test_dropped_links_and_sites_that_used_up_their_share_are_shown(tmp_path: Path) -> None:
    run = finished(tmp_path / "run", 40, links_per_page=2, self_cited=0.01)
    page = unescape(report_page(RunReader(run)))
    assert "links were not followed" in page
    assert "links_per_page" in page
    summary = RunReader(run).summary
    assert summary is not None
    assert summary["held"]
    assert f"(live.self_cited): {summary['held'][0]}" in page
