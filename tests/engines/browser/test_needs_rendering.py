"""Which pages are rendered, and what is said when there is nothing to render them with."""

from __future__ import annotations

import os
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.engines.browser import playwright_settings as browser
from tres.engines.browser.needs_rendering import SHELL_CHARS, Look, Rendering
from tres.engines.browser.playwright_settings import EXECUTABLE, browser_settings, find_chromium
from tres.errors import ConfigError
from tres.settings.sections import LiveSection

SHELL = b"""<!doctype html><html><head><title>An application</title><style>p {}</style></head>
<body><noscript>You need to enable JavaScript to run this app.</noscript>
<div id="root"></div><SCRIPT src="/main.js"></SCRIPT></body></html>"""


def test_a_look_counts_visible_text() -> None:
    assert Look.at(SHELL) == Look(text_chars=0, has_script=True)
    assert Look.at(b"<p>one <b>two</b></p><!-- no -->") == Look(6, False)
    assert Look.at(b"<script>if (1 < 2) '<p>not text</p>'</script>text") == Look(4, True)


def test_a_page_is_a_shell_if_it_has_scripts_and_next_to_no_text() -> None:
    assert Look.at(SHELL).is_shell
    assert not Look.at(b"<p>nothing but a line").is_shell
    assert not Look.at(SHELL + b"word " * SHELL_CHARS).is_shell


@given(st.binary())
def test_a_look_never_fails(html: bytes) -> None:
    assert Look.at(html).text_chars >= 0


@pytest.mark.parametrize("piece", [b"<", b"<script", b"<a <b", b"</", b"<script>", b"<!--"])
def test_a_look_at_a_large_broken_page_is_quick(piece: bytes) -> None:
    started = process_time()
    Look.at(piece * (2_000_000 // len(piece)))
    assert process_time() - started < 5  # quadratic would be hours


def test_patterns_match_urls_and_detection_looks_at_pages() -> None:
    named = Rendering(LiveSection(javascript=(r"://app\.",)))
    assert named.wants("http://app.example/", b"full of text")
    assert not named.wants("http://www.example/", SHELL)
    detecting = Rendering(LiveSection(javascript_detect=True))
    assert detecting.wants("http://www.example/", SHELL)
    assert not detecting.wants("http://www.example/", b"<p>some text")


def test_without_the_option_no_setting_changes_and_nothing_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    assert browser_settings(LiveSection(), permitted=bool) == {}


def test_a_missing_chromium_is_reported_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv(EXECUTABLE, raising=False)
    with pytest.raises(ConfigError, match="install the package chromium"):
        browser_settings(LiveSection(javascript_detect=True), permitted=bool)


def test_a_missing_scrapy_playwright_is_reported_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'tres-crawler\[javascript\]'"):
        browser_settings(LiveSection(javascript=(".",)), permitted=bool)


def test_another_chromium_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "my-chromium"
    monkeypatch.setenv(EXECUTABLE, str(program))
    with pytest.raises(ConfigError, match="which is not a program"):
        find_chromium()
    program.touch(mode=0o755)
    assert find_chromium() == program


@pytest.mark.parametrize(("user", "sandboxed"), [(0, False), (1000, True)])
def test_only_root_runs_it_without_a_sandbox(
    monkeypatch: pytest.MonkeyPatch, user: int, sandboxed: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setenv(EXECUTABLE, "/bin/sh")
    settings = browser_settings(LiveSection(javascript=(".",)), permitted=bool)
    assert settings["PLAYWRIGHT_LAUNCH_OPTIONS"]["chromium_sandbox"] is sandboxed
