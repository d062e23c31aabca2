"""Which links of a page may enter the frontier: the user's patterns, and rules against traps.

A rule checks one URL and has a name; the first that objects drops the link, and `dropped` counts
the dropped links by name. The rules know nothing about the crawl, so they can run anywhere; traps
that only show over many pages of a site are left to `tres.web.traps`.

- `exclude`, `include`: the patterns of the topic file.
- `file`: the path ends in an extension that no HTML page has.
- `long`, `deep`, `parameters`: longer, deeper or with more parameters than the URLs of pages for
  people. Endless spaces grow, as each of their pages links to a longer URL.
- `repetition`: repeated path segments (`/a/b/a/b/a/b`), as relative links make them on a server
  that answers every URL.
- `calendar`: a month in the future, or one long ago if the URL names a calendar: pages that link
  to the next and the previous month never end.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tres.settings.sections import LiveSection
from tres.web.identity import Identity
from tres.web.page import Link

MAX_CHARS = 500
MAX_SEGMENTS = 16
MAX_PARAMETERS = 10
MAX_REPETITIONS = 3
YEARS_AHEAD = 2
YEARS_BACK = 30
"""Age of a calendar page. Dates elsewhere, as in the archive of a newspaper, may be older."""

_FILES = frozenset(
    """
    jpg jpeg jpe png gif bmp tif tiff webp avif ico svg svgz psd heic raw eps ai
    mp3 mp4 m4a m4v avi mov wmv flv mkv webm ogg ogv oga wav flac aac mid midi mpg mpeg swf ra rm
    pdf ps djvu doc docx odt rtf xls xlsx ods ppt pptx pps odp epub mobi azw3 tex dvi bib
    zip gz tgz bz2 xz 7z rar tar z zst jar war deb rpm apk dmg iso img exe msi bin dll so whl egg
    css js mjs map json jsonld csv tsv xml rss atom rdf ics vcf kml kmz gpx wsdl xsd xsl sql db
    sqlite dat ttf otf woff woff2 eot torrent crt pem asc sig md5 sha1 sha256
    """.split()
)
_NUMBER = re.compile("[0-9]{4}")
_YEAR = re.compile(r"(?<![0-9])([12][0-9]{3})(?:[-/.]|%2F|_)(?:0?[1-9]|1[0-2])(?![0-9])")
_YEAR_IN_PATH = re.compile(r"/(2[0-9]{3})/(?:0?[1-9]|1[0-2])(?=[/?]|$)")
_YEAR_NAMED = re.compile(
    r"[?&;](?:year|yr|jahr|annee|ano|anno|y)=([0-9]{4,5})(?![0-9])", re.IGNORECASE
)
_CALENDAR = re.compile(
    r"calend|kalend|agenda|events?\b|month|[?&](?:year|date|day|month|jahr|monat)=", re.IGNORECASE
)


class LinkRules:
    """The rules of one crawl. `year` is the current one, as the rules have no clock."""

    def __init__(self, live: LiveSection, year: int) -> None:
        self.dropped: Counter[str] = Counter()
        self.identity = Identity(live.drop_parameters)
        self._include = [re.compile(pattern) for pattern in live.include]
        self._exclude = [re.compile(pattern) for pattern in live.exclude]
        self._traps = live.traps
        self._year = year
        # Pages of one site repeat their links, and the result depends only on the URL.
        self._verdict = lru_cache(maxsize=1 << 15)(self._check)

    def filter_links(self, links: Iterable[Link]) -> Iterator[Link]:
        """Yield the links that may be followed, with the identity of their pages."""
        for link in links:
            url, objection = self._verdict(link.url)
            if objection:
                self.dropped[objection] += 1
            elif url == link.url:
                yield link
            else:
                yield Link(url, link.anchor)

    def objection(self, url: str) -> str:
        """Return the name of the first rule that forbids a URL, or an empty string."""
        if any(pattern.search(url) for pattern in self._exclude):
            return "exclude"
        if self._include and not any(pattern.search(url) for pattern in self._include):
            return "include"
        return trap(url, self._year) if self._traps else ""

    def _check(self, url: str) -> tuple[str, str]:
        identity = self.identity(url)
        return (identity, self.objection(identity)) if identity else (url, "no-address")


def trap(url: str, year: int) -> str:
    """Return the name of the trap that a URL looks like, or an empty string.

    >>> trap("http://example.org/a/b/a/b/a/b", 2026), trap("http://example.org/a/b?c=1", 2026)
    ('repetition', '')
    """
    if len(url) > MAX_CHARS:
        return "long"
    path, _, query = url.partition("?")
    segments = path.split("/")[3:]
    if segments[-1].rpartition(".")[2].lower() in _FILES and "." in segments[-1]:
        return "file"
    if len(segments) > MAX_SEGMENTS:
        return "deep"
    if query.count("&") >= MAX_PARAMETERS:
        return "parameters"
    if len(segments) >= MAX_REPETITIONS and repeats(segments):
        return "repetition"
    return "calendar" if _endless_calendar(url, year) else ""


def repeats(segments: list[str]) -> bool:
    """Return whether segments repeat `MAX_REPETITIONS` times in a row, or one more often."""
    named = [segment for segment in segments if segment]
    most = max(Counter(named).values(), default=0)
    if most < MAX_REPETITIONS:
        return False
    return most > MAX_REPETITIONS or any(
        _run(named, start, size)
        for size in range(1, len(named) // MAX_REPETITIONS + 1)
        for start in range(len(named) - size * MAX_REPETITIONS + 1)
    )


def _run(named: list[str], start: int, size: int) -> bool:
    first = named[start : start + size]
    return all(
        named[start + size * time : start + size * (time + 1)] == first
        for time in range(1, MAX_REPETITIONS)
    )


def _endless_calendar(url: str, year: int) -> bool:
    if not _NUMBER.search(url):
        return False
    latest = year + YEARS_AHEAD
    if any(int(found) > latest for found in _YEAR_IN_PATH.findall(url)):
        return True
    years = [int(found) for found in (*_YEAR.findall(url), *_YEAR_NAMED.findall(url))]
    beyond = any(not year - YEARS_BACK <= found <= latest for found in years)
    return beyond and _CALENDAR.search(url) is not None
