"""The site in a real browser: search works offline, and no page is too wide for a phone."""

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
    def answer(requested: Request) -> bytes:
        file = directory / unquote(urlsplit(requested.path).path).lstrip("/")
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
def test_search_finds_a_page_without_asking_another_host(
    site: Path, browser: sync_api.Browser
) -> None:
    page = browser.new_page()
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))
    with served(site) as address:
        page.goto(f"{address}/index.html")
        page.wait_for_load_state("networkidle")
        page.keyboard.press("Control+k")
        page.wait_for_function("document.activeElement.shadowRoot", timeout=60_000)
        page.keyboard.type("near duplicate")
        page.get_by_text("Kinds of failure").first.wait_for(timeout=60_000)
        assert requested
        assert [url for url in requested if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.slow
def test_no_page_is_wider_than_a_phone(site: Path, browser: sync_api.Browser) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    too_wide = []
    for file in sorted(site.rglob("*.html")):
        page.goto(file.as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > 390:
            too_wide.append(file.name)
    assert too_wide == []
