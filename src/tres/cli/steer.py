"""`tres steer`: tell a crawl that is going on what to do from now on."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from tres.cli.completing import runs
from tres.config import load_topic
from tres.errors import ConfigError, RunError, printable
from tres.store.orders import Block, Budget, GoOn, Order, Pause, Stop, send
from tres.store.recorded import command_to_resume
from tres.store.run import config_of
from tres.store.state import Doing, run_state
from tres.web.url import SiteBy, canonical, site_of


@click.group()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.pass_context
def steer(context: click.Context, run: Path) -> None:
    """Tell a crawl that is going on what to do from now on.

    The crawl in the directory RUN hears of it within a second, wherever it was started. Whatever
    changes the crawl is kept in its journal, so it holds after `tres resume` as well.

    \b
    Examples: tres steer runs/biology pause
              tres steer runs/biology block shop.example.org
    """
    context.obj = run


@steer.command()
@click.pass_obj
def pause(run: Path) -> None:
    """Fetch nothing new; what is on its way comes in.

    Example: tres steer runs/biology pause
    """
    _tell_crawl(run, Pause(), f"go on: {_command(run, 'go-on')}")


@steer.command("go-on")
@click.pass_obj
def go_on(run: Path) -> None:
    """Fetch again after a pause.

    Example: tres steer runs/biology go-on
    """
    _tell_crawl(run, GoOn(), "it goes on")


@steer.command()
@click.pass_obj
def stop(run: Path) -> None:
    """End the crawl in good order, as Ctrl-C does.

    Example: tres steer runs/biology stop
    """
    again = printable(command_to_resume(run))
    _tell_crawl(run, Stop(), f"it ends when all is in that is on its way\ngo on later: {again}")


@steer.command()
@click.argument("pages", type=click.IntRange(min=1))
@click.pass_obj
def budget(run: Path, pages: int) -> None:
    """Fetch PAGES pages in all. With as many as it has already, the crawl ends.

    Example: tres steer runs/biology budget 5000
    """
    _leave(run, Budget(pages), f"it may fetch {pages:,} pages in all")


@steer.command()
@click.argument("site")
@click.pass_obj
def block(run: Path, site: str) -> None:
    """Fetch nothing more from SITE, a host or any address on it. This cannot be undone.

    Example: tres steer runs/biology block shop.example.org
    """
    named = site_named(site, load_topic(config_of(run)).crawl.site)
    _leave(run, Block(named), f"nothing more is fetched from {printable(named)}")


def site_named(text: str, by: SiteBy) -> str:
    """The site that somebody means by a host or an address."""
    url = canonical(text if "://" in text else f"http://{text}")
    if url is None:
        raise ConfigError(f"{text!r} is no site; name a host such as example.org, or an address")
    return site_of(url, by)


def _tell_crawl(run: Path, order: Order, answer: str) -> None:
    """An order that means something only to a crawl that is going on."""
    config_of(run)
    state = run_state(run)
    if not state.is_crawled:
        finished = "--pages N" if state.doing is Doing.FINISHED else ""
        again = f"{command_to_resume(run)} {finished}".strip()
        raise RunError(f"{run}: nobody is crawling there; to go on with it: {again}")
    send(run, order)
    click.echo(f"the crawl has been told; {answer}")


def _leave(run: Path, order: Order, answer: str) -> None:
    """An order that a later crawl carries out if none is going on."""
    config_of(run)
    crawled = run_state(run).is_crawled
    send(run, order)
    if crawled:
        click.echo(f"the crawl has been told; {answer}")
    else:
        again = printable(command_to_resume(run))
        click.echo(f"nobody is crawling there; this is kept for the next crawl: {again}")


def _command(run: Path, word: str) -> str:
    return printable(f"tres steer {shlex.quote(str(run))} {word}")
