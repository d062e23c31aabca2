"""Flat HTML, so that no page can make the parser slow.

A crawler reads words and links. It needs the *tokens* of HTML (tags, attributes, entities and
comments, whose subtle rules are left to a real parser), but not the *tree*, which is what costs:
the standard's tree construction looks through the open elements for nearly every tag, so it is
quadratic in the depth. A hundred thousand nested `<div>`, half a megabyte, kept a good parser busy
for 20 seconds.

So every tag that carries neither words nor links is renamed, before the parser
sees it, to `wbr`: an element without content or end tag. What remains is a list of
text, links and pictures, never more than a few levels deep. Three rules keep the text right:

- a tag that makes browsers start a new line becomes a line feed and `wbr`, and all
  line feeds of the source become tabs first: a line feed in the parsed text is
  then a boundary between blocks, and the words of two table cells never glue. (To a
  browser tabs and line feeds are the same, in text and, where it drops both, in URLs.)
- an inline tag becomes `wbr` alone: `H<sub>2</sub>O` stays one word;
- a tag whose content is invisible becomes `style`, which the parser reads as raw
  text and which is removed as a whole.

A tag inside a title, a form field or a frame is text to a browser. In a title it is escaped;
the content of a field or a frame is dropped. A frame itself is kept as `embed`, which is empty
and has an address too. Comments and scripts may contain such tags, which open nothing there, so
these are recognised first.

Some elements matter as *regions*: menus, headers and footers are not text of the page
(`tres.web.boilerplate`). As there is no tree to find them in, their tags leave marks in
the text: one character for each kind of opening and closing tag. The marks are
noncharacters, which Unicode reserves for internal use; those in a source, raw or as
references, become U+FFFD first, so that no page can forge one.

The parser compares each attribute of a tag with all others, which is quadratic
again: `too_many_attributes` finds such tags in one linear pass, with possessive
regular expressions that follow the standard's tokenizer. It is a guard, not a proof:
it reads scripts and comments more simply than the parser does, so markup made to
mislead it could still hide such a tag.
"""

from __future__ import annotations

import re

MAX_ATTRIBUTES = 2_000

REGIONS = """
    nav header footer aside button datalist select textarea article main h1
""".split()
OPENING = {name: chr(0xFDD0 + 2 * place) for place, name in enumerate(REGIONS)}
CLOSING = {name: chr(0xFDD1 + 2 * place) for place, name in enumerate(REGIONS)}
_ALL_MARKS = (*OPENING.values(), *CLOSING.values())
_REFERENCE = re.compile(
    "&#(?:[xX]0*+[fF][dD][dDeE][0-9a-fA-F](?![0-9a-fA-F])"
    "|0*+(?:6497[6-9]|649[89][0-9]|6500[0-7])(?![0-9]))"
)
_MARKS = re.compile(f"[{min(_ALL_MARKS)}-{max(_ALL_MARKS)}]+")

FRAME = "embed"
"""The element that stands for frames in flat markup."""

_KEPT = ("a", "area", "base", "img", "link", "meta", "script", "style", "title")
_UNSEEN = ("math", "noscript", "svg", "template")
_INLINE = """
    abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q ruby s
    samp small span strike strong sub sup time tt u var wbr
""".split()

# The name ends before a `-->`, which inside a comment is the comment's end. The new name
# ends with a blank, so that outside of comments `-->` does not become part of it.
_TAG = re.compile(r"</?[a-zA-Z][^\t\n\f\r />-]*(?:-(?!-!?>)[^\t\n\f\r />-]*)*")
_NEW_NAME = (
    {mark + name: f"{mark}{name} " for name in _KEPT for mark in ("<", "</")}
    | {mark + name: f"{mark}style " for name in _UNSEEN for mark in ("<", "</")}
    | {"<" + name: f"\n<{FRAME} " for name in ("frame", "iframe")}
    | {mark + name: "<wbr " for name in _INLINE for mark in ("<", "</")}
    | {"<" + name: f"\n{mark}<wbr " for name, mark in OPENING.items()}
    | {"</" + name: f"\n{mark}<wbr " for name, mark in CLOSING.items()}
)


def flatten_html(html: str) -> str:
    r"""Return the same words and links without nesting; line feeds separate blocks.

    >>> flatten_html("<ul><li>one<li><b>t</b>wo</ul>")
    '\n<wbr >\n<wbr >one\n<wbr ><wbr >t<wbr >wo\n<wbr >'
    """
    one_line = _unforged(html).replace("\n", "\t").replace("\r", "\t")
    return _TAG.sub(_renamed, _RAW.sub(_without_tags, one_line))


def _without_tags(piece: re.Match[str]) -> str:
    if not (name := piece["raw"]):
        return piece[0]  # a comment or code
    content = piece["content"].replace("<", "&lt;") if name.lower() == "title" else ""
    return f"<{name}{piece['attributes']}{content}"


def _unforged(html: str) -> str:
    """Replace marks in a source; two plain searches show that most have none."""
    if any(map(html.__contains__, _ALL_MARKS)):
        html = _MARKS.sub("\ufffd", html)
    return _REFERENCE.sub("\ufffd", html) if "&#" in html else html


def strip_marks(text: str) -> str:
    """Return text without the marks of regions, which also occur in titles and attributes."""
    return text if text.isascii() else _MARKS.sub("", text)


def _renamed(tag: re.Match[str]) -> str:
    return _NEW_NAME.get(tag[0].lower(), "\n<wbr ")


_S = r"[\t\n\f\r ]"
_NAME = r"[^\t\n\f\r />]"
_ATTRIBUTE = (
    rf"[\t\n\f\r /]*+{_NAME}[^\t\n\f\r />=]*+"
    rf"""(?:{_S}*+={_S}*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >"'][^\t\n\f\r >]*+)?+)?+"""
)
_REST_OF_TAG = rf"(?:{_ATTRIBUTE}){{0,{MAX_ATTRIBUTES}}}+[\t\n\f\r /]*+(?:>|\Z)"
_HARMLESS = re.compile(
    r"(?:[^<]++|<(?![a-zA-Z/!])|</(?![a-zA-Z])|<!(?!--)|<!--(?=-?>)"  # no tag opens here
    r"|<!--(?:[^-]++|-(?!->))*+"
    rf"|<(?i:script|style)(?!{_NAME}){_REST_OF_TAG}(?:[^<]++|<(?!/(?i:script|style)))*+"
    rf"|</?[a-zA-Z]{_NAME}*+{_REST_OF_TAG})*+"
)


_END = r"(?=[\t\n\f\r />])"
_RAW = re.compile(
    r"<(?=[!sStTiI])(?:"
    r"!--(?!-?>)(?:[^-]++|-(?!-!?>))*+"
    rf"|(?i:(?P<code>script|style){_END}(?:[^<]++|<(?!/(?P=code){_END}))*+)"
    rf"|(?i:(?P<raw>title|textarea|iframe){_END}(?P<attributes>{_REST_OF_TAG})"
    rf"(?P<content>(?:[^<]++|<(?!/(?P=raw){_END}))*+)))"
)


def too_many_attributes(html: str) -> bool:
    """Return whether a tag has more than `MAX_ATTRIBUTES` attributes."""
    return _HARMLESS.fullmatch(html) is None
