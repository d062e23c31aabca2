"""One page, many addresses: the identity of pages on the live Web.

`canonical` removes differences that no server can see. Live sites also put things into URLs
that no *reader* can see: where a click came from (tracking parameters) and who clicks (session
ids). A crawler that keeps them fetches one page many times, and endlessly where a site makes a
new id for every page. `Identity` removes them and keeps everything else, including the order of
parameters.

- A tracking parameter is recognised by its name.
- A session id is recognised by its name if that means nothing else (`PHPSESSID`), in the
  query and in the path (`;jsessionid=`, `/(S(...))/`). Names such as `sid` may also mean a
  section or a student; their value must look like an id: long, letters and digits.
- `canonical` has removed the fragment, and with it `#!`. Sites once used that for pages that
  scripts build; servers never see it, and the convention is obsolete.

Parts are only removed, never added, so identity is idempotent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote_plus

from tres.web.url import canonical

_TRACKING = frozenset(
    """
    gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid ysclid twclid ttclid igshid igsh li_fat_id
    mc_cid mc_eid mkt_tok _hsenc _hsmi __hssc __hstc __hsfp hsctatracking vero_id vero_conv
    oly_anon_id oly_enc_id _openstat wickedid s_cid epik rb_clickid srsltid _ga _gl _ke cmpid
    ml_subscriber ml_subscriber_hash __s spm scm
    """.split()
)
_TRACKING_START = ("utm_", "pk_", "mtm_", "piwik_", "matomo_", "hsa_")
_SESSION = frozenset(
    """
    phpsessid jsessionid aspsessionid asp.net_sessionid sessionid session_id sessid cfid cftoken
    oscsid zenid xtcsid phpsession
    """.split()
)
_PERHAPS_SESSION = frozenset("sid s session sess ses".split())
_LOOKS_LIKE_ID = re.compile(r"(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9_-]{16,}", re.IGNORECASE)
_SESSION_SEGMENT = re.compile(r"\((?:[A-Z]\([^()]*\))+\)", re.IGNORECASE)


class Identity:
    """The identity of URLs; `dropped` are further parameters to drop, besides the known ones."""

    def __init__(self, dropped: Iterable[str] = ()) -> None:
        self._dropped = frozenset(name.lower() for name in dropped)

    def __call__(self, url: str) -> str | None:
        """Return the one URL for all spellings of a page, given a canonical URL.

        >>> Identity()("http://example.org/a;jsessionid=8F3C?id=7&utm_source=mail")
        'http://example.org/a?id=7'
        >>> Identity(["view"])("http://example.org/a?view=print&sid=sports")
        'http://example.org/a?sid=sports'
        """
        path, mark, query = url.partition("?")
        if ";" in path or "(" in path:
            path = _without_sessions(path)
        if mark:
            query = "&".join(part for part in query.split("&") if not self._is_redundant(part))
        result = f"{path}{mark}{query}" if query else path
        return url if result == url else canonical(result)

    def _is_redundant(self, parameter: str) -> bool:
        written, _, value = parameter.partition("=")
        name = _plain(written)
        if name in self._dropped or name in _TRACKING or name.startswith(_TRACKING_START):
            return True
        return _is_session(name, value)


@lru_cache(maxsize=1 << 12)
def _plain(name: str) -> str:
    return unquote_plus(name).lower()


def _without_sessions(path: str) -> str:
    segments = path.split("/")
    kept = segments[:3]  # scheme and host
    for segment in segments[3:]:
        first, *parameters = segment.split(";")
        named = ";".join([first, *(each for each in parameters if not _sets_session(each))])
        if not _SESSION_SEGMENT.fullmatch(named):
            kept.append(named)
    return "/".join(kept if len(kept) > 3 else [*kept, ""])


def _sets_session(parameter: str) -> bool:
    name, equals, value = parameter.partition("=")
    return bool(equals) and _is_session(name.lower(), value)


def _is_session(name: str, value: str) -> bool:
    return name in _SESSION or (
        name in _PERHAPS_SESSION and _LOOKS_LIKE_ID.fullmatch(value) is not None
    )
