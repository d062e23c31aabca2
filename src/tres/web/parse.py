"""From HTML to a `Page` (title, text, links) and to a `Document` (with the claims of the page).

Parsing is lenient, as in browsers: no markup fails. Only binary data sent as text/html and markup
made to do harm fail, as `MALFORMED`. All results are bounded by the constants below, and markup is
made flat before it is parsed (`tres.web.flat_html`), so that deep nesting costs no more than any
other markup of its size. Menus, headers and footers are not part of the text
(`tres.web.boilerplate`), but their links are links of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tres.web.boilerplate import first_heading, main_text
from tres.web.charset import Decoded, decode_page, is_text
from tres.web.flat_html import FRAME, flatten_html, strip_marks, too_many_attributes
from tres.web.page import Failed, FailureKind, Link, Outcome, Page
from tres.web.page_claims import Head, claimed_language, read_claims
from tres.web.url import canonical

MAX_LINKS = 5_000
MAX_TEXT_CHARS = 100_000
MAX_TITLE_CHARS = 500
MAX_ANCHOR_CHARS = 500

_UNSEEN = ["script", "style", "title"]


@dataclass(frozen=True, slots=True)
class Document:
    """A page, and what its markup claims about it (see `tres.web.page_claims`)."""

    page: Page
    head: Head
    language: str
    """The code in `<html lang>`, or an empty string."""


def parse_html(url: str, body: bytes | str, charset: str | None = None) -> Outcome:
    """Return the page at a canonical URL; `charset` is that of the HTTP header, if any."""
    document = parse_document(url, body, charset)
    return document.page if isinstance(document, Document) else document


def parse_document(url: str, body: bytes | str, charset: str | None = None) -> Document | Failed:
    """Return the page at a canonical URL with its claims."""
    read = _text_of(body, charset)
    if read is None or too_many_attributes(read.text):
        return Failed(url, FailureKind.MALFORMED)
    tree = LexborHTMLParser(flatten_html(read.text))
    named = tree.css_first("title")
    title = fold_blanks(strip_marks(named.text())) if named else ""
    tree.strip_tags(_UNSEEN)
    base = _base(tree, url)
    head = read_claims(tree, base, read.encoding)
    text = tree.body.text() if tree.body else ""
    page = Page(
        url,
        (title or fold_blanks(head.title) or fold_blanks(first_heading(text)))[:MAX_TITLE_CHARS],
        fold_lines(main_text(text))[:MAX_TEXT_CHARS],
        tuple(_links(tree, base, read.encoding)),
    )
    return Document(page, head, claimed_language(read.text))


def fold_blanks(text: str) -> str:
    """Return the text as one line with single blanks."""
    return " ".join(text.split())


def fold_lines(text: str) -> str:
    """Return the lines that are not empty, with single blanks."""
    return "\n".join(filter(None, map(fold_blanks, text.split("\n"))))


def _text_of(body: bytes | str, charset: str | None) -> Decoded | None:
    if isinstance(body, bytes):
        return decode_page(body, charset)
    text = replace_surrogates(body)
    return Decoded(text) if is_text(text) else None


def replace_surrogates(text: str) -> str:
    """Return text without lone surrogates, which cannot be written to files."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _links(tree: LexborHTMLParser, base: str, encoding: str) -> Iterator[Link]:
    """Yield all links in page order, and frames, whose pages are shown within this one.

    `rel=nofollow` is addressed to search engines, not to readers, and is ignored.
    """
    for node in tree.css(f"a[href], area[href], {FRAME}[src]")[:MAX_LINKS]:
        written = node.attributes["src" if node.tag == FRAME else "href"]
        target = canonical(strip_marks(written or ""), base, encoding)
        if target:
            yield Link(target, _anchor(node))


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    return canonical(strip_marks(node.attributes["href"] or ""), url) or url if node else url


def _anchor(node: LexborNode) -> str:
    """Return what a reader sees of a link: its text, else that of its picture, else its tooltip."""
    if words := fold_blanks(strip_marks(node.text())):
        return words[:MAX_ANCHOR_CHARS]
    spoken = [image.attributes.get("alt") for image in node.css("img[alt]")]
    for attribute in (*spoken, node.attributes.get("alt"), node.attributes.get("title")):
        if attribute and (words := fold_blanks(strip_marks(attribute))):
            return words[:MAX_ANCHOR_CHARS]
    return ""
