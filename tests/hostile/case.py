"""A case: one host that does one thing wrong, and what a crawler must make of it.

A case is a module in `tests/hostile/cases` with

- a docstring that says what is wrong;
- `async def handle(wire)`: answers every request to the host, robots.txt excepted;
- `WIRE`: a pattern of what a client sees that asks for `/` (see `tests/hostile/test_server.py`);
- `EXPECT`: what a crawler must report for the page `/`: "page", or the value of a failure
  (`tres.web.page.FailureKind`), or a tuple where several are right;

and, if it needs them,

- `async def robots(wire)`: answers for robots.txt (otherwise there is none: 404), and `ROBOTS`,
  the pattern of what a client sees there;
- `ALSO`: what must be reported for other URLs, by path or by absolute URL, if they are asked for;
- `NEVER`: URLs or parts of them that must never be reported at all, as page or as failure;
- `AT_MOST`: how many requests the host may get in a crawl, robots.txt and retries included.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from tests.hostile import cases
from tests.hostile.wire import Wire

Handler = Callable[[Wire], Awaitable[None]]
PAGE = "page"
USUAL_REQUESTS = 20


async def no_robots(wire: Wire) -> None:
    """There is no robots.txt."""
    await wire.reply(b"", status="404 Not Found")


@dataclass(frozen=True)
class Case:
    """A host of the hostile web."""

    name: str
    about: str
    host: str
    handle: Handler
    expect: tuple[str, ...]
    wire: str
    robots: Handler = no_robots
    robots_wire: str = "^HTTP/1.1 404 "
    also: dict[str, tuple[str, ...]] = field(default_factory=dict)
    never: tuple[str, ...] = ()
    at_most: int = USUAL_REQUESTS

    def answer(self, path: str) -> Handler:
        """Who answers for a path."""
        return self.robots if path == "/robots.txt" else self.handle


def all_cases() -> list[Case]:
    """Every case, each on an address of its own, in the order of their names."""
    names = sorted(module.name for module in pkgutil.iter_modules(cases.__path__))
    return [_case(name, f"127.0.2.{number}") for number, name in enumerate(names, start=1)]


def _case(name: str, host: str) -> Case:
    module = importlib.import_module(f"{cases.__name__}.{name}")
    return Case(
        name,
        (module.__doc__ or "").strip(),
        host,
        module.handle,
        _kinds(module.EXPECT),
        module.WIRE,
        getattr(module, "robots", no_robots),
        getattr(module, "ROBOTS", Case.robots_wire),
        {url: _kinds(kinds) for url, kinds in getattr(module, "ALSO", {}).items()},
        tuple(getattr(module, "NEVER", ())),
        getattr(module, "AT_MOST", USUAL_REQUESTS),
    )


def _kinds(given: str | tuple[str, ...]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else given
