"""A page as an HTML document that reads back as the same page.

Archives of JSON lines and generated webs have titles, texts and links, but no markup. To serve
them over HTTP, markup is added in such a way that nothing is lost. For every page

    parse_html(page.url, render_page(page)) == normalise_page(page)

where `normalise_page` folds blanks and applies the limits of the reader. Archives of JSON lines
return their pages in this form, so a live crawl over HTTP perceives the same as a replay of the
archive, character for character and link for link.

Each line of text is a paragraph. The links are in `<nav>`, whose words do not count as text of
the page. Control characters are written as references, as many raw ones make a page look like
binary data. Two kinds of characters have no reference in HTML: NUL, which becomes a blank (it
separates words, as a blank does), and the controls U+0080 to U+009F, which are sent as they are:
a page with more than a tenth of them is not text to the reader.
"""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

from tres.web.page import Link, Page
from tres.web.parse import (
    MAX_ANCHOR_CHARS,
    MAX_LINKS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    fold_blanks,
    fold_lines,
    replace_surrogates,
)

_CONTROL = re.compile("[\x01-\x1f\x7f\ufffd]")


def render_page(page: Page) -> str:
    """Return a page as an HTML document, to be sent as UTF-8."""
    seen = normalise_page(page)
    lines = seen.text.split("\n") if seen.text else ()
    paragraphs = "".join(f"<p>{_escape(line)}</p>\n" for line in lines)
    links = "".join(
        f'<a href="{escape(link.url)}">{_escape(link.anchor)}</a>\n' for link in seen.links
    )
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{_escape(seen.title)}</title>'
        f"</head>\n<body>\n{paragraphs}<nav>\n{links}</nav>\n</body></html>\n"
    )


def normalise_page(page: Page) -> Page:
    """Return the page that parsing its HTML gives: blanks folded, lengths limited, no NUL."""
    return replace(
        page,
        title=_line(page.title, MAX_TITLE_CHARS),
        text=fold_lines(_sendable(page.text))[:MAX_TEXT_CHARS].rstrip(),
        links=tuple(
            Link(link.url, _line(link.anchor, MAX_ANCHOR_CHARS)) for link in page.links[:MAX_LINKS]
        ),
    )


def _line(text: str, limit: int) -> str:
    return fold_blanks(_sendable(text))[:limit].rstrip()


def _sendable(text: str) -> str:
    return replace_surrogates(text).replace("\0", " ")


def _escape(text: str) -> str:
    """Escape markup, and the characters that only binary data has."""
    return _CONTROL.sub(lambda control: f"&#{ord(control[0])};", escape(text, quote=False))
