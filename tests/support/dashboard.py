"""Runs for a dashboard to show, and a browser's side of its HTTP, without a socket."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from starlette.types import ASGIApp, Message
from tests.support.models import Half

from tres.engines.protocols import Fetched
from tres.runs.open_run import OpenRun, start_run
from tres.settings.sections import AgentSection, CrawlSection, TopicSection
from tres.settings.topic_file import TopicConfig, TrainingSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.page import Failed, FailureKind
from tres.web.percept import LinkPercepts, Perceiver, Percept


def open_run(directory: Path, pages: int = 1000) -> Any:
    """A run that is being crawled until the context ends; `step` takes it on."""
    config = TopicConfig(
        name="letters",
        topic=TopicSection(keywords=("a",), seeds=("http://site0.example/0",)),
        training=TrainingSection(labels=("a",)),
        crawl=CrawlSection(pages=pages),
        agent=AgentSection(guided=0, epsilon=0.0),
    )
    return start_run(config, Perceiver(Half(), KeywordMatcher(["a"])), directory)  # type: ignore[arg-type]


def step(run: OpenRun, title: str = "A page", links: int = 4) -> str:
    """One fetch: pages of ten sites in turn, every third relevant; every seventh link is dead."""
    (url,) = run.recorded.next().urls  # type: ignore[union-attr]
    number = int(url.rsplit("/", 1)[1])
    if number % 7 == 6:
        run.recorded.receive(url, Failed(url, FailureKind.NOT_FOUND))
        return url
    targets = [number * links + place for place in range(1, links + 1)]
    urls = tuple(f"http://site{target % 10}.example/{target}" for target in targets)
    outcome = Percept(
        url,
        f"site{number % 10}.example",
        0.95 if number % 3 == 0 else 0.1,
        LinkPercepts(
            urls,
            tuple(f"site{target % 10}.example" for target in targets),
            np.zeros(links, np.bool_),
            np.zeros(links, np.bool_),
            np.zeros(links, np.float32),
            ("more",) * links,
        ),
    )
    run.recorded.receive(url, outcome, Fetched(at=12.0, seconds=0.5, title=title))
    return url


@dataclass(frozen=True, slots=True)
class Answer:
    """What an application answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


OWN = {"host": "127.0.0.1:8042"}
CHANGING = OWN | {"content-type": "application/json", "x-tres": "1"}


def get(app: ASGIApp, path: str, **headers: str) -> Answer:
    """A request for something; `_` in the name of a header is a hyphen."""
    return ask(app, "GET", path, OWN | _named(headers))


def post(app: ASGIApp, path: str, body: object, **headers: str) -> Answer:
    """A request as our own page sends it."""
    return ask(app, "POST", path, CHANGING | _named(headers), json.dumps(body).encode())


def ask(app: ASGIApp, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Answer:
    """One request, with exactly these headers."""
    path, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8042),
    }
    sent: list[Message] = []

    parts_left = [body]

    async def receive() -> Message:
        if not parts_left:
            await asyncio.Event().wait()  # the browser waits for its answer
        return {"type": "http.request", "body": parts_left.pop(), "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    start, *parts = sent
    told = {name.decode(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], told, b"".join(part.get("body", b"") for part in parts))


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
