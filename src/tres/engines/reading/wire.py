"""How pages go to the reader's process and readings come back.

A message is four bytes of length and that many bytes. A page is a line of JSON and its body; a
reading is JSON. The process that reads pages of strangers may have been taken over by one of
them, so its readings are data and nothing more: whatever does not look exactly like a reading
raises `ValueError`. Numbers survive unchanged, to the last bit.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np

from tres.engines.reading.page_reader import Reading, Received
from tres.web.near_duplicates import BITS
from tres.web.page import Failed, FailureKind, Link, Page
from tres.web.parse import MAX_LINKS, MAX_TEXT_CHARS, MAX_TITLE_CHARS
from tres.web.percept import MAX_ANCHOR_CHARS, LinkPercepts, Percept
from tres.web.sitemap import MAX_URLS
from tres.web.url import canonical, host_of

LENGTH_BYTES = 4
MAX_MESSAGE = 1 << 26


def framed(message: bytes) -> bytes:
    """A message with its length in front."""
    return len(message).to_bytes(LENGTH_BYTES, "big") + message


def length_of(prefix: bytes) -> int:
    """The length of the message that follows."""
    length = int.from_bytes(prefix, "big")
    if length > MAX_MESSAGE:
        raise ValueError("a message is too long")
    return length


def page_message(received: Received) -> bytes:
    """A response on its way to the reader."""
    about = [received.url, received.status, received.content_type]
    head = [*about, received.sitemap, received.encodings]
    return json.dumps(head).encode() + b"\n" + received.body


def received_page(message: bytes) -> Received:
    """The response in a message."""
    head, _, body = message.partition(b"\n")
    url, status, content_type, sitemap, encodings = json.loads(head)
    return Received(url, status, content_type, body, tuple(sitemap), tuple(encodings))


def reading_message(reading: Reading) -> bytes:
    """A reading on its way back."""
    outcome = reading.outcome
    notes = {
        "title": reading.title,
        "fingerprint": reading.fingerprint,
        "text_chars": reading.text_chars,
        "refresh": reading.refresh,
        "dropped": dict(reading.dropped),
        "note": reading.note,
        "size": reading.size,
    }
    if isinstance(outcome, Failed):
        return json.dumps({"failed": asdict(outcome), **notes}).encode()
    if isinstance(outcome, Page):
        return json.dumps({"unjudged": unjudged(outcome), **notes}).encode()
    links = outcome.links
    columns = {
        "urls": links.urls,
        "sites": links.sites,
        "url_keyword": links.url_keyword.tolist(),
        "anchor_keyword": links.anchor_keyword.tolist(),
        "anchor_relevance": links.anchor_relevance.tolist(),
        "anchors": links.anchors,
    }
    page = [outcome.url, outcome.site, outcome.relevance, outcome.language]
    return json.dumps({"page": page, "links": columns, **notes}).encode()


def checked_reading(message: bytes) -> Reading:
    """The reading in a message from a process that nobody trusts."""
    try:
        answer = json.loads(message)
        return Reading(
            _outcome(answer),
            _text(answer["title"], MAX_TITLE_CHARS),
            _fingerprint(answer["fingerprint"]),
            _whole(answer["text_chars"], 0, MAX_TEXT_CHARS),
            None if answer["refresh"] is None else _url(answer["refresh"]),
            {_text(name, 40): _whole(count, 0) for name, count in answer["dropped"].items()},
            _text(answer["note"], 500),
            _whole(answer["size"], 0),
        )
    except (KeyError, TypeError, AttributeError, RecursionError, UnicodeError) as problem:
        raise ValueError(f"no reading: {type(problem).__name__}") from None


def _fingerprint(answer: Any) -> int | None:
    return None if answer is None else _whole(answer, 0, (1 << BITS) - 1)


def unjudged(page: Page) -> list[Any]:
    """A page that nobody has judged, in values that JSON knows."""
    return [page.url, page.title, page.text, [[link.url, link.anchor] for link in page.links]]


def checked_page(answer: Any) -> Page:
    """The page in what `unjudged` gave, from somebody whom nobody trusts."""
    url, title, text, links = answer
    _demand(isinstance(links, list) and len(links) <= MAX_LINKS + MAX_URLS)
    found = tuple(Link(_url(target), _text(anchor, MAX_ANCHOR_CHARS)) for target, anchor in links)
    return Page(_url(url), _text(title, MAX_TITLE_CHARS), _text(text, MAX_TEXT_CHARS), found)


def _outcome(answer: Any) -> Percept | Page | Failed:
    if "failed" in answer:
        return checked_failure(answer["failed"])
    return checked_page(answer["unjudged"]) if "unjudged" in answer else _percept(answer)


def checked_failure(answer: Any) -> Failed:
    """A failure, as `asdict` gave it."""
    retryable = answer["retryable"]
    _demand(isinstance(retryable, bool))
    return Failed(_text(answer["url"], MAX_MESSAGE), FailureKind(answer["kind"]), retryable)


def _percept(answer: Any) -> Percept:
    url, site, relevance, language = answer["page"]
    links = _links(answer["links"])
    return Percept(_url(url), _site(site, url), _share(relevance), links, _text(language, 3))


def _links(columns: Any) -> LinkPercepts:
    urls = tuple(map(_url, columns["urls"]))
    size = len(urls)
    _demand(size <= MAX_LINKS + MAX_URLS and len(set(urls)) == size)
    _demand(all(isinstance(column, list) and len(column) == size for column in columns.values()))
    flags = columns["url_keyword"] + columns["anchor_keyword"]
    _demand(all(isinstance(flag, bool) for flag in flags))
    return LinkPercepts(
        urls,
        tuple(map(_site, columns["sites"], urls)),
        np.array(flags[:size], np.bool_),
        np.array(flags[size:], np.bool_),
        np.array(list(map(_share, columns["anchor_relevance"])), np.float32),
        tuple(_text(anchor, MAX_ANCHOR_CHARS) for anchor in columns["anchors"]),
    )


def _demand(holds: bool) -> None:
    if not holds:
        raise ValueError("no reading: a value is not what it should be")


def _text(value: Any, most: int) -> str:
    _demand(isinstance(value, str) and len(value) <= most)
    value.encode()  # half of a surrogate pair is a UnicodeError
    return str(value)


def _url(value: Any) -> str:
    _demand(isinstance(value, str) and canonical(value) == value)
    return str(value)


def _site(value: Any, url: str) -> str:
    _demand(isinstance(value, str) and value != "" and host_of(url).endswith(value))
    return str(value)


def _share(value: Any) -> float:
    _demand(isinstance(value, float) and isfinite(value) and 0.0 <= value <= 1.0)
    return float(value)


def _whole(value: Any, least: int, most: int = (1 << 63) - 1) -> int:
    _demand(isinstance(value, int) and not isinstance(value, bool) and least <= value <= most)
    return int(value)
