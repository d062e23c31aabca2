"""What a shell offers when somebody presses Tab: names, runs and topic files.

A path is offered whole if it can be found from what is typed so far, one directory further
down at most; where there is none, the shell completes paths by its own rules.
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
    """Offers those of a few names that begin as typed; what is valid is checked elsewhere."""

    def complete(
        ctx: click.Context, parameter: click.Parameter, typed: str
    ) -> list[CompletionItem]:
        known = names() if callable(names) else names
        return [CompletionItem(name) for name in known if name.startswith(typed)]

    return complete


def runs(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offers run directories."""
    found = (path for path in _near(typed) if is_run(path))
    return _offered(found, typed) or [CompletionItem(typed, type="dir")]


def topic_files(ctx: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Offers files that end as topic files do."""
    found = (path for path in _near(typed) if path.suffix == ".toml" and path.name != CONFIG)
    return _offered(found, typed) or [CompletionItem(typed, type="file")]


def _near(typed: str) -> Iterator[Path]:
    """Everything in the directory that is typed so far, and in the directories there."""
    start = Path(os.path.dirname(typed))
    for path in _listed(start):
        yield path
        yield from _listed(path)


def _listed(directory: Path) -> list[Path]:
    try:
        return sorted(path for path in directory.iterdir() if not path.name.startswith("."))
    except OSError:  # no directory, or none that we may read: nothing to offer
        return []


def _offered(paths: Iterable[Path], typed: str) -> list[CompletionItem]:
    """Paths that begin as typed, if a shell can take them as they are."""
    return [
        CompletionItem(text)
        for text in map(str, paths)
        if text.startswith(typed) and shlex.quote(text) == text
    ]
