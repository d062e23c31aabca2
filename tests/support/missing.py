"""What not every machine has. Tests that need it are skipped, and `make test` says so at its end.

Such a test gives the reason `needs THING: why`, so that the summary can count by thing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NoReturn

import pytest

NEEDS = "needs "


def reason_for(thing: str, why: str = "") -> str:
    """The reason of a test that is skipped for want of `thing`."""
    return f"{NEEDS}{thing}: {why}" if why else f"{NEEDS}{thing}"


def skip_without(thing: str, why: str = "") -> NoReturn:
    """Skip the test that runs now: `thing` is missing."""
    pytest.skip(reason_for(thing, why))


def need_package(name: str) -> Any:
    """A module; without it, the test that runs now or the module that is being read is skipped."""
    package = name.partition(".")[0]
    return pytest.importorskip(name, reason=reason_for(f"the package {package}"))


def summary(reasons: Iterable[str]) -> list[str]:
    """One line per missing thing, with the number of tests (or modules of tests) that wanted it."""
    counted = Counter(_thing(reason) for reason in reasons)
    return [f"{thing}: {number} skipped" for thing, number in counted.most_common()]


def _thing(reason: str) -> str:
    reason = reason.removeprefix("Skipped: ")
    if reason.startswith(NEEDS):
        return reason.removeprefix(NEEDS).partition(":")[0]
    return f"other reasons ({reason})"
