"""The questions of `tres init`: answered by an option, or asked on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import click

from tres.cli.topic_template import terms_of
from tres.errors import ConfigError
from tres.settings.sections import CrawlSection
from tres.settings.setting import text, web_address, whole
from tres.web.url import canonical


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `parse` returns the value of an answer, or raises a `ValueError`."""

    key: str
    option: str
    words: str
    parse: Callable[[str], Any]
    default: str | None = None

    def parse_option(self, answer: str) -> Any:
        """Return the value of an option."""
        try:
            return self.parse(answer)
        except ValueError as problem:
            raise ConfigError(f"{self.option} {problem}") from None

    def ask(self) -> Any:
        """Ask until the answer is valid; return its value."""
        return click.prompt(self.words, self.default, value_proc=self._value, err=True)

    def _value(self, answer: str) -> Any:
        try:
            return self.parse(answer)
        except ValueError as problem:
            raise click.UsageError(f"it {problem}") from None


def _terms(answer: str) -> list[str]:
    if not (found := terms_of([answer])):
        raise ValueError("must contain at least one word that pages about the topic use")
    return found


def _seeds(answer: str) -> list[str]:
    if not (found := answer.replace(",", " ").split()):
        raise ValueError("must name at least one page to start from")
    return [web_address(_with_scheme(seed)) for seed in found]


def _with_scheme(seed: str) -> str:
    """Return `example.org` or `example.org/bees` as the address that a browser would open."""
    if "://" in seed or "." not in seed:
        return seed
    return canonical(f"https://{seed}") or seed


def _contact(answer: str) -> str:
    if answer and "@" not in answer and "://" not in answer:
        raise ValueError("must be a mail address or a web page (https://...)")
    return answer.strip()


def _pages(answer: str) -> int:
    return whole(1)(int(answer) if answer.strip().isdecimal() else answer)


NAME = Question("name", "--name", "Name of the topic", text)
OTHERS = (
    Question("terms", "--keywords", "Keywords and phrases, such as: bee, honey, honey bee", _terms),
    Question("seeds", "--seed-url", "Seeds: web addresses to start from", _seeds),
    Question("contact", "--contact", "Your mail address or web page, sent to the sites", _contact),
    Question("pages", "--pages", "Number of pages to fetch", _pages, str(CrawlSection().pages)),
)


def refuse_missing(given: Mapping[str, str | None]) -> None:
    """Raise a `ConfigError` that names all missing options."""
    missing = [
        question.option
        for question in OTHERS
        if question.default is None and given[question.key] is None
    ]
    if missing:
        raise ConfigError(
            f"missing: {', '.join(missing)}; give these options, or run `tres init` on a terminal, "
            "where it asks"
        )


def answer(question: Question, given: str | None, ask: bool) -> Any:
    """Return the value of a question: the option, the answer, or the default."""
    if given is None and ask:
        return question.ask()
    return question.parse_option(question.default or "" if given is None else given)
