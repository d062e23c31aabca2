"""`tres steer`: give orders to a running crawl."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from tres.cli.options import run_argument
from tres.errors import ConfigError, RunError, printable
from tres.numbers import format_count
from tres.settings.topic_file import load_topic
from tres.store.orders import OF_THE_MOMENT, Block, Budget, Continue, Order, Pause, Stop, send
from tres.store.run_directory import command_to_resume, config_of
from tres.store.run_state import Doing, run_state
from tres.web.url import SiteBy, canonical, site_of

WORDS = ("pause", "continue", "stop", "budget", "block")


@click.command()
@run_argument
@click.argument("word", metavar="ORDER", type=click.Choice(WORDS))
@click.argument("value", metavar="[N|SITE]", required=False)
def steer(run: Path, word: str, value: str | None) -> None:
    """Pause, continue, stop or limit a running crawl.

    The crawl in the directory RUN obeys within a second, wherever it was started. The budget and
    blocked sites are kept in its journal, so they hold after `tres resume` as well.

    \b
    pause       fetch nothing new; fetches in flight may end
    continue    fetch again after a pause
    stop        end in good order, as Ctrl-C does
    budget N    fetch N pages in all; end if that many are fetched already
    block SITE  fetch nothing more from a site: a host, or an address on it

    \b
    Examples: tres steer runs/biology pause
              tres steer runs/biology continue
              tres steer runs/biology stop
              tres steer runs/biology budget 5000
              tres steer runs/biology block shop.example.org
    """
    by = load_topic(config_of(run)).crawl.site
    order = order_of(word, value, by)
    state = run_state(run)
    if state.is_crawled:
        send(run, order)
        click.echo(f"order sent; {_effect(run, order)}")
    elif isinstance(order, OF_THE_MOMENT):
        more = " --pages N" if state.doing is Doing.FINISHED else ""
        again = f"{command_to_resume(run)}{more}"
        raise RunError(f"{run}: is not being crawled; to continue it: {again}")
    else:
        send(run, order)
        again = printable(command_to_resume(run))
        click.echo(f"the run is not being crawled; the order will hold when you continue: {again}")


def order_of(word: str, value: str | None, by: SiteBy) -> Order:
    """Return the order that was typed; `ConfigError` if it is not one."""
    match word, value:
        case "pause", None:
            return Pause()
        case "continue", None:
            return Continue()
        case "stop", None:
            return Stop()
        case "budget", str(pages) if pages.isascii() and pages.isdigit():
            return Budget(int(pages))
        case "block", str(site):
            return Block(site_named(site, by))
    needed = {"budget": "budget N, a number of pages", "block": "block SITE, a host or an address"}
    raise ConfigError(f"write: tres steer RUN {needed.get(word, word)}")


def site_named(text: str, by: SiteBy) -> str:
    """Return the site of a host or an address."""
    url = canonical(text if "://" in text else f"http://{text}")
    if url is None:
        raise ConfigError(f"{text!r} is not a site; name a host such as example.org, or an address")
    return site_of(url, by)


def _effect(run: Path, order: Order) -> str:
    """Return what happens now."""
    match order:
        case Pause():
            return f"continue with: tres steer {printable(shlex.quote(str(run)))} continue"
        case Continue():
            return "the crawl continues"
        case Budget(pages):
            return f"its budget is {format_count(pages, 'page')} in all"
        case Block(site):
            return f"nothing more will be fetched from {printable(site)}"
        case _:
            again = printable(command_to_resume(run))
            return f"the crawl ends when its fetches in flight are back\ncontinue later: {again}"
