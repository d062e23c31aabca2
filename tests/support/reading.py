"""A small reader, and factories for processes that read pages, well and badly."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from tres.engines.reading.page_reader import PageReader, Reading, Received
from tres.errors import ModelError
from tres.relevance.tfidf import TfidfModel
from tres.settings.sections import LiveSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.percept import Perceiver

URL = "http://example.org/page"
ENGLISH = "The cell is the unit of life and this is what the book of biology was about. " * 3
GERMAN = "Die Zelle ist die kleinste Einheit und das ist nicht das Ende der Biologie. " * 3
ENGLISH, GERMAN = ENGLISH.strip(), GERMAN.strip()


def html(title: str, text: str, more: str = "", charset: str = "utf-8") -> bytes:
    """A page of one paragraph and some markup after it."""
    return f"<html><title>{title}</title><p>{text} {more}".encode(charset)


def received(body: bytes, content_type: str = "text/html") -> Received:
    return Received(URL, 200, content_type, body)


def model() -> TfidfModel:
    """A model that knows a few words of biology."""
    known = {"biology": 2.0, "cell": 1.0, "life": 0.3, "bank": -1.5, "loan": -0.7}
    places = {word: place for place, word in enumerate(known)}
    weights = np.array(list(known.values()), np.float32)
    return TfidfModel(places, np.ones(len(known), np.float32), weights, -0.1, 0.4, {})


def reader(kind: type[PageReader] = PageReader, **live: object) -> PageReader:
    """A reader for that model."""
    perceiver = Perceiver(model(), KeywordMatcher(["biology"]))
    return kind(perceiver, LiveSection(**live), year=2026)  # type: ignore[arg-type]


class BadReader(PageReader):
    """Does with a page what the page says."""

    def read(self, received: Received) -> Reading:
        match received.body.partition(b" ")[0]:
            case b"sleep":
                time.sleep(600)
            case b"spin":
                while True:
                    pass
            case b"wait":
                go = Path(received.body.split()[1].decode())
                go.with_suffix(".reached").touch()
                while not go.exists():
                    time.sleep(0.01)
            case b"crash":
                os.abort()
            case b"memory":
                bytearray(1 << 30)
            case b"bug":
                raise RuntimeError("of the reader")
            case b"babble":
                os.write(3, b"\xff" * 100)
            case b"print":
                print("to standard output", flush=True)
            case b"lie":
                return Reading(super().read(received).outcome, title="\ud800")
        return super().read(received)


def bad_reader() -> PageReader:
    """For a process that must be looked after."""
    return reader(BadReader)


def killed_reader(mark: str) -> PageReader:
    """A process that somebody kills when it starts first."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return bad_reader()


def babbling_reader(mark: str) -> PageReader:
    """A process that says something else than that it is ready when it starts first."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.write(3, b"\xff" * 8)
    return bad_reader()


def no_reader() -> PageReader:
    """What a process is told to make whose model is missing."""
    raise ModelError("there is no model")
