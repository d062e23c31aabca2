"""Orders to a crawl that is running: small files in `RUN/orders/`, its inbox.

    01763280000123456789-0f3a9c52.json     {"order": "block", "site": "example.org"}

Any process may write, without locks: an order is written under another name and renamed when it
is complete, so that half an order is never read, and its name sorts by the time at which it was
given. The crawl reads the files in that order, and removes each when it is carried out. An order
names a state, not a change: carried out twice, as by a crawl that is killed in between, it does
no harm.

A file that cannot be read is renamed, with a warning in the log; it never ends a crawl. Neither
does a directory that has filled up: one look reads some orders and leaves the rest to the next.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import msgspec

from tres.errors import ConfigError, RunError, printable
from tres.files.durable import replace_file

ORDERS = "orders"
MOST = 1_000
"""Maximum number of orders waiting in the inbox."""
AT_ONCE = 100
"""Orders read each time the inbox is checked."""
ENTRIES = 10_000
"""Directory entries considered each time."""
LARGEST = 4_000
"""Bytes of the largest order."""

_SITE = re.compile(r"\S{1,300}")
_DIGEST = re.compile(r"[0-9a-f]{12,128}")
_ORDER, _REFUSED = ".json", ".refused"

_log = logging.getLogger(__name__)


class _Order(msgspec.Struct, frozen=True, tag_field="order", tag=str.lower):
    """An order in JSON is an object with the name of its class and its fields."""


class Pause(_Order, frozen=True):
    """Request nothing new; fetches in flight may still return."""


class Continue(_Order, frozen=True):
    """End a pause."""


class Stop(_Order, frozen=True):
    """End the crawl as the first interrupt from the keyboard does."""


class Budget(_Order, frozen=True):
    """Change the budget: pages of the whole crawl."""

    pages: int

    def __post_init__(self) -> None:
        if type(self.pages) is not int or not 1 <= self.pages < 2**53:
            raise ConfigError(f"{self.pages!r} is not a budget; give a number of pages, at least 1")


class Block(_Order, frozen=True):
    """Fetch nothing more from a site, named as the crawl names sites."""

    site: str

    def __post_init__(self) -> None:
        if not _is_written(self.site, _SITE):
            raise ConfigError(f"{self.site!r:.50} is not a site; name a host such as example.org")


class Adopt(_Order, frozen=True):
    """Judge pages by the model with this digest, which is in the run directory."""

    model: str

    def __post_init__(self) -> None:
        if not _is_written(self.model, _DIGEST):
            raise ConfigError(f"{self.model!r:.50} is not the digest of a model")


Order = Pause | Continue | Stop | Budget | Block | Adopt
KINDS: dict[str, type[Order]] = {kind.__name__.lower(): kind for kind in get_args(Order)}
OF_THE_MOMENT = (Pause, Continue, Stop)
"""Orders that have no meaning for a crawl that starts after they were given."""


def order_named(values: dict[str, Any], known: Collection[str] = KINDS) -> Order:
    """Return the order in an untrusted dictionary; `ConfigError` if it is not one of the `known`.

    >>> order_named({"order": "budget", "pages": 500})
    Budget(pages=500)
    """
    match values:
        case {"order": str(name), **rest} if name in known:
            kind = KINDS[name]
        case _:
            raise ConfigError(f"it names no order; the orders are {', '.join(known)}")
    if rest.keys() != set(kind.__struct_fields__):
        needed = " and ".join(kind.__struct_fields__) or "nothing else"
        raise ConfigError(f"the order {name!r} goes with {needed}")
    return kind(**rest)


@dataclass(frozen=True, slots=True)
class OrderFile:
    """An order in its file, which stays until it is carried out."""

    file: Path
    order: Order

    def done(self) -> None:
        """Remove an order that was carried out."""
        self.file.unlink(missing_ok=True)

    def refuse(self, reason: str) -> None:
        """Set aside an order that cannot be carried out, with a warning in the log."""
        _set_aside(self.file, reason)


def send(run: Path, order: Order, clock: Callable[[], int] = time.time_ns) -> None:
    """Put an order into the inbox of a run; `RunError` if it cannot be written."""
    inbox = run / ORDERS
    name = f"{clock():020d}-{secrets.token_hex(4)}"
    try:
        inbox.mkdir(exist_ok=True)
        if len(_waiting(inbox)) >= MOST:
            raise RunError(
                f"{inbox}: {MOST:,} orders wait there already; let a crawl carry them out "
                "('tres resume'), or delete the files in that directory"
            )
        replace_file(inbox / f"{name}{_ORDER}", msgspec.json.encode(order), durable=False)
    except OSError as error:
        reason = error.strerror or error
        raise RunError(f"{inbox}: the order cannot be written ({reason})") from error


def take(run: Path, most: int = AT_ONCE) -> Iterator[OrderFile]:
    """Iterate over the waiting orders, oldest first; files that are not orders are set aside."""
    for file in nsmallest(most, _waiting(run / ORDERS)):
        try:
            order = order_named(msgspec.json.decode(_content(file)))
        except FileNotFoundError:
            continue  # another process has removed it
        except (OSError, ValueError, RecursionError, ConfigError) as problem:
            _set_aside(file, str(problem))
        else:
            yield OrderFile(file, order)


def forget(run: Path, *kinds: type[Order]) -> None:
    """Remove the orders of these kinds, which have become pointless."""
    for order_file in take(run, ENTRIES):
        if isinstance(order_file.order, kinds):
            order_file.done()


def ordered_budget(run: Path) -> int | None:
    """Return the budget that was ordered but is not in force yet, if any."""
    orders = (order_file.order for order_file in take(run, ENTRIES))
    budgets = [order.pages for order in orders if isinstance(order, Budget)]
    return budgets[-1] if budgets else None


def _waiting(inbox: Path) -> list[Path]:
    try:
        with os.scandir(inbox) as entries:
            names = [entry.name for entry in islice(entries, ENTRIES)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [inbox / name for name in names if name.endswith(_ORDER)]


def _content(file: Path) -> bytes:
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it is longer than {LARGEST:,} bytes")
    return content


def _is_written(value: object, form: re.Pattern[str]) -> bool:
    """Orders come from outside, so a name may be anything."""
    return isinstance(value, str) and value.isprintable() and bool(form.fullmatch(value))


def _set_aside(file: Path, reason: str) -> None:
    _log.warning("%s", printable(f"the order {file} was not carried out: {reason}"))
    with suppress(OSError):  # then the next look warns again
        file.replace(file.with_suffix(_REFUSED))
