"""What a robots.txt says to us (RFC 9309).

A file is a list of groups: lines that name user agents, then rules for them. All groups that name
us count together; only where there is none, those for `*` count. A group ends where a user agent
is named after a rule, and nowhere else: blank lines, sitemaps, crawl delays and lines that the
standard does not know lie anywhere without ending it. Which of the rules holds for a path, the
longest one that matches, is left to Protego.

Nothing in a robots.txt raises: bytes that are no text are skipped, lines that mean nothing are
ignored, and what lies behind the first 500 KiB is not read. A hostile one is not slow either, as
rules for others are not kept.
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
"""Names as they are often misspelt, and a blank for the colon, as other crawlers read them."""
_LINE_END = re.compile(r"\r\n?|\n")
_TOKEN = re.compile(r"[a-z_-]+", re.IGNORECASE)
_EVERYBODY = re.compile(r"\*(?:\s|$)")


def product_token(user_agent: str) -> str:
    """The name by which robots.txt knows a crawler: `tres/1.0 (+contact)` is `tres`."""
    found = _TOKEN.match(user_agent.strip())
    return found[0].lower() if found else "tres"


def leaves_unknown(status: int) -> bool:
    """Does a server that answers so leave open what its robots.txt says? Then all is forbidden."""
    return status >= 500 or status == 429


class RobotsRules:
    """The rules of one robots.txt for one crawler."""

    def __init__(self, body: bytes, token: str) -> None:
        text = body[:MAX_BYTES].decode("utf-8-sig", errors="ignore").replace("\0", "")
        rules, named = _read(_LINE_END.split(text), token)
        kept = "\n".join(["User-agent: *", *rules, *(f"Sitemap: {url}" for url in named)])
        self._rules = Protego.parse(kept)
        self.size = len(kept)
        """Characters of what is kept, whatever came."""

    def allows(self, url: str) -> bool:
        """May this URL be fetched?"""
        return self._rules.can_fetch(url, "*")

    @property
    def delay(self) -> float:
        """Seconds that the site asks for between two requests; 0 if it does not say."""
        asked = self._rules.crawl_delay("*")
        return max(0.0, asked) if asked is not None and isfinite(asked) else 0.0

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps it names, as canonical URLs."""
        return tuple(dict.fromkeys(filter(None, map(canonical, self._rules.sitemaps))))


def _read(lines: Iterable[str], token: str) -> tuple[list[str], list[str]]:
    """The rules that hold for us, and the sitemaps that are named."""
    rules: dict[str, list[str]] = {}
    sitemaps: list[str] = []
    group, has_rules = set[str](), False
    for found in filter(None, map(_LINE.match, lines)):
        value = found["value"].strip()
        if found["agent"]:
            group = set() if has_rules else group
            has_rules = False
            if name := _meant(value, token):
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


def _meant(value: str, token: str) -> str:
    """Whom a user agent line means: us, everybody (`*`), or nobody that matters here."""
    if _EVERYBODY.match(value):
        return "*"
    name = _TOKEN.match(value)
    return token if name and name[0].lower() == token else ""
