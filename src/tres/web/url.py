"""The identity of pages and sites.

Two URLs are one page if their canonical forms are equal. The canonical form is what a browser
would request (the WHATWG URL standard, by the parser `ada`), without its fragment: it removes only
differences in spelling that no server can see, such as the case of scheme and host, default ports,
`/a/../b`, blanks, letters beyond ASCII and the many spellings of one IPv4 address. It keeps
the query as it is, in its order: on many sites the query *is* the page, and dropping it would
merge the whole site into one.

It is stricter than a browser where that helps a crawler. The result is `None` for anything but an
http(s) URL, for a URL with a user name or password, which no public link needs, and for a host that
no name server can resolve: with a label of more than 63 octets, or with characters other than
letters, digits, `-` and `_`. The final dot of a host is dropped.

`canonical` never raises. It is idempotent, so stored URLs may pass through it again, and then
the common case costs one regular expression and no parsing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal
from urllib.parse import quote, unquote

from ada_url import join_url
from tldextract import TLDExtract

MAX_URL_CHARS = 2_000
MAX_HOST_CHARS = 253
MAX_LABEL_CHARS = 63
MAX_AUTHORITY_CHARS = 1_000
"""Length of a host as it is written: a letter may be three escapes."""

SiteBy = Literal["host", "domain"]

_LABEL = rf"[a-z0-9_-]{{1,{MAX_LABEL_CHARS}}}+"
_SHORT = rf"(?![^/:]{{{MAX_HOST_CHARS}}}(?:[^/:.]|\.[^/:]))"
_NAME = rf"{_SHORT}{_LABEL}(?:\.{_LABEL})*+"
# What the parser gives back as it is. Where the last label begins with a digit, the host may be an
# IPv4 address in disguise.
_AS_IT_IS = r"[!$%&(-;=?-\[\]_a-z|~]*+"
_CANONICAL = re.compile(rf"https?://{_SHORT}(?:{_LABEL}\.)*+(?![0-9]){_LABEL}/{_AS_IT_IS}")
_ROOTED = re.compile(rf"/(?!/){_AS_IT_IS}")
_PUBLIC = re.compile(rf"(https?://(?:{_NAME}|\[[0-9a-f:]+\]))\.?((?::[0-9]+)?/.*)")
_AUTHORITY = re.compile(r"[\x00-\x20]*(?:https?:[/\\]*|[/\\]{2,})([^/\\?#]*)", re.IGNORECASE)
_DOTS = re.compile("[.\u3002\uff0e\uff61]")
_REMOVED_INSIDE = re.compile(r"[\t\n\r]+")
_KEPT_IN_QUERIES = "".join(map(chr, set(range(0x21, 0x7F)) - set(b"\"#'<>")))
_NO_BASE = "about:blank"


def canonical(url: str, base: str | None = None, encoding: str = "utf-8") -> str | None:
    """Return the canonical form of `url`, relative to the canonical URL `base`, or None.

    `encoding` is that of the page with the link: browsers write queries in it.

    >>> canonical("HTTP://Example.org:80/a/../b c?y=1&x=2#top")
    'http://example.org/b%20c?y=1&x=2'
    >>> canonical("../news", base="http://example.org/a/b/c")
    'http://example.org/a/news'
    >>> canonical("mailto:somebody@example.org") is None
    True
    """
    if "/." not in url and "/%2" not in url and len(url) <= MAX_URL_CHARS:
        if _CANONICAL.fullmatch(url) and "xn--" not in url:
            return url
        if base and _ROOTED.fullmatch(url):
            url = _origin(base) + url
            return url if len(url) <= MAX_URL_CHARS else None
    url = _REMOVED_INSIDE.sub("", url)
    if _is_endless(url):
        return None
    if encoding != "utf-8" and not url.isascii():
        url = _with_query_in(url, encoding)
    try:
        href = join_url(base or _NO_BASE, url)
    except ValueError:
        return None
    public = _PUBLIC.fullmatch(href.partition("#")[0])
    known = public[1] + public[2] if public else None
    return known if known and len(known) <= MAX_URL_CHARS else None


def _origin(url: str) -> str:
    """Scheme, host and port of a canonical URL."""
    return url[: url.index("/", len("https://"))]


def _is_endless(url: str) -> bool:
    """Return whether the host is longer than any name can be; encoding it would be slow."""
    authority = _AUTHORITY.match(url)
    if not authority or len(authority[1]) <= MAX_LABEL_CHARS:
        return False
    long_label = max(map(len, _DOTS.split(authority[1]))) > MAX_LABEL_CHARS
    return len(authority[1]) > MAX_AUTHORITY_CHARS or (long_label and not authority[1].isascii())


def _with_query_in(url: str, encoding: str) -> str:
    """Return the URL with the letters of its query escaped in an encoding, as forms send them.

    A letter that the encoding does not have becomes its number, as in `&#26085;`.
    """
    path, mark, query = url.partition("?")
    query, sharp, fragment = query.partition("#")
    if "#" in path or query.isascii() or len(query) > MAX_URL_CHARS:
        return url
    return f"{path}{mark}{_escaped(query, encoding)}{sharp}{fragment}"


def _escaped(text: str, encoding: str) -> str:
    try:
        return quote(text.encode(encoding), safe=_KEPT_IN_QUERIES)
    except UnicodeEncodeError:
        if len(text) == 1:
            return f"%26%23{ord(text)}%3B"
    return "".join(_escaped(letter, encoding) for letter in text)


def host_of(url: str) -> str:
    """Return the host of a canonical URL, without port."""
    authority = url.split("/", 3)[2]
    if authority.startswith("["):
        return authority[: authority.index("]") + 1]
    return authority.partition(":")[0]


@lru_cache(maxsize=1 << 14)
def site_of(url: str, by: SiteBy = "host") -> str:
    """Return the site of a canonical URL: its host without `www.`, or its registrable domain.

    >>> site_of("http://www.news.example.co.uk:8080/a")
    'news.example.co.uk'
    >>> site_of("http://www.news.example.co.uk:8080/a", by="domain")
    'example.co.uk'
    """
    host = host_of(url)
    return domain_of(host) if by == "domain" else _without_www(host)


def _without_www(host: str) -> str:
    name = host.removeprefix("www.")
    return name if "." in name else host


@lru_cache(maxsize=1)
def _suffixes() -> TLDExtract:
    """Return the public suffix list of the library, without download and file cache."""
    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@lru_cache(maxsize=1 << 16)
def domain_of(host: str) -> str:
    """Return the registrable domain of a host; addresses and names without dots are their own.

    >>> domain_of("news.example.co.uk"), domain_of("someone.github.io")
    ('example.co.uk', 'someone.github.io')
    """
    if host.startswith("[") or host.replace(".", "").isdigit():
        return host
    known = _suffixes().extract_str(host).top_domain_under_public_suffix
    return known or ".".join(host.split(".")[-2:])


_EXTENSION = re.compile(
    r"\.(?:html?|xhtml|shtml|php\d?|phtml|aspx?|jspx?|cgi|cfm|do|pl)(?=$|[/?;&])", re.IGNORECASE
)
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+")


@lru_cache(maxsize=1 << 14)
def url_words(url: str) -> str:
    """Return the words of a canonical URL, in lower case.

    >>> url_words("http://www.star-notes.example.org/2019/BlackHoles.html?view=full")
    'star notes example black holes view full'
    """
    pieces = url.split("/", 3)
    rest = _EXTENSION.sub("", pieces[3]) if len(pieces) == 4 else ""
    if "%" in rest:
        rest = unquote(rest)
    words = " ".join(_WORD.findall(_CAMEL.sub(" ", rest))).lower()
    return f"{_host_words(host_of(url))} {words}".strip()


@lru_cache(maxsize=1 << 16)
def _host_words(host: str) -> str:
    """Return the labels of a host without `www` and the public suffix."""
    suffix = _suffixes().extract_str(host).suffix
    name = host.removesuffix(suffix) if suffix else host.rpartition(".")[0] or host
    return " ".join(_WORD.findall(name.removeprefix("www.")))
