"""What a page claims about itself, besides its text. Not every claim is true.

- The *canonical link* names the URL by which the page wants to be known. It counts only within
  the site, and not if it names the front page of the site on another page: templates that name the
  front page on every page are a common mistake, and would lose the whole site.
- A *refresh* to another page within `SOON` seconds is a redirect.
- `og:title` is the title for sharing the page.
- The language in the markup is often that of the template, so it is only a hint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from tres.settings.language_codes import base_code
from tres.web.flat_html import strip_marks
from tres.web.url import SiteBy, canonical, site_of

SOON = 5.0
MAX_CLAIMS = 500
"""Elements of the head that are read; no honest page has as many."""

_REFRESH = re.compile(
    r"\s*(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})[\s;,]+(?:url\s*=\s*)?([\"']?)(.*)",
    re.IGNORECASE | re.DOTALL,
)
_LANGUAGE = re.compile(r"<html\s[^>]{0,1000}?\blang\s*=\s*[\"']?([a-z]{2,3})\b", re.IGNORECASE)
_FRONT = re.compile(r"https?://[^/]+/(?:(?:index|default|home)\.\w+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Head:
    """The claims of one page; URLs are canonical."""

    canonical: str | None = None
    refresh: str | None = None
    title: str = ""


def read_claims(tree: LexborHTMLParser, base: str, encoding: str = "utf-8") -> Head:
    """Return the first claim of each kind; URLs are relative to `base`, in this encoding."""
    named, refresh, title = None, None, ""
    for node in tree.css("link[rel][href], meta[content]")[:MAX_CLAIMS]:
        claim = node.attributes
        if node.tag == "link":
            if named is None and "canonical" in (claim["rel"] or "").lower().split():
                named = canonical(strip_marks(claim["href"] or ""), base, encoding)
            continue
        content = strip_marks(claim["content"] or "")
        if refresh is None and (claim.get("http-equiv") or "").strip().lower() == "refresh":
            refresh = _refreshed(content, base, encoding)
        elif not title and (claim.get("property") or claim.get("name")) == "og:title":
            title = content
    return Head(named, refresh, title)


def _refreshed(content: str, base: str, encoding: str) -> str | None:
    """Return the target of a refresh; an opening quote ends it at the closing one."""
    refresh = _REFRESH.match(content)
    if not refresh or float(refresh[1]) > SOON:
        return None
    target = refresh[3].partition(refresh[2])[0] if refresh[2] else refresh[3]
    return canonical(target, base, encoding) if target.strip() else None


def claimed_language(html: str) -> str:
    """Return the language code of `<html lang>`, if it is near the start of the source."""
    claim = _LANGUAGE.search(html[:4_096])
    return base_code(claim[1]) if claim else ""


def page_identity(named: str | None, url: str, by: SiteBy = "host") -> str:
    """Return the identity of the page at `url` whose canonical link is `named`."""
    if named is None or site_of(named, by) != site_of(url, by):
        return url
    return url if _FRONT.fullmatch(named) and not _FRONT.fullmatch(url) else named
