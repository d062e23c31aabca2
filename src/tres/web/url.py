"""The identity of pages and sites.

Two URLs are one page if their canonical forms are equal. The canonical form is
deliberately *light*: it undoes only spelling differences that no server can see
(case of scheme and host, default port, fragment, `/a/../b`, raw blanks and
non-ASCII letters). It keeps the query as it is, in its order: on many sites the
query *is* the page, and dropping it would merge the whole site into one.

`canonical` never raises. What is no http(s) URL is `None`, and so is a URL with
user name and password, which no public link needs. It is idempotent, so stored
URLs may pass through it again, and then the common case costs one regular
expression and no splitting.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Literal
from urllib.parse import quote, unquote

import idna
from tldextract import TLDExtract

MAX_URL_CHARS = 2_000
MAX_HOST_CHARS = 253

SiteBy = Literal["host", "domain"]

_LABELS = r"(?:[a-z0-9_-]+\.)*[a-z0-9_-]+"
_SHORT = rf"(?![^/]{{{MAX_HOST_CHARS + 1}}})"
_CANONICAL = re.compile(rf'https?://{_SHORT}{_LABELS}/[^\x00-\x20"#<>\\`{{}}\x7f-\U0010ffff]*')
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HTTP = re.compile(r"(https?):[/\\]{2}", re.IGNORECASE)
_ABSOLUTE = re.compile(r"(https?)://([^/?]*)([^?]*)(.*)", re.DOTALL)
_HOST = re.compile(_LABELS)
_REMOVED_INSIDE = re.compile(r"[\t\n\r]")
_UNSAFE = re.compile(r'[\x00-\x20"<>`{}\x7f-\U0010ffff]+')
_BLANK_OR_CONTROL = "".join(map(chr, range(0x21))) + "\x7f\x85\xa0\u2028\u2029\ufeff"
_DEFAULT_PORT = {"http": 80, "https": 443}


def canonical(url: str, base: str | None = None) -> str | None:
    """The canonical form of `url`, seen from the canonical URL `base`; None if it has none.

    >>> canonical("HTTP://Example.org:80/a/../b c?y=1&x=2#top")
    'http://example.org/b%20c?y=1&x=2'
    >>> canonical("../news", base="http://example.org/a/b/c")
    'http://example.org/a/news'
    >>> canonical("mailto:somebody@example.org") is None
    True
    """
    if _CANONICAL.fullmatch(url) and "/." not in url and len(url) <= MAX_URL_CHARS:
        return url
    absolute = _absolute(_cleaned(url), base)
    parts = _ABSOLUTE.fullmatch(absolute) if absolute else None
    if not parts:
        return None
    scheme, authority, path, query = parts.groups()
    authority = _authority(authority, _DEFAULT_PORT[scheme])
    if not authority:
        return None
    rest = _percent_encoded((_without_dots(path) or "/") + query)
    result = f"{scheme}://{authority}{rest}"
    return result if rest and len(result) <= MAX_URL_CHARS else None


def _cleaned(url: str) -> str:
    """Without what browsers ignore: outer blanks, tabs and line ends inside, the fragment."""
    inside = _REMOVED_INSIDE.sub("", url.strip(_BLANK_OR_CONTROL))
    return inside.partition("#")[0].strip(_BLANK_OR_CONTROL)


def _absolute(url: str, base: str | None) -> str | None:
    """`url` with scheme and host, backslashes of the path turned, as browsers do."""
    path, mark, query = url.partition("?")
    path = path.replace("\\", "/")
    if http := _HTTP.match(path):
        return f"{http[1].lower()}://{path[http.end() :]}{mark}{query}"
    if base is None or _SCHEME.match(path):
        return None
    return _from_base(base, path, mark + query)


def _from_base(base: str, path: str, query: str) -> str | None:
    origin = _ABSOLUTE.fullmatch(base)
    if not origin:
        return None
    scheme, host, base_path, base_query = origin.groups()
    if path.startswith("//"):
        return f"{scheme}:{path}{query}"
    if not path:
        return f"{scheme}://{host}{base_path}{query or base_query}"
    if not path.startswith("/"):
        path = base_path[: base_path.rfind("/") + 1] + path
    return f"{scheme}://{host}{path}{query}"


def _without_dots(path: str) -> str:
    """`/a/./b/../c` is `/a/c`; going above the root stays at the root."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    ends_in_dots = segments[-1] in (".", "..")
    return "/" + "/".join(kept) + ("/" if ends_in_dots and kept else "")


def _authority(authority: str, default_port: int) -> str | None:
    """Host and, where it is not the default, port; None with user info or a bad host."""
    host, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = authority, ""
    if port and not (port.isascii() and port.isdigit() and int(port[:9]) < 65536):
        return None
    name = _host(host.lower())
    if not name or not port or int(port) == default_port:
        return name
    return f"{name}:{int(port)}"


def _host(host: str) -> str | None:
    if host.startswith("["):
        return _ipv6(host)
    ascii_host = host if host.isascii() else _international(host[: MAX_HOST_CHARS + 1])
    name = ascii_host.lower().removesuffix(".")
    return name if len(name) <= MAX_HOST_CHARS and _HOST.fullmatch(name) else None


@lru_cache(maxsize=1 << 10)
def _international(host: str) -> str:
    """The name in ASCII, as browsers write it; nothing if there is none.

    Names with emoji exist, though the current standard forbids them; the older one does not.
    """
    try:
        return idna.encode(host, uts46=True).decode()
    except UnicodeError:
        pass
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return ""


def _ipv6(host: str) -> str | None:
    try:
        return f"[{IPv6Address(host[1:-1])}]" if host.endswith("]") else None
    except ValueError:
        return None


def _percent_encoded(rest: str) -> str | None:
    """Blanks, controls, quotes and non-ASCII as UTF-8 escapes; what is valid stays."""
    try:
        return _UNSAFE.sub(lambda run: quote(run[0], safe=""), rest)
    except UnicodeEncodeError:  # half of a surrogate pair: no text at all
        return None


def host_of(url: str) -> str:
    """The host of a canonical URL, without port."""
    authority = url.split("/", 3)[2]
    if authority.startswith("["):
        return authority[: authority.index("]") + 1]
    return authority.partition(":")[0]


@lru_cache(maxsize=1 << 14)
def site_of(url: str, by: SiteBy = "host") -> str:
    """The site of a canonical URL: its host without `www.`, or its registrable domain.

    >>> site_of("http://www.news.example.co.uk:8080/a")
    'news.example.co.uk'
    >>> site_of("http://www.news.example.co.uk:8080/a", by="domain")
    'example.co.uk'
    """
    host = host_of(url)
    return _domain(host) if by == "domain" else _without_www(host)


def _without_www(host: str) -> str:
    name = host.removeprefix("www.")
    return name if "." in name else host


@lru_cache(maxsize=1)
def _suffixes() -> TLDExtract:
    """The public suffix list that comes with the library: no download, no file cache."""
    return TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True)


@lru_cache(maxsize=1 << 16)
def _domain(host: str) -> str:
    """The registrable domain; an address or a name without dots is its own."""
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
    """What a canonical URL says, as lower-case words.

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
    """The labels of a host without `www` and the public suffix."""
    suffix = _suffixes().extract_str(host).suffix
    name = host.removesuffix(suffix) if suffix else host.rpartition(".")[0] or host
    return " ".join(_WORD.findall(name.removeprefix("www.")))
