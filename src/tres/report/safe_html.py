"""HTML that cannot be broken into: text is text unless it is `Markup`.

`element` builds every part of a page. Whatever is not `Markup`, made by `element` itself or by the
charts, is text from outside: characters that control the display (control characters, overrides
of the writing direction, lone surrogates) become visible marks, and the rest is escaped. So no part
of a page has to remember to do it.
"""

from __future__ import annotations

import re
from html import escape

_CONTROLS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u200b\u2028\u2029\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb"  # invisible
    "\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"  # non-characters and tags
)
_BREAKS = re.compile(r"(?<=[:=])(?=.)|(?<=\.)(?=[^\d.])")
_VOID = frozenset({"meta", "link", "input"})
"""Elements without content."""


class Markup(str):
    """HTML that is safe as it stands."""

    __slots__ = ()


def harmless(text: str) -> str:
    """Return text on one line, with a visible mark for every control character.

    >>> harmless("a\\u202eb\\x00 c\\n d")
    'a\ufffdb\ufffd c d'
    """
    return " ".join(_CONTROLS.sub("\ufffd", text).split())


def element(name: str, /, *inside: str | None, **attributes: str | float | bool | None) -> Markup:
    """Return an element with its content; `class_` is class, `aria_label` is aria-label.

    >>> element("td", "1 < 2", element("b", "so"), class_="sum")
    '<td class="sum">1 &lt; 2<b>so</b></td>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{joined(*inside)}</{name}>")


def joined(*parts: str | None) -> Markup:
    """Join parts: text is escaped, markup stays."""
    return Markup("".join(_safe(part) for part in parts if part is not None))


def link(url: str, *text: str) -> Markup:
    """Return a link; what is not http(s) stays text."""
    shown = text or (url,)
    if not is_web_address(url):
        return joined(*shown)
    return element("a", *shown, href=harmless(url), rel="noreferrer noopener")


def breakable(name: str) -> Markup:
    """Return a long name that may break after dots, colons and equals signs."""
    return Markup(Markup("<wbr>").join(map(joined, _BREAKS.split(name))))


def is_web_address(url: str) -> bool:
    """Return whether a URL is http or https."""
    return url.startswith(("http://", "https://"))


def _safe(part: str) -> str:
    return part if isinstance(part, Markup) else escape(harmless_inside(part))


def harmless_inside(text: str) -> str:
    """As `harmless`, but white space stays as it is."""
    return _CONTROLS.sub("\ufffd", text)


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{escape(harmless(str(value)))}"'
