"""Bytes to text: which encoding a page is in, and whether it is text at all.

What a page says about its encoding is often wrong, so every claim is a candidate
and the first that *fits* is taken: byte-order mark (it cannot be there by chance),
HTTP header, `<meta>`, then UTF-8, which hardly ever fits by accident, and at last
windows-1252, in which every byte means something. A candidate fits if most of what
is not ASCII can be decoded; single broken characters become U+FFFD and stay so.

Labels mean what they mean to browsers (WHATWG Encoding, by `webencodings`). Python knows
more encodings, some of them (`punycode`, `unicode_escape`) slow or harmful on hostile input.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

import webencodings

FALLBACK = "cp1252"
MAX_CONTROL_SHARE = 0.1
"""With more control and undecodable characters, it is not text. Random bytes have 0.13."""
MAX_NUL_SHARE = 0.01
SAMPLE_CHARS = 8_192
META_BYTES = 2_048

_UNUSED = ("replacement", "x-user-defined")
"""Encodings of browsers that decode no page."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")


class Decoded(NamedTuple):
    """The text of a page, and the encoding of the queries in its links."""

    text: str
    encoding: str = "utf-8"


def decode_page(body: bytes, hint: str | None = None) -> Decoded | None:
    """Return a page as text, or None if it is not text; `hint` is the charset of the header."""
    texts = ((_fitting(body, name), name) for name in _candidates(body, hint))
    found, encoding = next(((text, name) for text, name in texts if text), (None, FALLBACK))
    text = (found or body.decode(FALLBACK, "replace")).removeprefix("\ufeff")
    if not is_text(text):
        return None
    return Decoded(text, "utf-8" if encoding.startswith("utf") else encoding)


def is_text(text: str) -> bool:
    """Return False for binary data that claims to be a page."""
    sample = text[:SAMPLE_CHARS]
    if sample.count("\0") > len(sample) * MAX_NUL_SHARE:
        return False
    return len(_CONTROL.findall(sample)) <= len(sample) * MAX_CONTROL_SHARE


def _candidates(body: bytes, hint: str | None) -> Iterator[str]:
    yield from (name for mark, name in _MARKS if body.startswith(mark))
    meta = _META.search(body[:META_BYTES])
    for label in (hint, meta[1].decode() if meta else None):
        name = encoding_of(label) if label else None
        # Markup in two bytes a character is full of NULs: `<` is one of them.
        if name and (b"\0" in body or not name.startswith("utf-16")):
            yield name
    yield "utf-8"


def encoding_of(label: str) -> str | None:
    """Return Python's name of the encoding that browsers use for a label, if there is one."""
    found = webencodings.lookup(label.strip("\"'"))
    if found is None or found.name in _UNUSED:
        return None
    # gb18030 contains gbk, and browsers decode both with it.
    return "gb18030" if found.name == "gbk" else str(found.codec_info.name)


def _fitting(body: bytes, encoding: str) -> str | None:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError:
        text = body.decode(encoding, "replace")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return text if text.count("\ufffd") * 2 < beyond_ascii else None
