"""The frame of a page that loads nothing: head, style, script, content security policy.

The policy forbids everything but this style and this script, which it names by their hashes.
Should anything from the Web get past the escaping, a browser would still not run it, load anything
or send anything.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources

from tres import __version__
from tres.report.charts import STYLE
from tres.report.safe_html import Markup, element, joined


def document(title: str, intro: Markup, sections: dict[str, Markup], data: Markup | None) -> str:
    """Return a whole page: an introduction, and sections by their headings.

    `data` is what the script works on; without data there is no script.
    """
    style = Markup(f"{STYLE}{_file('page.css')}")
    script = None if data is None else Markup(_file("page.js"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", style),
    )
    body = element(
        "body",
        element("header", element("h1", title), intro, _contents(sections)),
        element("main", *(_section(name, inside) for name, inside in sections.items())),
        element("footer", element("small", f"Made by tres {__version__}.")),
        data,
        None if script is None else element("script", script),
    )
    return f"<!doctype html>{element('html', head, body, lang='en')}"


def _contents(sections: dict[str, Markup]) -> Markup:
    links = [element("li", element("a", name, href=f"#{_anchor(name)}")) for name in sections]
    return element("nav", element("ul", *links), aria_label="Contents")


def _section(name: str, inside: Markup) -> Markup:
    anchor = _anchor(name)
    heading = element("h2", name, id=anchor)
    return element("section", heading, inside, aria_labelledby=anchor)


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _policy(style: str, script: str | None) -> str:
    allowed = "'none'" if script is None else _hash(script)
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {allowed}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _file(name: str) -> str:
    return (resources.files("tres.report") / name).read_text(encoding="utf-8")


def table(caption: str, head: list[str], rows: list[list[str]]) -> Markup:
    """Return a table; the first column names the row, plain text in the others is a number."""
    kinds = [None, *(None if isinstance(cell, Markup) else "n" for cell in rows[0][1:])]
    heads = [
        element("th", name, scope="col", class_=kind)
        for name, kind in zip(head, kinds, strict=True)
    ]
    body = [_row(row, kinds) for row in rows]
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", element("tr", *heads)),
            element("tbody", *body),
        ),
        class_="wide",
    )


def _row(row: list[str], kinds: list[str | None]) -> Markup:
    first, *others = row
    cells = [element("td", cell, class_=kind) for cell, kind in zip(others, kinds[1:], strict=True)]
    return element("tr", element("th", first, scope="row"), *cells)


def paragraphs(*texts: str) -> Markup:
    """Return texts as paragraphs."""
    return joined(*(element("p", text) for text in texts))
