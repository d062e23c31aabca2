"""Asking a teacher about many pages: several at once, within a budget, each question once.

*Order.* Questions are sent in the order in which they come, and answers are returned in it,
whoever answers first. So equal answers give equal judgements, and equal models.

*Budget.* A page gets two calls of the budget before it is asked about, one for the question and
one in case that it must be repeated, and gives back what it did not need. So what happens to a page
never takes a call from an earlier one. A call that the server refused is not counted: nobody
pays for a 429. One that timed out or broke off is, as it may have been paid for. An answer that is
known already costs nothing.

*Attempts.* What the server refused for the moment is asked again up to `ATTEMPTS` times, with
pauses that double; if it names a time (Retry-After), all questions wait for it. What may have been
paid for is asked again once, or else an answer without a verdict, with a reminder. After
`GIVE_UP` questions in a row that the server did not answer, no other is asked.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event

from tres.errors import TeacherError
from tres.runs.teacher.chat_client import ChatClient, Message, Refusal
from tres.runs.teacher.question import Verdict, key_of, question_again, read_verdict
from tres.store.teacher_cache import Completion, TeacherCache

ATTEMPTS = 6
PAUSE, LONGEST_PAUSE = 1.0, 30.0
LONGEST_WAIT = 120.0
"""Seconds for which a server may ask us to wait; a longer wait is for another day."""
GIVE_UP = 3
AHEAD = 4
"""Questions that may be under way or answered for each that is asked at once."""
ALLOWANCE = 2
"""Calls that a page may cost."""
NO_CALL, STOPPED = Refusal("no call is left"), Refusal("stopped")


@dataclass(frozen=True, slots=True)
class NoVerdict:
    """A page that the teacher did not judge, and why."""

    why: str
    unreadable: bool = False
    """Did it answer, but without a verdict?"""


Answer = Verdict | NoVerdict


@dataclass(slots=True)
class Spent:
    """What was used so far."""

    calls: int
    """How many may still be made."""
    answered: int = 0
    known: int = 0
    """Answers that were kept from earlier."""
    uncounted: int = 0
    """Answers of which the server did not count the tokens."""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, answer: Completion) -> None:
        """Count an answer that a call gave."""
        self.answered += 1
        self.uncounted += answer.prompt_tokens is None
        self.prompt_tokens += answer.prompt_tokens or 0
        self.completion_tokens += answer.completion_tokens or 0


@dataclass(slots=True)
class _Inquiry:
    """All that is done about one page, by one thread."""

    messages: Sequence[Message]
    allowed: int
    """Calls that it may still make."""
    known: int = 0
    answers: list[Completion] = field(default_factory=list)
    reply: Answer | Refusal = STOPPED


class Clock:
    """Time, and pauses that end early when the asking stops."""

    def __init__(self) -> None:
        self.stopped = Event()

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float) -> None:
        self.stopped.wait(seconds)


class Teacher:
    """Asks questions through a client, and keeps the answers."""

    def __init__(
        self,
        client: ChatClient,
        cache: TeacherCache,
        calls: int,
        parallel: int,
        clock: Clock | None = None,
    ) -> None:
        self.spent = Spent(calls)
        self._client = client
        self._cache = cache
        self._parallel = parallel
        self._clock = clock or Clock()
        self._ready_at = 0.0
        self._final: Refusal | None = None

    def answers(self, questions: Iterable[Sequence[Message]]) -> Iterator[Answer]:
        """Yield the answer to each question, in order, while calls are left.

        `TeacherError` if the server refuses everything; the answers so far are kept.
        """
        pool = ThreadPoolExecutor(self._parallel, thread_name_prefix="teacher")
        try:
            yield from self._checked(self._replies(pool, questions))
        finally:
            self._clock.stopped.set()
            self._client.close()
            pool.shutdown(cancel_futures=True)

    def _replies(
        self, pool: ThreadPoolExecutor, questions: Iterable[Sequence[Message]]
    ) -> Iterator[Answer | Refusal]:
        under_way: deque[Future[_Inquiry]] = deque()
        for messages in questions:
            while under_way and (
                len(under_way) == AHEAD * self._parallel or self.spent.calls < ALLOWANCE
            ):
                yield self._settle(under_way.popleft().result())
            inquiry = _Inquiry(messages, min(ALLOWANCE, self.spent.calls))
            if not inquiry.allowed and self._cache.get(self._key(messages)) is None:
                break
            self.spent.calls -= inquiry.allowed
            under_way.append(pool.submit(self._inquire, inquiry))
        while under_way:
            yield self._settle(under_way.popleft().result())

    def _settle(self, inquiry: _Inquiry) -> Answer | Refusal:
        """Take back the calls that a page did not need, and count the others."""
        self.spent.calls += inquiry.allowed
        self.spent.known += inquiry.known
        for answer in inquiry.answers:
            self.spent.add(answer)
        return inquiry.reply

    def _checked(self, replies: Iterable[Answer | Refusal]) -> Iterator[Answer]:
        """Pass on what is an answer, and stop when the server answers no more."""
        in_a_row = 0
        for reply in replies:
            if not isinstance(reply, Refusal):
                in_a_row = 0
                yield reply
                continue
            in_a_row += reply.again
            reason = self._final or reply
            if reason.final or in_a_row == GIVE_UP:
                raise TeacherError(f"{self._client.endpoint}: {reason.reason}")
            yield NoVerdict(reply.reason)

    def _inquire(self, inquiry: _Inquiry) -> _Inquiry:
        """Ask about one page, and once more if the answer has no verdict."""
        first = self._ask(inquiry, inquiry.messages)
        if isinstance(first, Refusal):
            inquiry.reply = first
            return inquiry
        verdict = read_verdict(first.text)
        if verdict is None:
            second = self._ask(inquiry, question_again(inquiry.messages, first.text))
            verdict = read_verdict(second.text) if isinstance(second, Completion) else None
        inquiry.reply = verdict or NoVerdict("its answer has no verdict", unreadable=True)
        return inquiry

    def _ask(self, inquiry: _Inquiry, messages: Sequence[Message]) -> Completion | Refusal:
        """Return the answer to a question: the one that is known, or that of a call."""
        key = self._key(messages)
        if (known := self._cache.get(key)) is not None:
            inquiry.known += 1
            return known
        reply = self._attempts(inquiry, messages)
        if isinstance(reply, Completion):
            self._cache.add(key, reply)
            inquiry.answers.append(reply)
        elif reply.final:
            self._final = self._final or reply
            self._clock.stopped.set()
        return reply

    def _attempts(self, inquiry: _Inquiry, messages: Sequence[Message]) -> Completion | Refusal:
        """Make a call, again and again if need be."""
        reply: Completion | Refusal = NO_CALL
        if not inquiry.allowed:
            return reply
        for attempt in range(ATTEMPTS):
            self._wait_for_server()
            if self._clock.stopped.is_set():
                return STOPPED
            reply = self._client.ask(messages)
            inquiry.allowed -= isinstance(reply, Completion) or reply.counted
            if isinstance(reply, Completion) or not reply.again or not inquiry.allowed:
                return reply
            if (reply.wait or 0.0) > LONGEST_WAIT:
                return Refusal(f"{reply.reason} (it asks to wait {reply.wait:,.0f} s)", final=True)
            self._pause(attempt, reply.wait)
        return reply

    def _pause(self, attempt: int, asked: float | None) -> None:
        if asked is not None:
            self._ready_at = max(self._ready_at, self._clock.now() + asked)
        self._clock.wait(min(PAUSE * 2**attempt, LONGEST_PAUSE))

    def _wait_for_server(self) -> None:
        """Wait until the time that the server has named, in whatever answer."""
        while not self._clock.stopped.is_set():
            left = self._ready_at - self._clock.now()
            if left <= 0:
                return
            self._clock.wait(left)

    def _key(self, messages: Sequence[Message]) -> str:
        endpoint = self._client.endpoint
        return key_of(f"{endpoint}?{endpoint.query}", self._client.model, messages)
