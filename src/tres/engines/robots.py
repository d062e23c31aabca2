"""What a robots.txt says to us (RFC 9309, read by Protego).

Nothing in a robots.txt raises: bytes that are no text are skipped, lines that mean nothing are
ignored, and what lies behind the first 500 kB is not read. A hostile one must not be slow either:
thousands of user agents times thousands of rules would be millions of them, so that all user agents
but ours and `*` are read as one and the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from math import isfinite

from protego import Protego

from tres.web.url import canonical

MAX_BYTES = 500_000
MAX_SITEMAPS = 100
_NOBODY = "-"
_USER_AGENT = re.compile(r"\s*user[- ]?agent\s*[:\s]\s*([^#]*)", re.IGNORECASE)
_TOKEN = re.compile(r"[a-z_-]+", re.IGNORECASE)


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
        self._token = token
        kept = "\n".join(_addressed(text.splitlines(), token))
        self._rules = Protego.parse(kept)
        self.size = len(kept)
        """Characters of what is kept, whatever came."""

    def allows(self, url: str) -> bool:
        """May this URL be fetched?"""
        return self._rules.can_fetch(url, self._token)

    @property
    def delay(self) -> float:
        """Seconds that the site asks for between two requests; 0 if it does not say."""
        asked = self._rules.crawl_delay(self._token)
        return max(0.0, asked) if asked is not None and isfinite(asked) else 0.0

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps it names, as canonical URLs."""
        found = map(canonical, islice(self._rules.sitemaps, MAX_SITEMAPS))
        return tuple(dict.fromkeys(url for url in found if url))


def _addressed(lines: Iterable[str], token: str) -> Iterable[str]:
    """The lines, addressed to us, to everybody, or to nobody we know."""
    for line in lines:
        if not (agent := _USER_AGENT.match(line)):
            yield line
        elif (name := agent[1].strip()).startswith("*"):
            yield "User-agent: *"
        else:
            ours = (found := _TOKEN.match(name)) is not None and found[0].lower() == token
            yield f"User-agent: {token if ours else _NOBODY}"
