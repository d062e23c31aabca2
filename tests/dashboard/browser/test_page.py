"""Hostile pages do no harm; the keyboard, narrow screens and dark mode work."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.dashboard.browser.conftest import dashboard, watched
from tests.support.dashboard import open_run, step
from tests.support.http_server import response, serving

import tres
from tres.offline.generated.generator import GeneratedWeb

HOSTILE = (
    "<script>alert('title')</script>",
    "<img src=http://evil.example/x onerror=alert(1)>",
    "\x1b[2J\x00\u202egpj.exe\u2066 control \x9b characters",
    "{{constructor.constructor('alert(1)')()}}" + "long " * 500,
)


@pytest.fixture(scope="module")
def hostile(folder: Path) -> Iterator[Path]:
    """A run with nothing but hostile pages, in a directory with a hostile name."""
    place = folder / "runs" / "<b onclick=alert(1)>hostile"
    with open_run(place) as run:
        for number in range(30):
            step(run, HOSTILE[number % len(HOSTILE)])
    yield folder
    shutil.rmtree(place)


def test_hostile_titles_are_shown_and_not_obeyed(hostile: Path, address: str, page: Any) -> None:
    page.goto(address)
    page.get_by_role("link", name="<b onclick=alert(1)>hostile").click()
    page.get_by_text("<script>alert('title')</script>").first.wait_for()
    page.get_by_text(r"\x1b[2J\x00\u202egpj.exe").first.wait_for()
    assert page.locator("main img, main script, main b[onclick]").count() == 0
    links = page.locator(".page a").evaluate_all("all => all.map(a => [a.protocol, a.rel])")
    assert links
    assert all(kind == "http:" and "noreferrer" in rel for kind, rel in links)


def test_everything_can_be_done_with_keys(hostile: Path, address: str, page: Any) -> None:
    page.goto(address)
    page.locator(".run a").wait_for()
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.closest('.run') !== null"):
            break
    page.keyboard.press("Enter")
    page.locator(".page").first.wait_for()
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.innerText?.trim()"))
        ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none"
    assert {"Resume …", "why?", "relevant", "not"} <= reached


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_contrast_and_narrow_screens_no_overflow(
    hostile: Path, address: str, browser: Any, scheme: str
) -> None:
    small = {"width": 360, "height": 740}
    with watched(browser, viewport=small, color_scheme=scheme) as page:
        for view, ready in (("#/", ".run .fact b"), (f"#/run/{KEY}", ".page")):
            page.goto(address + view)
            page.locator(ready).first.wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") <= small["width"]
            assert page.evaluate(CONTRAST) == []
        page.get_by_role("button", name="Colours").click()
        other = page.evaluate("getComputedStyle(document.documentElement).colorScheme")
        assert other == "light"


KEY = "-b-onclick-alert-1--hostile"

CONTRAST = """() => {
  const shade = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    return / 0\\)$|rgba\\(0, 0, 0, 0\\)/.test(colour) ? ground(node.parentElement) : colour;
  };
  return [...document.querySelectorAll("body *")]
    .filter((node) => node.checkVisibility() && !node.matches(":disabled") &&
      [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim()))
    .map((node) => {
      const [a, b] = [shade(getComputedStyle(node).color), shade(ground(node))];
      return [node.outerHTML.slice(0, 80), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    })
    .filter(([, ratio]) => ratio < 4.5);
}"""
"""Texts whose contrast is below what WCAG 2 (AA) asks for."""


def test_the_token_leaves_no_trace_in_the_browser(hostile: Path, browser: Any) -> None:
    with (
        dashboard(hostile, "--token", "a token that is long enough") as address,
        browser.new_context() as context,
    ):
        page = context.new_page()
        page.goto(address.partition("#")[0])
        page.get_by_label("The token").fill("wrong")
        page.keyboard.press("Enter")
        page.get_by_text("this is not the token").wait_for()
        page.goto(address)
        page.reload()
        page.get_by_role("link", name="hostile").wait_for()
        assert "token" not in page.url
        assert page.evaluate("document.cookie") == ""


@pytest.fixture(scope="module")
def sailing(folder: Path) -> Iterator[Path]:
    """A finished crawl of a generated web: its pages can be read again."""
    web, place = GeneratedWeb(400, seed=1), folder / "runs" / "sailing"
    topic = tres.new_topic(web.topics["sailing"], web.seeds("sailing"), labels=["sailing"])
    for _ in tres.crawl_pages(topic, "generated:pages=400,seed=1", run=place, pages=60):
        pass
    yield place
    shutil.rmtree(place)


def test_a_run_can_be_read_without_a_terminal(sailing: Path, address: str, page: Any) -> None:
    page.goto(address)
    line = page.locator(".run", has=page.get_by_text("sailing", exact=True))
    assert re.search(r"\d\d:\d\d", line.locator(".time b").inner_text())  # when
    page.goto(f"{address}#/run/sailing")

    # what a page says, with the words of the topic marked
    page.locator(".page .text mark").first.wait_for()
    texts = page.locator(".page .text").all_inner_texts()
    assert all(len(text) > 80 for text in texts)

    # every axis has a name; nothing of a failure is cut or scrolled away
    axes = page.evaluate(
        "() => Object.values(Chart.instances).flatMap((chart) =>"
        " Object.values(chart.options.scales).map((axis) => axis.title.display && axis.title.text))"
    )
    assert len(axes) == 11
    assert all(axes)
    cut = "all => all.some((each) => each.scrollHeight > each.clientHeight + 1)"
    assert not page.locator(".plain").evaluate_all(cut)

    # why: headings, tables and lists, not the text of a terminal
    page.get_by_role("button", name="Why was page").first.click()
    why = page.locator("dialog .why")
    why.get_by_text("tres fetched it as page").wait_for()
    assert why.locator("pre").count() == 0
    assert why.locator("h3").count() >= 3
    assert why.locator("table td").count() > 10
    assert "[object" not in why.inner_text()
    assert page.evaluate(CONTRAST) == []
    page.get_by_role("button", name="Close").click()

    # a judgement shows at once, and how many of those shown are judged
    page.get_by_role("button", name="relevant", exact=True).first.click()
    page.get_by_text("1 of 15 shown pages judged").wait_for()

    # a panel closes with the run it is about
    page.get_by_role("button", name="Why was page").first.click()
    page.locator("dialog[open]").wait_for()
    page.goto(f"{page.url.split('#')[0]}#/")
    page.get_by_role("heading", name="Runs").wait_for()
    assert page.locator("dialog[open]").count() == 0


def test_a_report_opens_and_pages_are_saved(sailing: Path, address: str, page: Any) -> None:
    page.goto(f"{address}#/run/sailing")
    console: list[str] = []
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report").click()
    report = opened.value
    report.on("console", lambda message: console.append(message.text))
    report.on("pageerror", lambda error: console.append(str(error)))
    report.reload()
    report.locator("#page-table tbody tr").first.wait_for()  # made by the report's own script
    stolen = report.evaluate(
        f"() => fetch('{address}api/runs').then((answer) => answer.status, () => 'refused')"
    )
    assert stolen == "refused"
    console = [line for line in console if "api/runs" not in line]
    assert console == []
    page.get_by_role("button", name="Export …").click()
    with page.expect_download() as saving:
        page.get_by_role("link", name="csv").click()
    assert saving.value.suggested_filename == "sailing-relevant.csv"
    assert Path(saving.value.path()).read_text().startswith("step,url,")


def test_a_crawl_is_begun_from_the_list(folder: Path, address: str, page: Any) -> None:
    """It has a private address for a seed, so it ends at once and says why."""
    topic = folder / "bees.toml"
    topic.write_text(
        'name = "<i>bees</i>"\n[topic]\nkeywords = ["bee"]\nseeds = ["http://127.0.0.1:9/"]\n'
        '[training]\nmodel = "auto"\n[live]\ncontact = "you@example.org"\n'
    )
    page.goto(address)
    page.get_by_role("button", name="New crawl …").click()
    page.get_by_role("dialog").get_by_text("<i>bees</i>").wait_for()
    page.get_by_role("button", name="Start").click()
    page.get_by_text("The crawl starts as bees").wait_for()
    line = page.locator(".run", has=page.get_by_role("link", name="bees", exact=True))
    line.get_by_text("the seed gave no page").wait_for()
    page.get_by_role("link", name="bees", exact=True).click()
    page.get_by_role("alert").get_by_text("the seed gave no page").wait_for()
    page.get_by_text("ended: no seed gave a page").wait_for()
    topic.unlink()
    shutil.rmtree(folder / "runs" / "bees")


ATTACK = b"""<!doctype html><title>Kittens</title><form method=post enctype=text/plain></form>"""
ATTACKS = """async (target) => {
  const body = '{"step": 1, "relevant": true}';
  const url = target + "api/runs/%s/judgements";
  const headers = { "Content-Type": "application/json", "X-Tres": "1" };
  const tries = [
    fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body }),
    fetch(url, { method: "POST", credentials: "include", headers, body }),
    fetch(target + "api/runs", { credentials: "include" }),
  ];
  const form = document.forms[0];
  form.action = url;
  const answers = await Promise.allSettled(tries);
  form.submit();
  return answers.map((answer) => answer.value?.type ?? answer.status);
}"""


def test_a_page_of_another_origin_can_do_nothing(hostile: Path, address: str, browser: Any) -> None:
    with serving(lambda asked: response(ATTACK)) as evil, browser.new_context() as context:
        page = context.new_page()
        page.goto(evil.url())
        answers = page.evaluate(ATTACKS % KEY, address)
        page.wait_for_url(f"{address}**")
        assert "other sites get no answers" in page.content()
    assert set(answers) <= {"opaque", "rejected"}
    assert not list(hostile.glob("runs/*hostile/judgements.jsonl"))
