"""A web from JSON lines: one object per page.

    {"url": "http://...", "title": "...", "text": "...",
     "links": [["http://...", "anchor text"], ...], "labels": ["..."]}

If `title`, `text` or `links` is missing, it is read from `html`. Blanks are folded as in the
reader of HTML (`tres.offline.render`). Other keys are ignored. The first line of a URL wins.
Every line is checked when the file is opened, but only its bytes stay in memory, and links
become canonical only when their page is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from tres.errors import ArchiveError
from tres.files import opening as files
from tres.offline.archive import archive_errors, check_archive_file, no_pages_error
from tres.offline.render import normalise_page
from tres.web.page import Failed, FailureKind, Link, Outcome, Page
from tres.web.parse import MAX_LINKS, parse_html, replace_surrogates
from tres.web.url import canonical

_TEXTS = ("title", "text", "html")


class JsonlArchive:
    """A `.jsonl` or `.jsonl.gz` file as a web."""

    def __init__(self, path: str | Path) -> None:
        self.path = check_archive_file(path)
        self._lines = self._load()
        if not self._lines:
            raise no_pages_error(self.path, "lines with an http(s) `url`")

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def fetch(self, url: str) -> Outcome:
        """Return the page at a URL; a URL without a line is a dead link."""
        line = self._lines.get(url)
        return Failed(url, FailureKind.NOT_FOUND) if line is None else _outcome(url, line)

    def html(self, url: str) -> str | None:
        """Return the markup of a page, if its line has it."""
        line = self._lines.get(url)
        return None if line is None else json.loads(line).get("html")

    def pages(self) -> Iterator[Page]:
        """Yield all pages in the order of the file."""
        outcomes = (_outcome(url, line) for url, line in self._lines.items())
        return (page for page in outcomes if isinstance(page, Page))

    def __len__(self) -> int:
        return len(self._lines)

    def _load(self) -> dict[str, bytes]:
        lines: dict[str, bytes] = {}
        with archive_errors(self.path), files.opened(self.path) as file:
            unpacked = files.unpacking(file, self.path.suffix == ".gz")
            for number, line in enumerate(files.lines(unpacked), start=1):
                stripped = line.strip()
                if not stripped:
                    continue
                if url := canonical(self._checked(number, stripped)["url"]):
                    lines.setdefault(url, stripped)
        return lines

    def _checked(self, number: int, line: bytes) -> dict[str, Any]:
        """Return the object of a line, or raise if `fetch` could not use it."""
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise self._bad_line(number, "is not JSON") from None
        if not isinstance(record, dict) or not isinstance(record.get("url"), str):
            raise self._bad_line(number, "has no `url`")
        for key in _TEXTS:
            if not isinstance(record.get(key, ""), str):
                raise self._bad_line(number, f"`{key}` is not a string")
        if not _is_links(record.get("links", [])):
            raise self._bad_line(number, "`links` is not a list of [url, anchor]")
        if not _is_strings(record.get("labels", [])):
            raise self._bad_line(number, "`labels` is not a list of strings")
        return record

    def _bad_line(self, number: int, problem: str) -> ArchiveError:
        return ArchiveError(f"{self.path}: line {number} {problem}; correct or remove the line")


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_links(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(link, list) and len(link) == 2 and _is_strings(link) for link in value
    )


def _outcome(url: str, line: bytes) -> Outcome:
    record = json.loads(line)
    given = _given(url, record)
    if "html" not in record:
        return given
    parsed = parse_html(url, record["html"])
    if isinstance(parsed, Failed):
        return parsed
    return replace(parsed, **{key: getattr(given, key) for key in _FIELDS if key in record})


_FIELDS = ("title", "text", "links", "labels")


def _given(url: str, record: dict[str, Any]) -> Page:
    """Return the page with the fields that the record has."""
    links = ((canonical(target, url), anchor) for target, anchor in record.get("links", ()))
    found = (Link(target, anchor) for target, anchor in links if target)
    labels = tuple(map(replace_surrogates, record.get("labels", ())))
    title, text = record.get("title", ""), record.get("text", "")
    return normalise_page(Page(url, title, text, tuple(islice(found, MAX_LINKS)), labels))
