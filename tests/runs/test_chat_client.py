"""The client for chat completions, against a server that speaks the protocol, or fails to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.support.certificates import self_signed_certificate
from tests.support.chat_server import ChatServer, Question, chatting, completion, error
from tests.support.http_server import drip, response, serving

from tres.errors import ConfigError
from tres.runs.teacher.chat_client import MOST_BYTES, MOST_TOKENS, ChatClient, Refusal
from tres.runs.teacher.endpoint import Endpoint, key_for
from tres.store.teacher_cache import Completion

KEY = "sk-a-very-secret-key"
ASK = [{"role": "system", "content": "judge"}, {"role": "user", "content": "a page"}]


def client(chat: ChatServer, key: str = KEY, timeout: float = 30.0) -> ChatClient:
    return ChatClient(Endpoint.parse(chat.url), "tiny", key, timeout)


def test_a_call_sends_the_messages_and_returns_text_and_tokens() -> None:
    with chatting(lambda question: "hello") as chat:
        assert client(chat).ask(ASK) == Completion("hello", 100, 10)
    (asked,) = chat.questions
    assert asked.sent == {
        "model": "tiny",
        "messages": ASK,
        "stream": False,
        "temperature": 0,
        "max_tokens": MOST_TOKENS,
        "response_format": {"type": "json_object"},
    }
    assert asked.request.headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_no_header_is_sent() -> None:
    with chatting(lambda question: "hello") as chat:
        client(chat, key="").ask(ASK)
    assert "Authorization" not in chat.questions[0].request.headers


@pytest.mark.parametrize("usage", [None, [], {}, {"prompt_tokens": -1, "completion_tokens": "ten"}])
def test_tokens_that_are_not_counted_are_not_invented(usage: object) -> None:
    with chatting(lambda question: completion("hello", usage)) as chat:
        assert client(chat).ask(ASK) == Completion("hello", None, None)


@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable Entity"])
def test_a_server_that_knows_no_response_format_is_asked_without_from_then_on(status: str) -> None:
    def judge(question: Question) -> str | bytes:
        return error(status) if "response_format" in question.sent else "hello"

    with chatting(judge) as chat:
        asking = client(chat)
        assert [asking.ask(ASK), asking.ask(ASK)] == [Completion("hello", 100, 10)] * 2
    assert ["response_format" in each.sent for each in chat.questions] == [True, False, False]
    assert all(each.sent["temperature"] == 0 for each in chat.questions)


def test_a_server_that_takes_no_options_at_all_is_asked_without_any() -> None:
    with chatting(lambda q: error("400 No") if "temperature" in q.sent else "hello") as chat:
        assert isinstance(client(chat).ask(ASK), Completion)
    assert chat.questions[-1].sent == {"model": "tiny", "messages": ASK, "stream": False}


def test_a_question_that_the_server_does_not_take_in_any_form_says_why() -> None:
    with chatting(lambda question: error("400 Bad Request", "context too long")) as chat:
        asking = client(chat)
        assert asking.ask(ASK) == Refusal("HTTP 400: context too long")
        chat.judge = lambda question: "hello"
        asking.ask(ASK)
    assert "response_format" in chat.questions[-1].sent  # the page was at fault, not the format


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "404 Not Found"])
def test_what_no_other_question_would_change_is_final(status: str) -> None:
    with chatting(lambda question: error(status, "no")) as chat:
        refusal = client(chat).ask(ASK)
    assert refusal == Refusal(f"HTTP {status[:3]}: no", final=True)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [({}, None), ({"Retry_After": "7"}, 7.0), ({"Retry_After": "soon"}, None)],
)
@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Unavailable", "500 Oops"])
def test_a_busy_server_may_say_when_to_come_back(
    status: str, headers: dict[str, str], wait: float | None
) -> None:
    with chatting(lambda question: error(status, "busy", **headers)) as chat:
        refusal = client(chat).ask(ASK)
    assert refusal == Refusal(f"HTTP {status[:3]}: busy", again=True, wait=wait)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"{", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{}]}', b"[" * 100_000],
)
def test_what_is_no_completion_may_have_been_paid_for(body: bytes) -> None:
    with chatting(lambda question: response(body)) as chat:
        refusal = client(chat).ask(ASK)
    assert refusal == Refusal("the answer is no chat completion", again=True, counted=True)


@pytest.mark.parametrize("content", [None, 7, ["a"], {"text": "a"}])
def test_content_that_is_not_text_is_an_empty_answer(content: object) -> None:
    body = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
    with chatting(lambda question: response(body)) as chat:
        assert client(chat).ask(ASK) == Completion("")


def test_a_redirect_is_not_followed_and_the_key_stays_with_its_host() -> None:
    with serving(lambda request: completion("hello")) as other:
        to = other.url("/v1/chat/completions", "localhost")
        with chatting(lambda question: response(b"", "307 Moved", Location=to)) as chat:
            refusal = client(chat).ask(ASK)
    assert isinstance(refusal, Refusal)
    assert refusal.final
    assert refusal.reason == f"it redirects to {to}; name the right address by --ask"
    assert other.requests == []


def endless(head: bytes = b"") -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + head
    yield from drip(b" " * 65536)


def test_an_endless_answer_is_cut_off() -> None:
    with chatting(lambda question: endless()) as chat:
        refusal = client(chat).ask(ASK)
    assert refusal == Refusal(f"the answer has more than {MOST_BYTES:,} bytes", counted=True)


@pytest.mark.parametrize(
    "begins",
    [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"],
    ids=["silence", "in the head", "in the body"],
)
def test_an_answer_that_does_not_end_in_time_is_given_up(begins: bytes) -> None:
    over = Event()

    def slow(question: Question) -> Iterator[bytes]:
        yield begins
        over.wait()

    with chatting(slow) as chat:
        refusal = client(chat, timeout=0.2).ask(ASK)
        over.set()
    assert refusal == Refusal("no answer in 0.2 s", again=True, counted=True)


def test_a_drip_of_bytes_does_not_extend_the_time() -> None:
    with chatting(lambda question: drip(b"HTTP/1.1 100 Continue\r\n\r\n", 0.01)) as chat:
        refusal = client(chat, timeout=0.3).ask(ASK)
    assert refusal == Refusal("no answer in 0.3 s", again=True, counted=True)


def test_a_connection_that_breaks_may_have_been_paid_for() -> None:
    with chatting(lambda question: []) as chat:
        refusal = client(chat).ask(ASK)
    assert isinstance(refusal, Refusal)
    assert refusal.again
    assert refusal.counted


def test_where_nothing_listens_the_first_attempt_is_the_last() -> None:
    with chatting() as chat:
        asking, other = client(chat), client(chat)
        other.ask(ASK)
    refusal, later = asking.ask(ASK), other.ask(ASK)
    assert isinstance(refusal, Refusal)
    assert refusal.reason.startswith("no connection (")
    assert (refusal.final, refusal.counted) == (True, False)
    assert isinstance(later, Refusal)
    assert (later.final, later.again) == (False, True)  # it was there a moment ago


def test_certificates_are_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tls, file = self_signed_certificate(tmp_path)
    with serving(lambda request: completion("hello"), tls=tls) as server:
        endpoint = Endpoint.parse(server.url("/v1").replace("http:", "https:"))
        refusal = ChatClient(endpoint, "tiny", KEY).ask(ASK)
        assert server.requests == []  # so the key was not sent
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        assert ChatClient(endpoint, "tiny", KEY).ask(ASK) == Completion("hello", 100, 10)
    assert isinstance(refusal, Refusal)
    assert "certificate verify failed" in refusal.reason


def test_closing_ends_calls_that_are_under_way() -> None:
    asked, over = Event(), Event()

    def silent(question: Question) -> Iterator[bytes]:
        asked.set()
        over.wait()
        yield b""

    with chatting(silent) as chat:
        asking = client(chat)
        replies: list[Completion | Refusal] = []
        caller = Thread(target=lambda: replies.append(asking.ask(ASK)))
        caller.start()
        assert asked.wait(30)
        asking.close()
        caller.join(30)
        over.set()
    (reply,) = replies
    assert isinstance(reply, Refusal)


@pytest.mark.parametrize(
    "judge",
    [
        lambda q: f"your key is {KEY}",
        lambda q: error("401 Unauthorized", f"wrong key {KEY}"),
        lambda q: response(f"{'x' * 290} {KEY}".encode(), "500 Oops"),
        lambda q: response(b"", "302 Found", Location=f"http://evil.example/?{KEY}"),
    ],
)
def test_a_key_that_the_server_repeats_is_cut_out(judge: object) -> None:
    with chatting(judge) as chat:  # type: ignore[arg-type]
        asking = client(chat)
        reply = asking.ask(ASK)
    assert KEY not in repr(reply)
    assert "sk-a" not in repr(reply)
    assert KEY not in repr(vars(asking).keys())


@pytest.mark.parametrize(
    ("written", "whole"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:11434/", "http://localhost:11434/v1/chat/completions"),
        ("http://localhost:11434/v1/", "http://localhost:11434/v1/chat/completions"),
        ("https://a.example/v1/chat/completions", "https://a.example/v1/chat/completions"),
        ("https://a.example/openai?key=abc", "https://a.example/openai/chat/completions"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
    ],
)
def test_an_address_may_be_written_in_short(written: str, whole: str) -> None:
    assert str(Endpoint.parse(written)) == whole


def test_a_query_is_sent_but_not_shown() -> None:
    endpoint = Endpoint.parse("https://a.example/v1?api-version=2")
    assert endpoint.target == "/v1/chat/completions?api-version=2"
    assert "api-version" not in str(endpoint)


@pytest.mark.parametrize(
    "written", ["", "localhost:11434", "file:///etc/passwd", "ftp://a.example/", "http://u:pass@h/"]
)
def test_other_addresses_are_refused_without_repeating_them(written: str) -> None:
    with pytest.raises(ConfigError, match="--ask must be an http or https address") as refused:
        Endpoint.parse(written)
    assert "pass@" not in str(refused.value)


@pytest.mark.parametrize(
    ("written", "variable", "key"),
    [
        ("https://a.example/v1", None, "usual"),
        ("http://localhost:1/v1", None, "usual"),
        ("http://127.0.0.2:1/v1", None, "usual"),
        ("http://192.168.0.7/v1", None, ""),
        ("http://a.example/v1", None, ""),
        ("http://a.example/v1", "MINE", "own"),
    ],
)
def test_the_usual_key_never_goes_over_the_network_in_the_clear(
    written: str, variable: str | None, key: str
) -> None:
    environment = {"OPENAI_API_KEY": "usual\n", "MINE": "own"}
    assert key_for(Endpoint.parse(written), variable, environment) == key


def test_a_variable_that_is_named_must_be_set_and_the_usual_one_need_not() -> None:
    endpoint = Endpoint.parse("https://a.example/")
    assert key_for(endpoint, None, {}) == ""
    with pytest.raises(ConfigError, match="MINE is not set"):
        key_for(endpoint, "MINE", {"MINE": " "})


def test_a_key_that_breaks_a_header_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError) as refused:
        key_for(Endpoint.parse("https://a.example/"), None, {"OPENAI_API_KEY": "abc\r\nX: y"})
    assert "abc" not in str(refused.value)
