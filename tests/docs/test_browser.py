"""The site in a real browser: its search works by itself, and no page is too wide for a phone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from tests.support.browser import opened_browser
from tests.support.http_server import Request, response, serving
from tests.support.missing import need_package

sync_api = need_package("playwright.sync_api")


@contextmanager
def served(directory: Path) -> Iterator[str]:
    def answer(asked: Request) -> bytes:
        file = directory / unquote(urlsplit(asked.path).path).lstrip("/")
        file = file / "index.html" if file.is_dir() else file
        if not file.is_file():
            return response(b"", "404 Not Found")
        return response(file.read_bytes(), Content_Type=guess_type(file)[0] or "text/plain")

    with serving(answer) as server:
        yield server.url("")


@pytest.fixture
def browser() -> Iterator[sync_api.Browser]:
    with opened_browser() as opened:
        yield opened


@pytest.mark.slow
def test_search_finds_a_page_and_nobody_else_is_asked(
    site: Path, browser: sync_api.Browser
) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    with served(site) as address:
        page.goto(f"{address}/index.html")
        page.wait_for_load_state("networkidle")
        page.keyboard.press("Control+k")
        page.wait_for_function("document.activeElement.shadowRoot", timeout=60_000)
        page.keyboard.type("near duplicate")
        page.get_by_text("Kinds of failure").first.wait_for(timeout=60_000)
        assert asked
        assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.slow
def test_no_page_is_wider_than_a_phone(site: Path, browser: sync_api.Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    too_wide = []
    for file in sorted(site.rglob("*.html")):
        page.goto(file.as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            too_wide.append(file.name)
    assert too_wide == []
