"""Hostile pages do no harm; keys, narrow screens and dark rooms are provided for."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.dashboard.browser.conftest import dashboard, watched
from tests.support.dashboard import open_run, step

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
    assert {"Go on …", "why?", "relevant", "not"} <= reached


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


def test_the_token_is_asked_for_and_leaves_no_trace(hostile: Path, browser: Any) -> None:
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


class Attacker(BaseHTTPRequestHandler):
    """A page of another origin, on another port."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(ATTACK)

    def log_message(self, *_: object) -> None:
        pass


def test_a_page_of_another_origin_can_do_nothing(hostile: Path, address: str, browser: Any) -> None:
    with HTTPServer(("127.0.0.1", 0), Attacker) as evil, browser.new_context() as context:
        threading.Thread(target=evil.serve_forever, daemon=True).start()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{evil.server_port}/")
        answers = page.evaluate(ATTACKS % KEY, address)
        page.wait_for_url(f"{address}**")
        assert "other sites may not" in page.content()
        evil.shutdown()
    assert set(answers) <= {"opaque", "rejected"}
    assert not list(hostile.glob("runs/*hostile/judgements.jsonl"))
