"""`tres init`: a topic file from a few answers, and a look at its seeds."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tres.cli.console import messages
from tres.cli.init_questions import NAME, OTHERS, answer, refuse_missing
from tres.cli.seed_check import SeedCheck, check_live_seeds, check_offline_seeds
from tres.cli.topic_template import doubts, drafted, topic_file
from tres.errors import ConfigError, SeedError, printable
from tres.offline import open_web
from tres.settings.sections import CrawlSection
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.page import Failed

AT_ONCE = 8
"""Pages in flight for a first live crawl; never two of one site, so it is polite."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--name", metavar="NAME", help="The topic's name.  [default: that of FILE]")
@click.option(
    "--keywords",
    "--keyword",
    multiple=True,
    metavar="WORDS",
    help="Words and phrases of the topic, separated by commas; repeatable.",
)
@click.option("--seed-url", multiple=True, metavar="URL", help="Start here; repeatable.")
@click.option("--contact", metavar="WHO", help="Your mail address or web page, for the sites.")
@click.option("--pages", metavar="N", help=f"Pages to fetch.  [default: {CrawlSection().pages}]")
@click.option("--web", metavar="WEB", help="Look at the seeds in this web, not on the live Web.")
@click.option("--proxy", metavar="URL", help="Look at the seeds through this HTTP proxy.")
@click.option("--yes", is_flag=True, help="Ask nothing; take the defaults.")
@click.option("--no-check", is_flag=True, help="Do not look at the seeds.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
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

    On a terminal, it asks for what no option gives. Then it fetches each seed once, as politely
    as a crawl would, and tells you what is there. Without FILE it writes NAME.toml.

    \b
    Examples: tres init
              tres init bees.toml --keywords 'bee, honey' --seed-url https://bees.example/
    """
    given["terms"], given["seeds"] = ",".join(keywords) or None, " ".join(seed_url) or None
    if web or proxy:
        given["contact"] = given["contact"] or ""  # there is nobody who could write to it
    given["name"] = given["name"] or (None if file is None else file.stem)
    if not (ask := sys.stdin.isatty() and not yes):
        refuse_missing(given)
        given["name"] = given["name"] or keywords[0].partition(",")[0]
    name = answer(NAME, given["name"], ask)
    path = file or Path(f"{_harmless(name)}.toml")
    _refuse_taken(path, force)
    known = {question.key: answer(question, given[question.key], ask) for question in OTHERS}
    _write(path, drafted(name, **known))
    for doubt in doubts(known["terms"]):
        click.echo(f"note: {printable(doubt)}")
    checks = [] if no_check else _checked(load_topic(path), web, proxy)
    click.echo("\n".join((*_told(checks), f"next: {_next(path, web, proxy)}")))
    if checks and all(isinstance(check.outcome, Failed) for check in checks):
        raise SeedError(f"no seed gives a page; name others in {path} before you crawl")


def _harmless(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)


def _refuse_taken(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise ConfigError(f"{path}: is there already; name another file, or add --force")


def _write(path: Path, config: TopicConfig) -> None:
    try:
        path.write_text(topic_file(config), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written ({error.strerror}); name another") from None
    click.echo(f"topic file: {printable(str(path))}")


def _checked(config: TopicConfig, web: str | None, proxy: str | None) -> list[SeedCheck]:
    with messages().status("looking at the seeds"):
        if web is not None:
            return check_offline_seeds(config, open_web(web))
        return check_live_seeds(config.override(proxy=proxy))


def _told(checks: list[SeedCheck]) -> Iterator[str]:
    """What is known of each seed, in lines. What pages say cannot steer the terminal."""
    for check in checks:
        yield f"seed: {printable(check.seed)}"
        if not isinstance(check.outcome, Failed):
            yield f"  {printable(check.outcome.title) or '(no title)'}"
            yield f"  {_counted(check)}"
        if check.doubt:
            yield f"  note: it {check.doubt}"


def _counted(check: SeedCheck) -> str:
    assert not isinstance(check.outcome, Failed)
    links = f"{len(check.outcome.links):,} links"
    shown = f": {', '.join(map(printable, check.found))}" if check.found else ""
    verdict = "likely relevant" if check.likely else "perhaps not relevant"
    language = check.language or "language unknown"
    return f"{language}, {links}, {len(check.found)} of {check.terms} keywords{shown}; {verdict}"


def _next(path: Path, web: str | None, proxy: str | None) -> str:
    """The command that crawls."""
    if web is not None:
        rest = ["--web", web]
    else:
        rest = ["--concurrency", str(AT_ONCE), *(["--proxy", proxy] if proxy else [])]
    return printable(shlex.join(["tres", "crawl", str(path), *rest]))
