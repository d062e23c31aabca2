"""`tres init`: write a topic file from a few answers, and check its seeds.

An option answers a question; on a terminal, the others are asked.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from tres.cli.console import file_name, messages
from tres.cli.options import PATH
from tres.cli.seed_check import SeedCheck, check_live_seeds, check_offline_seeds
from tres.cli.topic_template import draft_topic, format_topic_file, keyword_problems, terms_of
from tres.errors import ConfigError, SeedError, printable
from tres.numbers import format_count
from tres.offline import open_web
from tres.settings.sections import CrawlSection
from tres.settings.setting import text, web_address, whole
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.page import Failed
from tres.web.url import canonical

AT_ONCE = 8
"""Pages to fetch at once in a first live crawl: never two of one site, so it is polite."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `parse` returns the value of an answer, or raises a `ValueError`."""

    key: str
    option: str
    words: str
    parse: Callable[[str], Any]
    default: str | None = None

    def answer(self, given: str | None, ask: bool) -> Any:
        """Return the value of the option that was given, of an answer, or of the default."""
        if given is None and ask:
            return click.prompt(
                *(self.words, self.default),
                value_proc=self._parse_typed,
                show_default=bool(self.default),
                err=True,
            )
        try:
            return self.parse(self.default or "" if given is None else given)
        except ValueError as problem:
            raise ConfigError(f"{self.option} {problem}") from None

    def _parse_typed(self, answer: str) -> Any:
        try:
            return self.parse(answer)
        except ValueError as problem:
            raise click.UsageError(f"it {problem}") from None  # so that it is asked again


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
DESCRIPTION = Question(
    *("description", "--description", "The topic in one or two sentences (or nothing)"),
    *(str.strip, ""),
)
TERMS = Question(
    "terms", "--keywords", "Keywords and phrases, such as: bee, honey, honey bee", _terms
)
OTHERS = (
    Question("seeds", "--seed-url", "Seeds: web addresses to start from", _seeds),
    Question("contact", "--contact", "Your mail address or web page, sent to the sites", _contact),
    Question("pages", "--pages", "Number of pages to fetch", _pages, str(CrawlSection().pages)),
)


def _questions(description: str | None) -> tuple[Question, ...]:
    """Return the questions about a topic; one that is described needs no keywords."""
    if not description:
        return TERMS, *OTHERS
    optional = replace(TERMS, parse=lambda answer: terms_of([answer]), default="")
    return optional, *OTHERS


def _refuse_missing(given: Mapping[str, str | None]) -> None:
    """Raise a `ConfigError` that names all missing options."""
    needed = (one for one in _questions(given["description"]) if one.default is None)
    if missing := [question.option for question in needed if given[question.key] is None]:
        raise ConfigError(
            f"missing: {', '.join(missing)}; give these options, or run `tres init` on a terminal, "
            "where it asks"
        )


@click.command()
@click.argument("file", type=PATH, required=False)
@click.option("--name", metavar="NAME", help="Name of the topic.  [default: that of FILE]")
@click.option(
    "--description", metavar="TEXT", help="The topic in one or two sentences; or give --keywords."
)
@click.option(
    "--keywords",
    "--keyword",
    multiple=True,
    metavar="WORDS",
    help="Words and phrases of the topic, separated by commas; repeatable.",
)
@click.option("--seed-url", multiple=True, metavar="URL", help="Start the crawl here; repeatable.")
@click.option("--contact", metavar="WHO", help="Your mail address or web page, sent to the sites.")
@click.option("--pages", metavar="N", help=f"Fetch N pages.  [default: {CrawlSection().pages}]")
@click.option("--web", metavar="WEB", help="Check the seeds in this web, not on the live Web.")
@click.option("--proxy", metavar="URL", help="Check the seeds through this HTTP proxy.")
@click.option("--yes", is_flag=True, help="Ask nothing; use the defaults.")
@click.option("--no-check", is_flag=True, help="Do not check the seeds.")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
def init(
    file: Path | None,
    keywords: tuple[str, ...],
    seed_url: tuple[str, ...],
    web: str | None,
    proxy: str | None,
    yes: bool,
    no_check: bool,
    force: bool,
    **given: str | None,
) -> None:
    """Write a topic file for a topic of your own.

    On a terminal, ask for everything that no option gives. Then fetch each seed once, as politely
    as a crawl, and say what was found there. Without FILE, write NAME.toml.

    \b
    Examples: tres init
              tres init bees.toml --keywords 'bee, honey' --seed-url https://bees.example/
    """
    given["terms"], given["seeds"] = ",".join(keywords) or None, " ".join(seed_url) or None
    if web or proxy:
        given["contact"] = given["contact"] or ""  # nobody could use it
    given["name"] = given["name"] or (None if file is None else file.stem)
    if not (ask := sys.stdin.isatty() and not yes):
        _refuse_missing(given)
        given["name"] = given["name"] or (keywords or ("topic",))[0].partition(",")[0]
    name = NAME.answer(given["name"], ask)
    path = file or Path(f"{file_name(name)}.toml")
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists already; name another file, or add --force")
    described = DESCRIPTION.answer(given["description"], ask)
    known = {one.key: one.answer(given[one.key], ask) for one in _questions(described)}
    _write(path, draft_topic(name, **known, description=described))
    for problem in keyword_problems(known["terms"]):
        click.echo(f"note: {printable(problem)}")
    checks = [] if no_check else _check_seeds(load_topic(path), web, proxy)
    click.echo("\n".join((*_format_checks(checks), f"next: {_next_command(path, web, proxy)}")))
    if checks and all(isinstance(check.outcome, Failed) for check in checks):
        raise SeedError(f"no seed gave a page; name others in {path} before you crawl")


def _write(path: Path, config: TopicConfig) -> None:
    try:
        path.write_text(format_topic_file(config), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror}); name another") from None
    click.echo(f"topic file: {printable(str(path))}")


def _check_seeds(config: TopicConfig, web: str | None, proxy: str | None) -> list[SeedCheck]:
    with messages().status("checking the seeds"):
        if web is not None:
            return check_offline_seeds(config, open_web(web))
        return check_live_seeds(config.override(proxy=proxy))


def _format_checks(checks: list[SeedCheck]) -> Iterator[str]:
    """Yield the lines about each seed; text from pages is escaped."""
    for check in checks:
        yield f"seed: {printable(check.seed)}"
        if not isinstance(check.outcome, Failed):
            yield f"  {printable(check.outcome.title) or '(no title)'}"
            yield f"  {_format_page(check)}"
        if check.problem:
            yield f"  note: it {check.problem}"


def _format_page(check: SeedCheck) -> str:
    assert not isinstance(check.outcome, Failed)
    links = format_count(len(check.outcome.links), "link")
    shown = f": {', '.join(map(printable, check.found))}" if check.found else ""
    verdict = "likely relevant" if check.likely else "perhaps not relevant"
    language = check.language or "language unknown"
    terms = f"{len(check.found)} of {format_count(check.terms, 'keyword')}{shown}"
    return f"{language}, {links}, {terms}; {verdict}"


def _next_command(path: Path, web: str | None, proxy: str | None) -> str:
    """Return the command that crawls."""
    if web is not None:
        rest = ["--web", web]
    else:
        rest = ["--concurrency", str(AT_ONCE), *(["--proxy", proxy] if proxy else [])]
    return printable(shlex.join(["tres", "crawl", str(path), *rest]))
