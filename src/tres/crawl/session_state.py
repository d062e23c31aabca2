"""The whole state of a session as plain arrays and values, and back.

A session is a graph of objects: columns, names, networks, a tree, generators of random
numbers. `capture` walks it and records every part under its path, such as
`session.policy.rows._url`. `restore` walks a *fresh* session of the same configuration and
puts every part back in its place. As the fresh session was built by the same code, what is
shared in it (rows, counts, generators) is shared as it should be.

There are three kinds of parts:

- *objects* of tres or of the policy's package, and the columns, names and generators in them, have
  an identity: each is visited once and filled in place;
- *values* (numbers, text, containers, arrays, the classes in `VALUES` and those that the policy
  declares as its `snapshot_types`) are rebuilt;
- what cannot change in a crawl (`FIXED`: settings, schemas, functions, the graph of a web) is left
  to the fresh session.

Anything else is a TypeError at capture, so that no new field can be forgotten. A state that does
not fit raises ValueError; discard the session then.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tres.crawl.frontier_limits import LinkLimits, Reached
from tres.crawl.session import CrawlSession
from tres.mdp.columns import Column
from tres.mdp.feature_schema import Schema
from tres.mdp.names import Names
from tres.mdp.transitions import Choice
from tres.policies.registry import info_of
from tres.policies.setup import WebGraph
from tres.settings.setting import Section
from tres.settings.site_caps import SiteCap
from tres.web.page import FailureKind
from tres.web.search_engine import SearchEngine

Array = NDArray[Any]
State = dict[str, Any]
"""Paths to arrays, or to what JSON can hold."""

FIXED = (
    *(Section, SiteCap, LinkLimits, Schema, WebGraph, SearchEngine),
    *(FunctionType, MethodType, partial),
)
VALUES = (Choice, FailureKind, Reached)
CONTAINERS: dict[str, Callable[[Any], Any]] = {
    kind.__name__: kind for kind in (list, tuple, deque, set, frozenset)
}
MAPPINGS: dict[str, Callable[[Any], Any]] = {kind.__name__: kind for kind in (dict, Counter)}
SCALARS = (type(None), bool, int, float, str)
OF_THE_PROCESS = {"_interrupted"}
"""A signal may come while a snapshot is taken: it ends this process, not the crawl for good."""
ROOT = "session"


def capture(session: CrawlSession) -> State:
    """Return the state of a session; later steps do not change it."""
    walk = _Capture(session)
    walk.visit(ROOT, session)
    return walk.state


def restore(session: CrawlSession, state: State) -> None:
    """Give a fresh session the state of another one; ValueError if it does not fit."""
    walk = _Restore(session, dict(state))
    try:
        walk.visit(ROOT, session)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"the state does not fit: {error!r}") from None
    if walk.state:
        raise ValueError(f"the state holds {min(walk.state)}, the session does not")


def _attributes(thing: object) -> Iterator[str]:
    """Yield the names of an object's attributes, in a fixed order."""
    slots = [name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())]
    yield from sorted({*slots, *getattr(thing, "__dict__", {})} - OF_THE_PROCESS)


class _Walk:
    """Which classes the parts of a session may have."""

    def __init__(self, session: CrawlSession) -> None:
        policy = session.policy
        kinds = (*VALUES, *info_of(policy).snapshot_types)
        self.values: dict[str, type] = {kind.__name__: kind for kind in kinds}
        self.packages = {"tres", type(policy).__module__.partition(".")[0]}

    def is_object(self, thing: object) -> bool:
        """Whether its class belongs to tres or the policy, and its instances change in a crawl."""
        kind = type(thing)
        parameters = getattr(kind, "__dataclass_params__", None)
        unchanging = issubclass(kind, tuple | str) or (parameters and parameters.frozen)
        return kind.__module__.partition(".")[0] in self.packages and not unchanging


class _Capture(_Walk):
    """A walk over a session that records what it finds."""

    def __init__(self, session: CrawlSession) -> None:
        super().__init__(session)
        self.state: State = {}
        self._places: dict[int, str] = {}

    def visit(self, path: str, thing: Any) -> None:
        if isinstance(thing, FIXED):
            return
        if not isinstance(thing, SCALARS):
            first = self._places.setdefault(id(thing), path)
            if first != path:
                self.state[path] = ["same", first]
                return
        match thing:
            case Column():
                self.state[path] = thing.view.copy()
            case Names():
                self._names(path, thing)
            case np.random.Generator():
                self.state[path] = ["random", thing.bit_generator.state]
            case np.ndarray():
                self.state[path] = thing.copy()
            case _ if self.is_object(thing):
                self.state[path] = ["object", type(thing).__name__]
                for name in _attributes(thing):
                    self.visit(f"{path}.{name}", getattr(thing, name))
            case _:
                self.state[path] = self._value(path, thing)

    def _names(self, path: str, names: Names) -> None:
        """Record the names end to end, and the length of each."""
        texts = [name.encode("utf-8", "surrogatepass") for name in names]
        self.state[path] = np.frombuffer(b"".join(texts), np.uint8)
        self.state[f"{path}.lengths"] = np.array([len(text) for text in texts], np.int32)

    def _value(self, path: str, thing: Any) -> Any:
        """Return a value as JSON can hold it; arrays are recorded beside it."""
        kind = type(thing)
        if kind in SCALARS:
            return thing
        if isinstance(thing, np.ndarray | np.generic):
            shape = "array" if kind is np.ndarray else "scalar"
            return [shape, self._beside(path, np.array(thing))]
        if self.values.get(kind.__name__) is kind:
            return [kind.__name__, [self._value(path, part) for part in _parts(thing)]]
        if kind in (dict, Counter):
            pairs = [(self._value(path, k), self._value(path, v)) for k, v in thing.items()]
            return [kind.__name__, pairs]
        if kind is list and (table := _as_table(thing)) is not None:
            return ["table", [self._beside(path, column) for column in table]]
        if kind in (list, tuple, deque, set, frozenset):
            parts = sorted(thing) if kind in (set, frozenset) else thing
            return [kind.__name__, [self._value(path, part) for part in parts]]
        raise TypeError(f"{path}: a snapshot cannot hold a {kind.__module__}.{kind.__qualname__}")

    def _beside(self, path: str, array: Array) -> str:
        place = f"{path}#{len(self.state)}"
        self.state[place] = array
        return place


class _Restore(_Walk):
    """The same walk over a fresh session, filling it from the state."""

    def __init__(self, session: CrawlSession, state: State) -> None:
        super().__init__(session)
        self.state = state
        self._met: dict[str, Any] = {}

    def visit(self, path: str, fresh: Any) -> Any:
        """Return the value that the session is to have at a path."""
        if isinstance(fresh, FIXED):
            return fresh
        held = self.state.pop(path)
        if isinstance(held, list) and held[0] == "same":
            return self._met[held[1]]
        self._met[path] = thing = self._filled(path, fresh, held)
        return thing

    def _filled(self, path: str, fresh: Any, held: Any) -> Any:
        match fresh:
            case Column():
                fresh.replace(held)
            case Names():
                fresh.replace(_split(held, self.state.pop(f"{path}.lengths")))
            case np.random.Generator():
                fresh.bit_generator.state = held[1]
            case deque():
                return deque(self._value(held), fresh.maxlen)
            case _ if self.is_object(fresh):
                self._fill_object(path, fresh, held)
            case _:
                return held.copy() if isinstance(held, np.ndarray) else self._value(held)
        return fresh

    def _fill_object(self, path: str, fresh: Any, held: Any) -> None:
        if held != ["object", type(fresh).__name__]:
            raise ValueError(f"{path} is a {type(fresh).__name__}, the state has {held}")
        for name in _attributes(fresh):
            before = getattr(fresh, name)
            after = self.visit(f"{path}.{name}", before)
            if after is not before:
                setattr(fresh, name, after)

    def _value(self, held: Any) -> Any:
        if not isinstance(held, list):
            return held
        kind, parts = held
        if kind == "array":
            return self.state.pop(parts).copy()
        if kind == "scalar":
            return self.state.pop(parts)[()]
        if kind == "table":
            return list(zip(*(self.state.pop(place).tolist() for place in parts), strict=True))
        if kind in MAPPINGS:
            return MAPPINGS[kind]({self._value(k): self._value(v) for k, v in parts})
        made = [self._value(part) for part in parts]
        return CONTAINERS[kind](made) if kind in CONTAINERS else self.values[kind](*made)


def _parts(thing: Any) -> list[Any]:
    """Return the arguments that rebuild a value."""
    if is_dataclass(thing):
        return [getattr(thing, part.name) for part in fields(thing)]
    return [str(thing)] if isinstance(thing, str) else list(thing)


def _as_table(rows: list[Any]) -> list[Array] | None:
    """Return a list of tuples of numbers, such as a heap, as one array per column."""
    if not rows or any(type(row) is not tuple for row in rows) or len(set(map(len, rows))) != 1:
        return None
    columns = list(zip(*rows, strict=True))
    kinds = [set(map(type, column)) for column in columns]
    if not all(kind in ({int}, {float}) for kind in kinds):
        return None
    return [np.array(column) for column in columns]


def _split(letters: Array, lengths: Array) -> list[str]:
    whole, ends = letters.tobytes(), np.cumsum(lengths).tolist()
    starts = [0, *ends]
    return [
        whole[start:end].decode("utf-8", "surrogatepass")
        for start, end in zip(starts, ends, strict=False)
    ]
