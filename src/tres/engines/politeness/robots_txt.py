"""The rules of a robots.txt that apply to us (RFC 9309), and a cache that keeps them for a day.

A file is a list of groups: lines that name user agents, then rules for them. All groups that name
us apply together; only if there are none, those for `*` do. A group ends where a user agent follows
a rule, and nowhere else: blank lines, sitemaps, crawl delays and unknown lines do not end it.
Protego decides which rule applies to a path: the longest one that matches.

No robots.txt raises an exception: bytes that are not text are skipped, meaningless lines ignored,
and everything after the first 500 KiB is not read. A hostile file is not slow either, because rules
for others are not kept. When the cache holds too many rules, the least recently used go first; when
they are too large, the largest go first, so that no site can push out the rules of the others.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable
from math import isfinite

from protego import Protego

from tres.engines.politeness.clock import DAY
from tres.web.url import canonical

MAX_BYTES = 500 * 1024
"""The least that the standard asks a crawler to read."""
MAX_SITEMAPS = 100
MAX_ENTRIES = 5_000
MAX_TEXT = 4_000_000
"""Characters of robots.txt whose rules are kept; the rules take about ten times more."""
_LINE = re.compile(
    r"\s*(?:(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<disallow>dis+al+[ao]w|diasllow)"
    r"|(?P<delay>crawl[- ]?delay)|(?P<sitemap>site-?maps?))\s*[:\s]\s*(?P<value>[^#]*)",
    re.IGNORECASE,
)
"""With common misspellings, and a blank for the colon, as other crawlers accept them."""
_LINE_END = re.compile(r"\r\n?|\n")
_TOKEN = re.compile(r"[a-z_-]+", re.IGNORECASE)
_EVERYBODY = re.compile(r"\*(?:\s|$)")


def product_token(user_agent: str) -> str:
    """Return the name of a crawler in robots.txt: `tres` for `tres/1.0 (+contact)`."""
    found = _TOKEN.match(user_agent.strip())
    return found[0].lower() if found else "tres"


def leaves_unknown(status: int) -> bool:
    """Do the rules stay unknown after this status? Then everything is forbidden."""
    return status >= 500 or status == 429


class RobotsRules:
    """The rules of one robots.txt for one crawler."""

    def __init__(self, body: bytes, token: str) -> None:
        text = body[:MAX_BYTES].decode("utf-8-sig", errors="ignore").replace("\0", "")
        rules, named = _read(_LINE_END.split(text), token)
        kept = "\n".join(["User-agent: *", *rules, *(f"Sitemap: {url}" for url in named)])
        self._rules = Protego.parse(kept)
        self.size = len(kept)
        """Characters of the rules that are kept."""

    def allows(self, url: str) -> bool:
        """May this URL be fetched?"""
        return self._rules.can_fetch(url, "*")

    @property
    def delay(self) -> float:
        """The delay between two requests that the site asks for, in seconds; 0 by default."""
        asked = self._rules.crawl_delay("*")
        return max(0.0, asked) if asked is not None and isfinite(asked) else 0.0

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps that the file names, as canonical URLs."""
        return tuple(dict.fromkeys(filter(None, map(canonical, self._rules.sitemaps))))


class RobotsCache:
    """Rules by origin, bounded in number, size and age."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[RobotsRules, float]] = OrderedDict()
        self._text = 0

    def __len__(self) -> int:
        return len(self._known)

    def get(self, origin: str, now: float) -> RobotsRules | None:
        """Return the rules of an origin, or None if they are unknown or too old."""
        rules, until = self._known.get(origin, (None, now))
        if until <= now:
            return None
        self._known.move_to_end(origin)
        return rules

    def put(self, origin: str, rules: RobotsRules, now: float) -> None:
        """Keep rules for a day."""
        self._drop(origin)
        if len(self._known) >= MAX_ENTRIES:
            self._drop(next(iter(self._known)))
        while self._known and self._text + rules.size > MAX_TEXT:
            self._drop(max(self._known, key=self._size))
        self._known[origin] = rules, now + DAY
        self._text += rules.size

    def _size(self, origin: str) -> int:
        return self._known[origin][0].size

    def _drop(self, origin: str) -> None:
        if origin in self._known:
            self._text -= self._known.pop(origin)[0].size


def _read(lines: Iterable[str], token: str) -> tuple[list[str], list[str]]:
    """Return the rules that apply to us, and the sitemaps."""
    rules: dict[str, list[str]] = {}
    sitemaps: list[str] = []
    group, has_rules = set[str](), False
    for found in filter(None, map(_LINE.match, lines)):
        value = found["value"].strip()
        if found["agent"]:
            group = set() if has_rules else group
            has_rules = False
            if name := _agent_of(value, token):
                group.add(name)
                rules.setdefault(name, [])
        elif found["sitemap"]:
            sitemaps += [value][: MAX_SITEMAPS - len(sitemaps)]
        else:
            kind = "Allow" if found["allow"] else "Disallow" if found["disallow"] else "Crawl-delay"
            has_rules = has_rules or not found["delay"]
            for name in group:
                rules[name].append(f"{kind}: {value}")
    return rules.get(token, rules.get("*", [])), sitemaps


def _agent_of(value: str, token: str) -> str:
    """Return whom a user agent line is for: us, everybody (`*`), or others (empty)."""
    if _EVERYBODY.match(value):
        return "*"
    name = _TOKEN.match(value)
    return token if name and name[0].lower() == token else ""
