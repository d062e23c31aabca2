"""`tres init`: write a topic file from a few answers, and check its seeds."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tres.cli.console import messages
from tres.cli.init_questions import NAME, OTHERS, answer, refuse_missing
from tres.cli.options import PATH
from tres.cli.seed_check import SeedCheck, check_live_seeds, check_offline_seeds
from tres.cli.topic_template import draft_topic, format_topic_file, keyword_problems
from tres.errors import ConfigError, SeedError, printable
from tres.numbers import format_count
from tres.offline import open_web
from tres.settings.sections import CrawlSection
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.page import Failed

AT_ONCE = 8
"""Pages to fetch at once in a first live crawl: never two of one site, so it is polite."""


@click.command()
@click.argument("file", type=PATH, required=False)
@click.option("--name", metavar="NAME", help="Name of the topic.  [default: that of FILE]")
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
        refuse_missing(given)
        given["name"] = given["name"] or keywords[0].partition(",")[0]
    name = answer(NAME, given["name"], ask)
    path = file or Path(f"{_safe_name(name)}.toml")
    _refuse_existing(path, force)
    known = {question.key: answer(question, given[question.key], ask) for question in OTHERS}
    _write(path, draft_topic(name, **known))
    for problem in keyword_problems(known["terms"]):
        click.echo(f"note: {printable(problem)}")
    checks = [] if no_check else _check_seeds(load_topic(path), web, proxy)
    click.echo("\n".join((*_format_checks(checks), f"next: {_next_command(path, web, proxy)}")))
    if checks and all(isinstance(check.outcome, Failed) for check in checks):
        raise SeedError(f"no seed gave a page; name others in {path} before you crawl")


def _safe_name(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)


def _refuse_existing(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise ConfigError(f"{path}: exists already; name another file, or add --force")


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
