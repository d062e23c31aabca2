"""A client for chat completions, as Ollama, vLLM, llama.cpp and providers offer them over HTTP.

One call is one POST. Whatever comes back is a value: a completion, or a refusal that says whether
another attempt may succeed and whether the call may have been paid for. The server is trusted with
the pages and with its own key, and with nothing else:

- Redirects are not followed, so the key goes to one host only.
- An answer has a largest size, and one deadline from the request to its last byte: when it
  expires, the socket is shut down, which ends any read that is under way.
- The key is cut out of all text that the server sends back, so it reaches no file and no terminal.

Servers differ in what they understand. A request that is answered with 400 or 422 is repeated
without `response_format`, then with model and messages alone; what was accepted is remembered.
"""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Event, Lock, Timer
from typing import Any

from tres.engines.politeness.retry_after import parse_retry_after
from tres.runs.teacher.endpoint import Endpoint
from tres.store.teacher_cache import Completion

Message = dict[str, str]

MOST_BYTES = 1_000_000
"""The largest answer that is read."""
MOST_CHARACTERS = 20_000
"""Characters of a completion that are kept."""
MOST_TOKENS = 2_000
"""Tokens that a completion may have: a verdict needs fifty, one after a long thought more."""
LONGEST_REASON = 300
SECRET = 8
"""Characters from which on a key is a secret; local servers take any word."""
WRONG_REQUEST, FOR_NOBODY, LATER = (400, 422), (401, 402, 403, 404, 405, 410), (408, 425, 429)
OPTIONS: tuple[dict[str, object], ...] = (
    {"temperature": 0, "max_tokens": MOST_TOKENS, "response_format": {"type": "json_object"}},
    {"temperature": 0, "max_tokens": MOST_TOKENS},
    {},
)
"""What a request asks for besides an answer; the first that a server accepts is used."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """No completion: why, and what follows from it."""

    reason: str
    again: bool = False
    """May another attempt succeed?"""
    wait: float | None = None
    """Seconds after which the server asks to be asked again."""
    counted: bool = False
    """May the call have been paid for?"""
    final: bool = False
    """Will the server refuse every other question as well?"""


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    retry_after: str | None
    location: str
    body: bytes


class ChatClient:
    """Asks one model at one endpoint; threads may share it."""

    def __init__(
        self, endpoint: Endpoint, model: str, key: str = "", timeout: float = 120.0
    ) -> None:
        self.endpoint = endpoint
        self.model = model
        self._key = key
        self._timeout = timeout
        self._options = 0
        self._tls = ssl.create_default_context() if endpoint.scheme == "https" else None
        self._reached = False
        self._open: set[socket.socket] = set()
        self._closed = False
        self._lock = Lock()

    def ask(self, messages: Sequence[Message]) -> Completion | Refusal:
        """Make one call."""
        number = self._options
        response = self._exchange(messages, OPTIONS[number])
        while _not_understood(response) and number + 1 < len(OPTIONS):
            number += 1
            response = self._exchange(messages, OPTIONS[number])
        if isinstance(response, Refusal):
            return response
        if response.status != 200:
            return self._refusal(response)
        self._options = max(self._options, number)
        return self._completion(response.body)

    def close(self) -> None:
        """End all calls that are under way, and those to come."""
        with self._lock:
            self._closed = True
            for each in self._open:
                _shut_down(each)

    def _exchange(
        self, messages: Sequence[Message], options: dict[str, object]
    ) -> _Response | Refusal:
        """Make one request."""
        body = {"model": self.model, "messages": list(messages), "stream": False, **options}
        connection = self._connection()
        try:
            connection.connect()
        except OSError as problem:
            why = f"no connection ({problem.strerror or problem})"
            return Refusal(why, again=self._reached, final=not self._reached)
        self._reached = True
        late = Refusal(f"no answer in {self._timeout:g} s", again=True, counted=True)
        with self._deadline(connection.sock) as expired:
            try:
                sent = json.dumps(body).encode()
                connection.request("POST", self.endpoint.target, sent, self._headers())
                response = _read(connection.getresponse())
            except TimeoutError:
                return late
            except (OSError, HTTPException) as problem:
                why = f"the answer broke off ({type(problem).__name__})"
                response = Refusal(why, again=True, counted=True)
            finally:
                connection.close()
        return late if expired.is_set() else response

    def _connection(self) -> HTTPConnection:
        host, port = self.endpoint.host, self.endpoint.port
        if self._tls is None:
            return HTTPConnection(host, port, timeout=self._timeout)
        return HTTPSConnection(host, port, timeout=self._timeout, context=self._tls)

    @contextmanager
    def _deadline(self, opened: socket.socket) -> Iterator[Event]:
        """Shut a socket down when the time is over or the client is closed."""
        expired = Event()

        def expire() -> None:
            expired.set()
            _shut_down(opened)

        timer = Timer(self._timeout, expire)
        timer.daemon = True
        with self._lock:
            self._open.add(opened)
            if self._closed:
                _shut_down(opened)
        timer.start()
        try:
            yield expired
        finally:
            timer.cancel()
            with self._lock:
                self._open.discard(opened)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return headers | ({"Authorization": f"Bearer {self._key}"} if self._key else {})

    def _completion(self, body: bytes) -> Completion | Refusal:
        try:
            answer = json.loads(body)
            text = answer["choices"][0]["message"]["content"]
        except (ValueError, KeyError, IndexError, TypeError, RecursionError):
            return Refusal("the answer is no chat completion", again=True, counted=True)
        said = self._without_key(text)[:MOST_CHARACTERS] if isinstance(text, str) else ""
        usage = answer.get("usage")
        return Completion(said, _tokens(usage, "prompt"), _tokens(usage, "completion"))

    def _refusal(self, response: _Response) -> Refusal:
        status = response.status
        if 300 <= status < 400:
            to = self._without_key(response.location)[:LONGEST_REASON] or "nowhere"
            return Refusal(f"it redirects to {to}; name the right address by --ask", final=True)
        said = self._without_key(_error_message(response.body))
        reason = f"HTTP {status}" + (f": {said[:LONGEST_REASON]}" if said else "")
        if status in LATER or status >= 500:
            header = response.retry_after
            wait = parse_retry_after(header.encode() if header else None, time.time())
            return Refusal(reason, again=True, wait=wait)
        return Refusal(reason, final=status in FOR_NOBODY)

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "[key]") if len(self._key) >= SECRET else text


def _read(response: HTTPResponse) -> _Response | Refusal:
    body = response.read(MOST_BYTES + 1)
    if len(body) > MOST_BYTES:
        return Refusal(f"the answer has more than {MOST_BYTES:,} bytes", counted=True)
    return _Response(
        response.status,
        response.getheader("Retry-After"),
        response.getheader("Location") or "",
        body,
    )


def _not_understood(response: _Response | Refusal) -> bool:
    return isinstance(response, _Response) and response.status in WRONG_REQUEST


def _error_message(body: bytes) -> str:
    """Return what a server says about an error: as the protocol has it, or its text."""
    try:
        error: Any = json.loads(body)
        error = error.get("error", error.get("message", ""))
        error = error.get("message", "") if isinstance(error, dict) else error
    except (ValueError, AttributeError, RecursionError):
        error = body.decode(errors="replace")
    return " ".join(error.split()) if isinstance(error, str) else ""


def _tokens(usage: Any, kind: str) -> int | None:
    count = usage.get(f"{kind}_tokens") if isinstance(usage, dict) else None
    return count if type(count) is int and 0 <= count < 1_000_000_000 else None


def _shut_down(opened: socket.socket) -> None:
    """End all reads of a socket, in whatever thread; without TLS's own farewell."""
    with suppress(OSError):
        socket.socket.shutdown(opened, socket.SHUT_RDWR)
