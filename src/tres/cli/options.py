"""Arguments and options that several commands share, and their completions in a shell.

A path is offered whole if it lies at most one directory below what is typed so far; if there is
none, the shell completes paths by its own rules.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tres.store.run_directory import CONFIG, is_run

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
Command = TypeVar("Command", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)
COUNT = click.IntRange(min=1)
SHARE = click.FloatRange(0, 1)


def one_of(names: Iterable[str] | Callable[[], Iterable[str]]) -> Completion:
    """Return a completion that offers the names beginning as typed."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, typed: str
    ) -> list[CompletionItem]:
        known = names() if callable(names) else names
        return [CompletionItem(name) for name in known if name.startswith(typed)]

    return complete


def complete_runs(
    ctx: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Offer run directories."""
    return _offer(filter(is_run, _near(typed)), typed) or [CompletionItem(typed, type="dir")]


def _complete_topics(
    ctx: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Offer topic files: .toml, but not the config.toml of a run."""
    found = (path for path in _near(typed) if path.suffix == ".toml" and path.name != CONFIG)
    return _offer(found, typed) or [CompletionItem(typed, type="file")]


def complete_runs_or_topics(
    ctx: click.Context, parameter: click.Parameter, typed: str
) -> list[CompletionItem]:
    """Offer run directories; if none begins as typed, topic files."""
    runs = _offer(filter(is_run, _near(typed)), typed)
    return runs or _complete_topics(ctx, parameter, typed)


def _near(typed: str) -> Iterator[Path]:
    """Yield everything in the directory typed so far, and in the directories there."""
    for path in _visible(Path(os.path.dirname(typed))):
        yield path
        yield from _visible(path)


def _visible(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    except OSError:  # not a directory, or not a readable one
        return []


def _offer(paths: Iterable[Path], typed: str) -> list[CompletionItem]:
    """Return the paths that begin as typed and need no quoting in a shell."""
    return [
        CompletionItem(text)
        for text in map(str, paths)
        if text.startswith(typed) and shlex.quote(text) == text
    ]


run_argument = click.argument("run", type=PATH, shell_complete=complete_runs)
moved_web = click.option("--web", metavar="WEB", help="Read pages from this web, if it has moved.")
labelled_web = click.option(
    "--web", metavar="WEB", help="Take the examples from the labels of this archive."
)
log_json_option = click.option(
    "--log-json", is_flag=True, help="Log the crawl as JSON, a line per event, on standard error."
)


def topic_argument(name: str) -> Callable[[Command], Command]:
    """Return the argument for a topic file or another file like it."""
    return click.argument(name, type=PATH, shell_complete=_complete_topics)


def number_option(name: str, default: int, help: str) -> Callable[[Command], Command]:
    """Return the option for a number of at least 1, with a default that its help shows."""
    return click.option(
        name, type=COUNT, default=default, show_default=True, metavar="N", help=help
    )


def host_option(other_hosts: str) -> Callable[[Command], Command]:
    """Return the option for the address of a server; the help says what others mean."""
    about = f"Listen on this address; {other_hosts}."
    return click.option(
        "--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help=about
    )


def port_option(default: int) -> Callable[[Command], Command]:
    """Return the option for the port of a server."""
    ports, about = click.IntRange(0, 65535), "Listen on this port; 0 for any free one."
    return click.option(
        "--port", type=ports, default=default, show_default=True, metavar="N", help=about
    )
