"""`tres serve`: serve a web over HTTP, for any crawler."""

from __future__ import annotations

import asyncio
import math
import os
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import click

from tres.cli.console import messages
from tres.cli.options import PATH, SHARE, host_option, port_option
from tres.errors import ArchiveError, ConfigError, printable
from tres.files import opening as files
from tres.numbers import format_count
from tres.offline import Web, open_web
from tres.offline.faults import Faults
from tres.offline.http_responses import response_source
from tres.offline.proxy import Proxy
from tres.store.page_source import web_of
from tres.store.run_directory import is_run

MAX_DELAY = 3600.0


@click.command()
@click.argument("web")
@port_option(8080)
@host_option("any other lets other machines in")
@click.option(
    "--robots",
    type=PATH,
    metavar="FILE",
    help="Use this robots.txt for hosts that have none of their own.",
)
@click.option(
    "--delay", default="0", metavar="SECONDS", help="Delay every answer, as in 0.2 or 0.05..0.2."
)
@click.option(
    "--errors",
    type=SHARE,
    default=0.0,
    metavar="SHARE",
    help="Answer 503 to the first request for this share of pages.",
)
@click.option("--lasting", is_flag=True, help="Answer 503 to every request for those pages.")
@click.option("--seed", default=1, show_default=True, metavar="N", help="Seed for delays, errors.")
@click.option(
    "--log",
    type=PATH,
    metavar="FILE",
    help="Add a line per request: time, host, method, URL, status.",
)
def serve(
    web: str,
    port: int,
    host: str,
    robots: Path | None,
    delay: str,
    errors: float,
    lasting: bool,
    seed: int,
    log: Path | None,
) -> None:
    """Serve an archive or a generated web over HTTP.

    WEB is an archive, a generated web, or the directory of a run. The server is an HTTP proxy, so
    every crawler that can use one can crawl it. It answers requests for https pages without TLS.

    Example: tres serve generated --port 8080
    """
    faults = Faults(_seconds(delay), errors, lasting, seed)
    with messages().status(f"opening {printable(web)}"):
        opened = _opened(web)
    with ExitStack() as files:
        text = None if robots is None else _robots(robots)
        lines = None if log is None else files.enter_context(_log(log))
        proxy = Proxy(response_source(opened), text, faults, lines)
        asyncio.run(_until_stopped(proxy, opened, host, port))


def _opened(web: str) -> Web:
    """Open a web; for a run, that of its pages."""
    if not is_run(Path(web)):
        return open_web(web)
    pages = web_of(Path(web))
    if pages is None:
        raise ArchiveError(
            f'{web}: kept no pages, so there is nothing to serve; crawl with live.keep = "pages"'
        )
    return pages


def _seconds(delay: str) -> tuple[float, float]:
    """`0.2` is (0.2, 0.2), `0.05..0.2` is (0.05, 0.2)."""
    first, dots, last = delay.partition("..")
    try:
        low, high = float(first), float(last if dots else first)
    except ValueError:
        low = high = math.nan
    if not 0 <= low <= high <= MAX_DELAY:
        raise ConfigError(f"--delay must be seconds, as in 0.2 or 0.05..0.2, not {delay!r}")
    return low, high


def _robots(path: Path) -> bytes:
    try:
        return files.content(path)
    except OSError as error:
        raise ConfigError(f"--robots: cannot read {path} ({error.strerror}); check it") from None


def _log(path: Path) -> TextIO:
    """Open a log that is written line by line, so that its readers see every request at once."""
    try:
        return path.open("a", buffering=1, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"--log: cannot write {path} ({error.strerror}); check it") from None


async def _until_stopped(proxy: Proxy, web: Web, host: str, port: int) -> None:
    """Serve until a signal arrives."""
    stop = asyncio.Event()
    for kind in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(kind, stop.set)
    try:
        port = await proxy.start(host, port)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host}:{port} ({_reason(error)}); choose another --port, "
            "or --port 0 for any free one"
        ) from None
    click.echo(_introduction(web, host, port))
    await stop.wait()
    await proxy.close()
    click.echo("stopped")


def _reason(error: OSError) -> str:
    """Return why, without the address that asyncio repeats; name lookups have negative codes."""
    code = error.errno or 0
    return os.strerror(code) if code > 0 else str(error.strerror)


def _introduction(web: Web, host: str, port: int) -> str:
    address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    example = next(web.pages()).url
    return (
        f"serving {printable(web.name)} ({format_count(len(web), 'page')}) "
        f"as a proxy at {address}\n"
        f"try: curl -x {address} {example}\n"
        "stop: Ctrl-C"
    )
