"""Completions that a shell offers when Tab is pressed: names, runs and topic files.

A path is offered whole if it lies at most one directory below what is typed so far; if there is
none, the shell completes paths by its own rules.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from tres.store.run_directory import CONFIG, is_run

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def one_of(names: Iterable[str] | Callable[[], Iterable[str]]) -> Completion:
    """Return a completion that offers the names beginning as typed."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, typed: str
    ) -> list[CompletionItem]:
        known = names() if callable(names) else names
        return [CompletionItem(name) for name in known if name.startswith(typed)]

    return complete


def runs(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer run directories."""
    found = (path for path in _near(typed) if is_run(path))
    return _offered(found, typed) or [CompletionItem(typed, type="dir")]


def topic_files(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offer topic files: .toml, but not the config.toml of a run."""
    found = (path for path in _near(typed) if path.suffix == ".toml" and path.name != CONFIG)
    return _offered(found, typed) or [CompletionItem(typed, type="file")]


def _near(typed: str) -> Iterator[Path]:
    """Yield everything in the directory typed so far, and in the directories there."""
    start = Path(os.path.dirname(typed))
    for path in _listed(start):
        yield path
        yield from _listed(path)


def _listed(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    except OSError:  # not a directory, or not a readable one
        return []


def _offered(paths: Iterable[Path], typed: str) -> list[CompletionItem]:
    """Return the paths that begin as typed and need no quoting in a shell."""
    return [
        CompletionItem(text)
        for text in map(str, paths)
        if text.startswith(typed) and shlex.quote(text) == text
    ]
