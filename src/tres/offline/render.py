"""A page as an HTML document that reads back as the same page.

Archives of JSON lines and generated webs hold titles, texts and links, but no markup. To serve
them over HTTP the markup is made up, and made so that nothing is lost. For every page

    parse_html(page.url, rendered(page)) == as_read(page)

where `as_read` is the page after a reader's own folding of blanks and its limits. Archives of
JSON lines give their pages in this form, so a live crawl over HTTP perceives what a replay of
the archive perceives, character for character and link for link.

One line of text is one paragraph. The links stand in `<nav>`, whose words readers do not count
as text of the page. Control characters are written as references, as many raw ones make a page
look like binary data. Two kinds of characters have no reference in HTML: NUL, which becomes a
blank (it parts words, as a blank does), and the controls U+0080 to U+009F, which are sent as
they are: a page that has more than a tenth of them is no text to a reader.
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
    folded,
    folded_lines,
    well_formed,
)

_CONTROL = re.compile("[\x01-\x1f\x7f\ufffd]")


def rendered(page: Page) -> str:
    """The HTML document of a page, to be sent as UTF-8."""
    seen = as_read(page)
    lines = seen.text.split("\n") if seen.text else ()
    paragraphs = "".join(f"<p>{_written(line)}</p>\n" for line in lines)
    links = "".join(
        f'<a href="{escape(link.url)}">{_written(link.anchor)}</a>\n' for link in seen.links
    )
    return (
        f'<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>{_written(seen.title)}</title>'
        f"</head>\n<body>\n{paragraphs}<nav>\n{links}</nav>\n</body></html>\n"
    )


def as_read(page: Page) -> Page:
    """The page as a reader of its HTML sees it: blanks folded, lengths limited, no NUL."""
    return replace(
        page,
        title=_line(page.title, MAX_TITLE_CHARS),
        text=folded_lines(_sendable(page.text))[:MAX_TEXT_CHARS].rstrip(),
        links=tuple(
            Link(link.url, _line(link.anchor, MAX_ANCHOR_CHARS)) for link in page.links[:MAX_LINKS]
        ),
    )


def _line(text: str, limit: int) -> str:
    return folded(_sendable(text))[:limit].rstrip()


def _sendable(text: str) -> str:
    return well_formed(text).replace("\0", " ")


def _written(text: str) -> str:
    """Text with no markup in it and no character that only binary data has."""
    return _CONTROL.sub(lambda control: f"&#{ord(control[0])};", escape(text, quote=False))
