"""The site builds without a warning, has every page, and loads nothing from other hosts."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.docs.pages import DOCS, ROOT, DocPage, all_pages

CONFIG = ROOT / "zensical.toml"


def in_navigation() -> set[str]:
    def leaves(entry: object) -> Iterator[str]:
        match entry:
            case str():
                yield entry
            case dict():
                for inner in entry.values():
                    yield from leaves(inner)
            case list():
                for inner in entry:
                    yield from leaves(inner)

    return set(leaves(tomllib.loads(CONFIG.read_text(encoding="utf-8"))["project"]["nav"]))


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page() -> None:
    assert in_navigation() == {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}


def test_it_builds_without_a_warning_and_has_every_page(site: Path) -> None:
    built = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    assert {name.replace(".md", ".html") for name in in_navigation()} <= built


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|img|iframe|source)[^>]* src="(//|https?:[^"]*)', text)
        styles = re.findall(r'<link[^>]* href="(https?:[^"]*)', text)
        assert not [*loaded, *styles], page


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_every_link_to_a_file_leads_to_one(page: DocPage) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if not re.match("https?:|mailto:", target):
            assert (page.path.parent / unquote(target)).exists(), target


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_nothing_is_left_to_be_filled_in(page: DocPage) -> None:
    prose = re.sub(r"```.*?```", "", page.text, flags=re.DOTALL)
    assert not re.findall(r"^[A-Z_]{4,}$|TODO|FIXME|TBD", prose, re.MULTILINE)


def test_every_picture_is_shown_somewhere() -> None:
    text = "".join(page.text for page in all_pages())
    for picture in DOCS.glob("pictures/*"):
        assert f"pictures/{picture.name}" in text, picture
