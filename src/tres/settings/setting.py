"""Settings that explain themselves: how the sections of the topic file are defined.

A section is a frozen dataclass whose fields are made by `setting`: a check, a sentence
of documentation and a default, all in one line. Everything else follows from these
three: validation (an invalid section cannot exist), messages that say what is valid,
and the commented file that `to_toml` writes.

A check takes the value in the file and returns the value to use, or raises `ValueError`
with the end of the sentence "<key> ...".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, TypeVar, cast
from urllib.parse import urlsplit

from tres.errors import ConfigError
from tres.numbers import format_count

LONGEST_TEXT, LONGEST_TERM = 10_000, 100
"""Characters of a setting that is text, and of a keyword or phrase."""

T = TypeVar("T")
Name = TypeVar("Name", bound=str)
Check = Callable[[object], T]


def setting(check: Check[T], doc: str, default: Any = MISSING) -> T:
    """Define one field of a section; without a default it is required."""
    return cast(T, field(default=default, metadata={"check": check, "doc": doc}))


@dataclass(frozen=True, kw_only=True)
class Section:
    """A table of settings, checked when it is made."""

    NAME: ClassVar[str]

    def __init_subclass__(cls, name: str) -> None:
        cls.NAME = name

    def __post_init__(self) -> None:
        for key in fields(self):
            try:
                value = key.metadata["check"](getattr(self, key.name))
            except ValueError as problem:
                raise ConfigError(f"{self.NAME}.{key.name} {problem}") from None
            object.__setattr__(self, key.name, value)

    def to_toml(self) -> Iterator[str]:
        """The lines of this section, each setting with its meaning above it."""
        yield f"[{self.NAME}]"
        for key in fields(self):
            value = getattr(self, key.name)
            yield f"# {key.metadata['doc']}"
            yield f"# {key.name} is not set" if value is None else f"{key.name} = {toml(value)}"


# Checks


def text(value: object, longest: int = LONGEST_TEXT) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {shown(value)}")
    if not (written := value.strip()):
        raise ValueError("must not be empty")
    if len(written) > longest:
        raise ValueError(f"must have at most {longest:,} characters, not {len(written):,}")
    return written


def term(value: object) -> str:
    """Check a word or a phrase; longer ones are on no page, and slow to look for."""
    return text(value, LONGEST_TERM)


def truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {shown(value)}")
    return value


def flat_list(
    item: Check[T], what: str, *, least: int = 0, most: int | None = None
) -> Check[tuple[T, ...]]:
    """Return a check for a list whose items all pass `item`."""

    def check(value: object) -> tuple[T, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"must be a list of {what}, not {shown(value)}")
        if len(value) < least:
            raise ValueError(
                f"must be a list of {what} with at least {format_count(least, 'item')}"
            )
        if most is not None and len(value) > most:
            raise ValueError(f"must be a list of {what} with at most {format_count(most, 'item')}")
        try:
            return tuple(item(each) for each in value)
        except ValueError as problem:
            raise ValueError(f"must be a list of {what}: each {problem}") from None

    return check


def whole(low: int, high: int | None = None) -> Check[int]:
    """Return a check for a whole number in a closed range."""
    valid = f"of at least {low}" if high is None else f"from {low} to {high}"

    def check(value: object) -> int:
        number = value if isinstance(value, int) and not isinstance(value, bool) else None
        if number is None or number < low or (high is not None and number > high):
            raise ValueError(f"must be a whole number {valid}, not {shown(value)}")
        return number

    return check


def number(valid: str, test: Callable[[float], bool]) -> Check[float]:
    """Return a check for a real number; `valid` says in words what `test` asks."""

    def check(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not test(value):
            raise ValueError(f"must be a number {valid}, not {shown(value)}")
        return float(value)

    return check


def choice(names: tuple[Name, ...]) -> Check[Name]:
    """Return a check for one of a few names."""

    def check(value: object) -> Name:
        for name in names:
            if name == value:
                return name
        raise ValueError(f"must be one of {', '.join(names)}, not {shown(value)}")

    return check


def web_address(value: object) -> str:
    address = text(value)
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good or not address.isprintable() or " " in address:
        raise ValueError(f"must start with http:// or https:// and name a host, not {shown(value)}")
    return address


def existing_path(value: object) -> Path | None:
    """Check a file or directory that exists; None if the setting is not used.

    The path becomes absolute, so that the copy in a run directory means the same file.
    """
    if value is None:
        return None
    path = value if isinstance(value, Path) else Path(text(value))
    if not is_there(path):
        raise ValueError(f"names {path}, which does not exist")
    return path.absolute()


def is_there(path: Path) -> bool:
    """Whether a file or directory exists."""
    try:
        return path.exists()
    except (OSError, ValueError):  # a name that no file can have
        return False


# Messages


def shown(value: object) -> str:
    """Return a wrong value as a message shows it: short, and harmless in a terminal."""
    written = "a section" if isinstance(value, dict) else repr(value)
    return written if len(written) <= 60 else f"{written[:57]}..."


def nearest(wrong: str, valid: Iterable[str]) -> str | None:
    """Return the valid name that is spelt most like `wrong`, if one is similar."""
    return next(iter(get_close_matches(wrong[:100], list(valid), n=1)), None)


def toml(value: object) -> str:
    """Return a value as TOML. Text is written as JSON, which is nearly TOML's basic string."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case tuple():
            return f"[{', '.join(toml(each) for each in value)}]"
        case _:
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
