"""Asking about many pages: in order, within the budget, each question once, as patient as asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Event, Lock

import pytest
from tests.support.bees import bees_config
from tests.support.chat_server import ChatServer, Judge, Question, chatting, error, honey
from tests.support.http_server import response

from tres.errors import RunError, TeacherError
from tres.runs.teacher import teacher as module
from tres.runs.teacher.chat_client import ChatClient, Message
from tres.runs.teacher.endpoint import Endpoint
from tres.runs.teacher.question import Verdict, question
from tres.runs.teacher.teacher import Answer, Clock, NoVerdict, Spent, Teacher
from tres.store.teacher_cache import TEACHER, TeacherCache
from tres.web.page import Page

UNREADABLE = NoVerdict("its answer has no verdict", unreadable=True)


class Watch(Clock):
    """A clock on which pauses take no time, and that remembers them."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0
        self.pauses: list[float] = []
        self._lock = Lock()

    def now(self) -> float:
        return self.time

    def wait(self, seconds: float) -> None:
        with self._lock:
            self.pauses.append(seconds)
            self.time += seconds


def ask(
    chat: ChatServer,
    directory: Path,
    pages: int,
    calls: int = 100,
    parallel: int = 1,
    clock: Clock | None = None,
    timeout: float = 30.0,
) -> tuple[list[Answer], Spent]:
    """Ask about some pages, of which every third is about honey."""
    client = ChatClient(Endpoint.parse(chat.url), "tiny", "", timeout)
    with TeacherCache(directory) as cache:
        teacher = Teacher(client, cache, calls, parallel, clock or Watch())
        return list(teacher.answers(map(about, range(pages)))), teacher.spent


def about(number: int) -> list[Message]:
    text = "honey" if number % 3 == 0 else "trains"
    return question(bees_config(), Page(url(number), "", text), [])


def url(number: int) -> str:
    return f"http://a.example/{number}"


def verdicts(pages: int) -> list[Answer]:
    return [Verdict(n % 3 == 0, f"honey: {n % 3 == 0}") for n in range(pages)]


def one_by_one(*answers: str | bytes) -> Judge:
    """The answers one after the other, then as usual."""
    left = list(answers)
    return lambda question: left.pop(0) if left else honey(question)


@pytest.mark.parametrize("parallel", [1, 4])
def test_answers_come_in_the_order_of_the_questions(tmp_path: Path, parallel: int) -> None:
    with chatting() as chat:
        told, spent = ask(chat, tmp_path, 30, parallel=parallel)
    assert told == verdicts(30)
    assert sorted(chat.pages) == sorted(map(url, range(30)))
    assert (spent.answered, spent.prompt_tokens, spent.completion_tokens) == (30, 3000, 300)


def test_questions_are_asked_in_order(tmp_path: Path) -> None:
    with chatting() as chat:
        ask(chat, tmp_path, 12)
    assert chat.pages == list(map(url, range(12)))


def test_answers_in_another_order_are_put_in_order(tmp_path: Path) -> None:
    later = Event()

    def judge(question: Question) -> str:
        if question.page["url"] == url(0):
            assert later.wait(30)  # until all others have been answered
        if question.page["url"] == url(7):
            later.set()
        return honey(question)

    with chatting(judge) as chat:
        told, _ = ask(chat, tmp_path, 8, parallel=2)
    assert told == verdicts(8)


def test_so_many_questions_are_asked_at_once(tmp_path: Path) -> None:
    together = Barrier(4, timeout=30)

    def judge(question: Question) -> str:
        together.wait()
        return honey(question)

    with chatting(judge) as chat:
        told, _ = ask(chat, tmp_path, 8, parallel=4)
    assert told == verdicts(8)


@pytest.mark.parametrize("parallel", [1, 4])
def test_the_budget_of_calls_is_kept_exactly(tmp_path: Path, parallel: int) -> None:
    with chatting() as chat:
        told, spent = ask(chat, tmp_path, 30, calls=7, parallel=parallel)
    assert told == verdicts(7)
    assert len(chat.questions) == 7
    assert spent.calls == 0


def test_what_was_answered_once_is_never_asked_again(tmp_path: Path) -> None:
    with chatting() as chat:
        ask(chat, tmp_path, 5)
        told, spent = ask(chat, tmp_path, 8, calls=3)
    assert told == verdicts(8)
    assert len(chat.questions) == 8
    assert (spent.known, spent.answered) == (5, 3)


def test_another_model_is_asked_for_itself(tmp_path: Path) -> None:
    with chatting() as chat:
        ask(chat, tmp_path, 2)
        client = ChatClient(Endpoint.parse(chat.url), "other")
        with TeacherCache(tmp_path) as cache:
            list(Teacher(client, cache, 9, 1).answers(map(about, range(2))))
    assert [each.sent["model"] for each in chat.questions] == ["tiny"] * 2 + ["other"] * 2


def test_an_answer_without_a_verdict_is_asked_for_once_more(tmp_path: Path) -> None:
    with chatting(one_by_one("Yes!")) as chat:
        told, spent = ask(chat, tmp_path, 2)
    assert told == verdicts(2)
    assert [each.is_reminder for each in chat.questions] == [False, True, False]
    assert spent.answered == 3


def test_after_two_it_is_counted_as_unreadable_and_never_paid_for_again(tmp_path: Path) -> None:
    with chatting(one_by_one("Yes!", "Yes, I said.")) as chat:
        told, _ = ask(chat, tmp_path, 2)
        assert told == [UNREADABLE, *verdicts(2)[1:]]
        again, spent = ask(chat, tmp_path, 2)
    assert again == told
    assert (spent.answered, len(chat.questions)) == (0, 3)


def test_a_reminder_counts_for_the_budget(tmp_path: Path) -> None:
    with chatting(one_by_one("Yes!", "Yes!")) as chat:
        told, _ = ask(chat, tmp_path, 9, calls=3)
        assert told == [UNREADABLE, verdicts(2)[1]]
        assert len(chat.questions) == 3
        chat.judge = lambda question: "No!"
        fresh = tmp_path / "fresh"
        fresh.mkdir()
        told, _ = ask(chat, fresh, 9, calls=1)
    assert told == [UNREADABLE]
    assert len(chat.questions) == 4


def test_a_busy_server_is_asked_again_after_pauses_that_double(tmp_path: Path) -> None:
    watch = Watch()
    busy = [error("500 Oops"), error("503 Busy"), error("429 Slow down"), error("502 Bad")]
    with chatting(one_by_one(*busy)) as chat:
        told, spent = ask(chat, tmp_path, 2, calls=2, clock=watch)
    assert told == verdicts(2)
    assert watch.pauses == [1.0, 2.0, 4.0, 8.0]
    assert (spent.answered, spent.calls) == (2, 0)  # what was refused costs nothing


def test_retry_after_is_obeyed_by_all_questions(tmp_path: Path) -> None:
    watch = Watch()
    with chatting(one_by_one(error("429 Slow down", Retry_After="40"))) as chat:
        told, _ = ask(chat, tmp_path, 3, clock=watch)
    assert told == verdicts(3)
    assert watch.pauses == [1.0, 39.0]
    assert watch.now() == 40.0


def test_a_server_that_wants_to_rest_for_an_hour_ends_the_asking(tmp_path: Path) -> None:
    with (
        chatting(lambda question: error("429 Slow down", "tomorrow", Retry_After="3600")) as chat,
        pytest.raises(TeacherError, match=r"429: tomorrow \(it asks to wait 3,600 s\)"),
    ):
        ask(chat, tmp_path, 9)
    assert len(chat.questions) == 1


def test_a_page_that_breaks_the_server_is_left_out(tmp_path: Path) -> None:
    def judge(question: Question) -> str | bytes:
        return error("500 Oops", "no") if question.page["url"] == url(1) else honey(question)

    with chatting(judge) as chat:
        told, spent = ask(chat, tmp_path, 4)
    assert told == [verdicts(1)[0], NoVerdict("HTTP 500: no"), *verdicts(4)[2:]]
    assert Counter(chat.pages)[url(1)] == module.ATTEMPTS
    assert spent.calls == 97


def test_a_server_that_answers_no_more_ends_the_asking_and_answers_are_kept(
    tmp_path: Path,
) -> None:
    with chatting(one_by_one(*map(honey_about, range(4)), *[error("500 Oops")] * 99)) as chat:
        with pytest.raises(TeacherError, match="/v1/chat/completions: HTTP 500"):
            ask(chat, tmp_path, 20)
        assert len(chat.questions) == 4 + module.GIVE_UP * module.ATTEMPTS
        chat.judge = honey
        told, spent = ask(chat, tmp_path, 20)
    assert told == verdicts(20)
    assert (spent.known, spent.answered) == (4, 16)


def honey_about(number: int) -> str:
    relevant = number % 3 == 0
    return json.dumps({"relevant": relevant, "reason": f"honey: {relevant}"})


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_wrong_key_ends_the_asking_at_once(tmp_path: Path, parallel: int) -> None:
    with (
        chatting(lambda question: error("401 Unauthorized", "wrong key")) as chat,
        pytest.raises(TeacherError, match="HTTP 401: wrong key"),
    ):
        ask(chat, tmp_path, 50, parallel=parallel)
    assert len(chat.questions) <= parallel


def test_pages_that_the_server_does_not_take_do_not_end_it(tmp_path: Path) -> None:
    with chatting(lambda question: error("413 Too long", "too long")) as chat:
        told, spent = ask(chat, tmp_path, 5)
    assert told == [NoVerdict("HTTP 413: too long")] * 5
    assert spent.calls == 100


@pytest.mark.parametrize("broken", [b"<html>", b"{}", b'{"choices": "none"}'])
def test_garbage_is_asked_for_once_more_and_both_calls_count(tmp_path: Path, broken: bytes) -> None:
    with chatting(one_by_one(response(broken), response(broken))) as chat:
        told, spent = ask(chat, tmp_path, 2)
    assert told == [NoVerdict("the answer is no chat completion"), verdicts(2)[1]]
    assert len(chat.questions) == 3
    assert spent.calls == 97


def test_a_call_that_timed_out_counts_and_is_made_once_more(tmp_path: Path) -> None:
    over = Event()

    def silent(question: Question) -> Iterator[bytes]:
        over.wait()
        yield b""

    def judge(question: Question) -> str | Iterator[bytes]:
        return silent(question) if len(chat.questions) == 1 else honey(question)

    with chatting(judge) as chat:
        told, spent = ask(chat, tmp_path, 2, calls=3, timeout=1.5)
        over.set()
    assert told == verdicts(2)
    assert spent.calls == 0
    assert len(chat.questions) == 3


def test_a_timeout_without_a_call_left_is_not_repeated(tmp_path: Path) -> None:
    over = Event()

    def silent(question: Question) -> Iterator[bytes]:
        over.wait()
        yield b""

    with chatting(silent) as chat:
        told, _ = ask(chat, tmp_path, 2, calls=1, timeout=0.2)
        over.set()
    assert told == [NoVerdict("no answer in 0.2 s")]
    assert len(chat.questions) == 1


def test_leaving_early_stops_everything_under_way(tmp_path: Path) -> None:
    over, asked = Event(), Event()

    def judge(question: Question) -> str | Iterator[bytes]:
        if question.page["url"] == url(0):
            return honey(question)
        asked.set()
        return wait_for(over)

    with chatting(judge) as chat:
        client = ChatClient(Endpoint.parse(chat.url), "tiny")
        with TeacherCache(tmp_path) as cache:
            told = Teacher(client, cache, 100, 4).answers(map(about, range(50)))
            assert next(told) == verdicts(1)[0]
            assert asked.wait(30)
            told.close()  # returns although nobody has answered
        assert not over.is_set()
        over.set()


def wait_for(event: Event) -> Iterator[bytes]:
    event.wait()
    yield b""


def test_a_server_without_usage_is_told_so(tmp_path: Path) -> None:
    said = json.dumps({"choices": [{"message": {"content": '{"relevant": true}'}}]})
    with chatting(lambda question: response(said.encode())) as chat:
        told, spent = ask(chat, tmp_path, 2)
    assert told == [Verdict(True, "")] * 2
    assert (spent.uncounted, spent.prompt_tokens) == (2, 0)


def test_two_processes_do_not_pay_for_the_same_questions(tmp_path: Path) -> None:
    with TeacherCache(tmp_path), pytest.raises(RunError, match="another tres asks a teacher"):
        TeacherCache(tmp_path)
    assert (tmp_path / TEACHER).exists()
