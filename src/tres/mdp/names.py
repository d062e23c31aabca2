"""URLs and sites as small integers.

The learner sees only numbers and ids; this table is the one place where they meet
the strings they stand for. Ids are given in order of discovery, so one crawl always
gives the same ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Names:
    """A two-way table between strings and dense ids."""

    __slots__ = ("_ids", "_names")

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, identity: int) -> str:
        return self._names[identity]

    def __contains__(self, name: object) -> bool:
        return name in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def id(self, name: str) -> int:
        """Return the id of a name; a new name gets the next id."""
        known = self._ids.setdefault(name, len(self._names))
        if known == len(self._names):
            self._names.append(name)
        return known

    def ids(self, names: tuple[str, ...]) -> list[int]:
        """Return the ids of many names."""
        return [self.id(name) for name in names]

    def replace(self, names: Iterable[str]) -> None:
        """Replace all names by these, in this order."""
        self._names = list(names)
        self._ids = {name: i for i, name in enumerate(self._names)}
        if len(self._ids) != len(self._names):
            raise ValueError("a name occurs twice")
