"""`tres steer`: tell a crawl that is going on what to do from now on."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from tres.cli.completions import runs
from tres.errors import ConfigError, RunError, printable
from tres.settings.topic_file import load_topic
from tres.store.orders import OF_THE_MOMENT, Block, Budget, Continue, Order, Pause, Stop, send
from tres.store.resume_hints import command_to_resume
from tres.store.run_directory import config_of
from tres.store.run_state import Doing, run_state
from tres.web.url import SiteBy, canonical, site_of

WORDS = ("pause", "continue", "stop", "budget", "block")


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.argument("word", metavar="ORDER", type=click.Choice(WORDS))
@click.argument("value", metavar="[N|SITE]", required=False)
def steer(run: Path, word: str, value: str | None) -> None:
    """Tell a crawl that is going on what to do from now on.

    The crawl in the directory RUN hears of it within a second, wherever it was started. Budget
    and blocked sites are kept in its journal, so they hold after `tres resume` as well.

    \b
    pause       fetch nothing new; what is on its way comes in
    continue       fetch again after a pause
    stop        end in good order, as Ctrl-C does
    budget N    fetch N pages in all; if that many are in already, the crawl ends
    block SITE  fetch nothing more from a site, for good; a host, or an address on it

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
        click.echo(f"the crawl has been told; {_promise(run, order)}")
    elif isinstance(order, OF_THE_MOMENT):
        more = " --pages N" if state.doing is Doing.FINISHED else ""
        again = f"{command_to_resume(run)}{more}"
        raise RunError(f"{run}: nobody is crawling there; to go on with it: {again}")
    else:
        send(run, order)
        again = printable(command_to_resume(run))
        click.echo(f"nobody is crawling there; this is kept for the next crawl: {again}")


def order_of(word: str, value: str | None, by: SiteBy) -> Order:
    """The order that somebody means; `ConfigError` if it is none."""
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
    """The site that somebody means by a host or an address."""
    url = canonical(text if "://" in text else f"http://{text}")
    if url is None:
        raise ConfigError(f"{text!r} is no site; name a host such as example.org, or an address")
    return site_of(url, by)


def _promise(run: Path, order: Order) -> str:
    """What happens now."""
    match order:
        case Pause():
            return f"go on: tres steer {printable(shlex.quote(str(run)))} continue"
        case Continue():
            return "it goes on"
        case Budget(pages):
            return f"it may fetch {pages:,} pages in all"
        case Block(site):
            return f"nothing more is fetched from {printable(site)}"
        case _:
            again = printable(command_to_resume(run))
            return f"it ends when all is in that is on its way\ngo on later: {again}"
