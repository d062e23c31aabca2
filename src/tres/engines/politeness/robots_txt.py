"""The rules of a robots.txt for us (RFC 9309).

A file is a list of groups: lines that name user agents, then rules for them. All groups that name
us apply together; only if there are none, those for `*` do. A group ends where a user agent follows
a rule, and nowhere else: blank lines, sitemaps, crawl delays and unknown lines do not end it.
Protego decides which rule applies to a path: the longest one that matches.

No robots.txt raises an exception: bytes that are not text are skipped, meaningless lines ignored,
and everything after the first 500 KiB is not read. A hostile file is not slow either, because rules
for others are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite

from protego import Protego

from tres.web.url import canonical

MAX_BYTES = 500 * 1024
"""The least that the standard asks a crawler to read."""
MAX_SITEMAPS = 100
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
