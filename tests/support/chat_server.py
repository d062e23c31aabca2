"""A server that speaks the protocol of chat completions, on loopback.

It judges as told: `judge` gets the question about a page and returns the text of the answer, or a
whole response or pieces of one, as a server in trouble would send them. By default a page is
relevant if its text has the word "honey". All questions are kept, in the order of their arrival.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.http_server import Request, Server, response, serving

PATH = "/v1/chat/completions"


@dataclass(frozen=True)
class Question:
    """One call: what was asked, and with which options."""

    sent: dict[str, Any]
    request: Request

    @property
    def prompt(self) -> str:
        """What the user said first."""
        return str(self.sent["messages"][1]["content"])

    @property
    def page(self) -> dict[str, str]:
        """The page that it is about."""
        page: dict[str, str] = json.loads(self.prompt.rpartition("\n")[2])
        return page

    @property
    def is_reminder(self) -> bool:
        return len(self.sent["messages"]) > 2


Judge = Callable[[Question], str | bytes | Iterable[bytes]]


def honey(question: Question) -> str:
    relevant = "honey" in question.page["text"]
    return json.dumps({"relevant": relevant, "reason": f"honey: {relevant}"})


def completion(text: str, usage: Any = ...) -> bytes:
    """A whole response with this answer."""
    counts = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    answer = {"object": "chat.completion", "choices": [{"message": {"content": text}}]}
    answer["usage"] = counts if usage is ... else usage
    return response(json.dumps(answer).encode(), Content_Type="application/json")


def error(status: str, message: str = "", **headers: str) -> bytes:
    """A whole response that says what is wrong."""
    said = json.dumps({"error": {"message": message}}).encode()
    return response(said, status, Content_Type="application/json", **headers)


@dataclass
class ChatServer:
    """The server and what it was asked."""

    judge: Judge
    questions: list[Question] = field(default_factory=list)
    server: Server = field(init=False)

    @property
    def url(self) -> str:
        """The address as people write it."""
        return self.server.url("/v1")

    @property
    def pages(self) -> list[str]:
        """The URLs that it was asked about, in order."""
        return [question.page["url"] for question in self.questions]

    def answer(self, request: Request) -> bytes | Iterable[bytes]:
        if request.method != "POST" or request.path.partition("?")[0] != PATH:
            return error("404 Not Found", f"no {request.path} here")
        question = Question(json.loads(request.body), request)
        self.questions.append(question)
        said = self.judge(question)
        return completion(said) if isinstance(said, str) else said


@contextmanager
def chatting(judge: Judge = honey) -> Iterator[ChatServer]:
    """Serve while the test runs."""
    chat = ChatServer(judge)
    with serving(chat.answer) as chat.server:
        yield chat
