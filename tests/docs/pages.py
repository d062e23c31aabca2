"""The pages of the documentation as tests see them: blocks of code, in order.

A page is a story: its blocks run from top to bottom in one directory.

    ```sh                       run by a shell; every `tres` line is also parsed
    ```python                   run by this Python
    ```toml                     a topic file, an experiment file, or some sections of one
    ```text                     right below a `sh` block: its output, apart from numbers
    ```LANGUAGE title="NAME"    written to the file NAME first, for the blocks below

Comments make exceptions:

    <!-- test: not run: why -->            the block below
    <!-- test: page not run: why -->       all of the page
    <!-- test: given NAME, NAME -->        files that must exist (`tests/docs/given.py`)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_FENCE = re.compile(r'^(?P<indent> *)```(?P<language>\w+)?(?: title="(?P<title>[^"]+)")?$')
_MARK = re.compile(r"<!-- test: (?P<word>not run:|page not run:|given) (?P<rest>.+?) -->")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of code."""

    line: int
    language: str
    text: str
    title: str | None = None
    not_run: str | None = None
    """The reason if it is not run."""


@dataclass(frozen=True)
class DocPage:
    """A Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        """Its path in the repository."""
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        """Its Markdown."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def given(self) -> tuple[str, ...]:
        """Names of files that must exist before its blocks run."""
        return tuple(name.strip() for rest in self._marks("given") for name in rest.split(","))

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Its code blocks, in order."""
        why = next(iter(self._marks("page not run:")), None)
        return tuple(_blocks(self.text.splitlines(), why))

    def _marks(self, word: str) -> list[str]:
        return [found["rest"] for found in _MARK.finditer(self.text) if found["word"] == word]


def all_pages() -> list[DocPage]:
    """Return the README and every page of the site."""
    return [DocPage(ROOT / "README.md"), *map(DocPage, sorted(DOCS.rglob("*.md")))]


def _blocks(lines: list[str], not_run: str | None) -> list[Block]:
    found: list[Block] = []
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if opening is None:
            number += 1
            continue
        end = lines.index(f"{opening['indent']}```", number + 1)
        text = "\n".join(line.removeprefix(opening["indent"]) for line in lines[number + 1 : end])
        why = _mark_above(lines, number) or not_run
        found.append(Block(number + 1, opening["language"] or "", text, opening["title"], why))
        number = end + 1
    return found


def _mark_above(lines: list[str], number: int) -> str | None:
    above = next((line for line in reversed(lines[:number]) if line.strip()), "")
    mark = _MARK.fullmatch(above.strip())
    return mark["rest"] if mark and mark["word"] == "not run:" else None
