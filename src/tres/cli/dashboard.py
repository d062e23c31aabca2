"""`tres dashboard`: see and steer crawls in a browser."""

from __future__ import annotations

import os
import signal
import socket
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tres.distribution import pip_install
from tres.errors import ConfigError, printable

if TYPE_CHECKING:
    from tres.dashboard.run_list import Runs

HOME = Path("runs")
TOKEN = "TRES_DASHBOARD_TOKEN"


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN]...")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on; any but this machine's own needs a token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8042,
    show_default=True,
    metavar="N",
    help="Port to listen on; 0 for any free one.",
)
@click.option(
    "--token",
    envvar=TOKEN,
    metavar="TEXT",
    help="Ask for this token; for other hosts one is made up if none is given.",
)
@click.option("--open", "show", is_flag=True, help="Open a browser.")
def dashboard(runs: tuple[Path, ...], host: str, port: int, token: str | None, show: bool) -> None:
    """Show and steer crawls in a browser.

    Without RUN it shows all runs below ./runs, running and finished, and new ones as they appear.

    Example: tres dashboard --open
    """
    _check_installed()
    from tres.dashboard.run_list import Runs, named_runs
    from tres.dashboard.security import choose_token

    wanted = choose_token(host, token)
    os.environ.pop(TOKEN, None)  # no crawl that is started from here needs to know it
    found = Runs(time.monotonic, named_runs(runs), None if runs else HOME)
    with stopped_by_signals() as go_on, _listening(host, port) as listening:
        address = _address(host, listening.getsockname()[1], wanted)
        click.echo(f"dashboard: {printable(address)}\nstop: Ctrl-C")
        if show:
            webbrowser.open(address)
        _serve(found, host, wanted, listening, go_on)


@contextmanager
def stopped_by_signals() -> Iterator[Callable[[], bool]]:
    """From now on a signal ends the dashboard in good order, during its start-up as well.

    An interrupt may get lost while modules are imported (Python drops what is raised inside its own
    callbacks), so start-up asks once more whether it shall go on.
    """
    asked: list[int] = []

    def stop(number: int, _: object) -> None:
        asked.append(number)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with suppress(KeyboardInterrupt):
            yield lambda: not asked
        click.echo("stopped")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _serve(
    runs: Runs,
    host: str,
    token: str | None,
    listening: socket.socket,
    go_on: Callable[[], bool],
) -> None:
    from tres.dashboard.app import Dashboard
    from tres.dashboard.security import AccessRules
    from tres.dashboard.server import serve

    names = {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
    app = Dashboard(runs, AccessRules(names if token else {host.lower()}, token)).app()
    if go_on():
        serve(app, listening)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # who comes before we are ready waits, and is not refused
    except OSError as error:
        listening.close()
        raise ConfigError(
            f"cannot listen on {host}:{port} ({error.strerror}); choose another --port, "
            "or --port 0 for any free one"
        ) from None
    return listening


def _address(host: str, port: int, token: str | None) -> str:
    """What to type into a browser; the token is behind a `#`, where no server log sees it."""
    name = socket.gethostname() if host in ("0.0.0.0", "::") else host
    address = f"http://{f'[{name}]' if ':' in name else name}:{port}/"
    return address if token is None else f"{address}#token={token}"


def _check_installed() -> None:
    needed = ("starlette", "uvicorn", "chartkick", "prometheus_client")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"the dashboard needs {', '.join(missing)}, which is not installed: "
            f"{pip_install('dashboard')}"
        )
