"""Example pages that a person has collected: directories of text or HTML, or JSON lines.

A directory has one example per `.txt`, `.html` or `.htm` file, in the order of their names; a
`.jsonl` or `.jsonl.gz` file has one per line, an object with `text`, `title` or both, and perhaps
`url`, which says of what site the page is. Models read examples as they read pages: the title on
the first line, then the text.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser

from tres.errors import TrainingError
from tres.files import opening as files
from tres.relevance.examples import Examples

PAGES = (".txt", ".html", ".htm")


SiteOf = Callable[[str], str | None]
"""Gives the site of an address; None if it is no web address."""


class FilePage(NamedTuple):
    """The content of an example page, and its site if its address is known."""

    content: str
    site: str | None = None


def examples_from_files(
    positives: Path, negatives: Path, site_of: SiteOf = lambda url: None
) -> Examples:
    """Read the examples of both classes; `TrainingError` if a class has none."""
    yes, no = _read_pages(positives, site_of), _read_pages(negatives, site_of)
    sites = [page.site for page in (*yes, *no) if page.site is not None]
    return Examples.of(
        (page.content for page in yes),
        (page.content for page in no),
        sites if len(sites) == len(yes) + len(no) else None,
    )


def _read_pages(path: Path, site_of: SiteOf) -> list[FilePage]:
    if path.is_dir():
        pages = _from_directory(path)
    elif path.name.endswith((".jsonl", ".jsonl.gz")):
        pages = _from_json_lines(path, site_of)
    else:
        raise TrainingError(f"{path}: give a directory of {', '.join(PAGES)} files, or .jsonl(.gz)")
    try:
        examples = [page for page in pages if page.content.strip()]
    except OSError as problem:
        place, reason = problem.filename or path, problem.strerror or problem
        raise TrainingError(f"{place}: cannot be read to its end: {reason}") from None
    except (EOFError, zlib.error) as problem:
        raise TrainingError(f"{path}: cannot be read to its end: {problem}") from None
    if not examples:
        raise TrainingError(f"{path}: holds no example page; add {', '.join(PAGES)} or JSON lines")
    return examples


def _from_directory(directory: Path) -> Iterator[FilePage]:
    for file in sorted(directory.rglob("*")):
        if file.suffix.lower() in PAGES and file.is_file():
            content = files.content(file)
            plain = file.suffix.lower() == ".txt"
            yield FilePage(
                f"\n{content.decode(errors='replace')}" if plain else html_content(content)
            )


def _from_json_lines(file: Path, site_of: SiteOf) -> Iterator[FilePage]:
    with files.opened(file) as packed, files.unpacking(packed, file.suffix == ".gz") as unpacked:
        for number, line in enumerate(files.lines(unpacked), 1):
            if line.strip():
                yield _from_object(line, f"{file}:{number}", site_of)


def _from_object(line: bytes, place: str, site_of: SiteOf) -> FilePage:
    try:
        page = json.loads(line)
    except (ValueError, RecursionError):
        raise TrainingError(f"{place}: is not JSON; write one object per line") from None
    if not isinstance(page, dict) or not page.keys() & {"title", "text"}:
        raise TrainingError(f"{place}: needs an object with text, title or both")
    title, text = page.get("title") or "", page.get("text") or ""
    if not isinstance(title, str) or not isinstance(text, str):
        raise TrainingError(f"{place}: title and text must be strings")
    url = page.get("url")
    site = site_of(url) if isinstance(url, str) else None
    return FilePage(f"{' '.join(title.split())}\n{text}", site)


def html_content(markup: bytes) -> str:
    """The title and the visible text of an HTML page."""
    tree = LexborHTMLParser(markup)
    titles = tree.css("title")
    title = " ".join(titles[0].text().split()) if titles else ""
    tree.strip_tags(["script", "style", "noscript", "template", "title"])
    text = tree.body.text(separator=" ") if tree.body is not None else ""
    return f"{title}\n{text}"
