"""A web from JSON lines: one object per page.

    {"url": "http://...", "title": "...", "text": "...",
     "links": [["http://...", "anchor text"], ...], "labels": ["..."]}

If `title`, `text` or `links` is missing, it is read from `html`. Blanks are folded as in the
reader of HTML (`tres.offline.render`). Other keys are ignored. The first line of a URL wins.
Every line is checked when the file is opened, but only its bytes stay in memory, and links
become canonical only when their page is fetched. `read_rows` reads such lines one by one, in
any order and with any URLs, for those who want pages and no web.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from tres.errors import ArchiveError
from tres.files import opening as files
from tres.offline.archive import archive_errors, check_archive_file, no_pages_error
from tres.offline.render import normalise_page
from tres.web.page import Failed, FailureKind, Link, Outcome, Page
from tres.web.parse import MAX_LINKS, parse_html, replace_surrogates
from tres.web.url import canonical

NOWHERE = "http://nowhere.invalid/"
"""What the links of a page without a web address are relative to."""
_FIELDS = ("title", "text", "links", "labels")
_KEY = re.compile(r"\$\.(\w+)")
"""The key that a validation error names."""
_NO_URL = "has no `url`"
_PROBLEMS = {
    "url": _NO_URL,
    "links": "`links` is not a list of [url, anchor]",
    "labels": "`labels` is not a list of strings",
}


class PageLine(msgspec.Struct):
    """One line, as it was written."""

    url: str
    title: str | UnsetType = UNSET
    text: str | UnsetType = UNSET
    html: str | UnsetType = UNSET
    links: list[tuple[str, str]] | UnsetType = UNSET
    labels: list[str] | UnsetType = UNSET

    @property
    def has_content(self) -> bool:
        """Whether it has a text, or markup to read one from."""
        return self.text is not UNSET or self.html is not UNSET


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
        html = _parse(line).html if line else UNSET
        return None if html is UNSET else html

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
            for number, line in enumerate(map(bytes.strip, files.lines(unpacked)), start=1):
                if line and (url := canonical(_checked(line, self.path, number).url)):
                    lines.setdefault(url, line)
        return lines


def read_rows(file: io.BufferedReader, name: object) -> Iterator[tuple[str, Outcome]]:
    """Iterate over the lines of a file called `name`: the URL as it was written, and the page.

    `ArchiveError` at the first line that is not a page.
    """
    for number, line in enumerate(map(bytes.strip, files.lines(file)), start=1):
        if line:
            row = _checked(line, name, number)
            if not row.has_content:
                raise _line_error(name, number, "has neither `text` nor `html`")
            yield row.url, _page(canonical(row.url) or NOWHERE, row)


def _checked(line: bytes, name: object, number: int) -> PageLine:
    """Return the content of a line; `ArchiveError` if it cannot be used."""
    try:
        return _parse(line)
    except msgspec.ValidationError as error:
        key = _KEY.search(str(error))
        problem = _PROBLEMS.get(key[1], f"`{key[1]}` is not a string") if key else _NO_URL
    except (ValueError, RecursionError):
        problem = "is not JSON"
    raise _line_error(name, number, problem)


def _line_error(name: object, number: int, problem: str) -> ArchiveError:
    return ArchiveError(f"{name}: line {number} {problem}; correct or remove the line")


def _parse(line: bytes) -> PageLine:
    return msgspec.convert(json.loads(line), PageLine)


def _outcome(url: str, line: bytes) -> Outcome:
    return _page(url, _parse(line))


def _page(url: str, record: PageLine) -> Outcome:
    """Return the page with the fields that the line has; the others are read from its markup."""
    links = ((canonical(target, url), anchor) for target, anchor in record.links or ())
    found = islice((Link(target, anchor) for target, anchor in links if target), MAX_LINKS)
    labels = tuple(map(replace_surrogates, record.labels or ()))
    page = Page(url, record.title or "", record.text or "", tuple(found), labels)
    given = normalise_page(page)
    if record.html is UNSET:
        return given
    parsed = parse_html(url, record.html)
    if isinstance(parsed, Failed):
        return parsed
    keys = (key for key in _FIELDS if getattr(record, key) is not UNSET)
    return replace(parsed, **{key: getattr(given, key) for key in keys})
