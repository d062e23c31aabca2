"""Wrong tokens: whoever gives several must wait, longer each time, before the next is looked at.

A few slips cost nothing. Then the wait doubles, up to a minute, and while it lasts no token from
that address is compared at all, right or wrong, so nothing is learnt by asking faster. Who has the
cookie is not concerned. A wrong token that was given before is no guess: a forgotten program that
sends an old one again and again does not keep out whoever shares its address. Addresses are counted
one by one, those of IPv6 by network, because one machine has as many of them as it likes; what is
remembered is bounded, the oldest goes first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address

SLIPS = 5
"""Wrong tokens that cost nothing."""
LONGEST = 60.0
"""Seconds of waiting, at most."""
ENOUGH = SLIPS + 6
"""Wrong tokens after which the wait is the longest; more are not counted."""
FORGIVEN = 600.0
"""Seconds after which the last wrong token is forgotten."""
MOST = 1_000
"""Addresses that are remembered."""


@dataclass(slots=True)
class Wrong:
    """What came from one address: how many wrong tokens, and when the last new one."""

    last: float
    number: int = 0
    first: set[int] = field(default_factory=set)

    def add(self, token: int, now: float) -> None:
        """Count a token that is new; beyond `ENOUGH` the wait is the longest anyway."""
        if token in self.first:
            return
        if len(self.first) < SLIPS:
            self.first.add(token)
        self.number, self.last = min(self.number + 1, ENOUGH), now


@dataclass(slots=True)
class Attempts:
    """How often each address has given a wrong token, and when it did last."""

    clock: Callable[[], float] = time.monotonic
    _wrong: dict[str, Wrong] = field(default_factory=dict)

    def wait(self, address: str) -> float:
        """Seconds until a token from this address is looked at; 0 for most."""
        wrong = self._wrong.get(_source(address))
        if wrong is None or wrong.number < SLIPS:
            return 0.0
        return max(0.0, wrong.last + min(LONGEST, 2.0 ** (wrong.number - SLIPS)) - self.clock())

    def failed(self, address: str, token: str) -> None:
        """A wrong token; one more if it is not one of the first that came from there."""
        source, now = _source(address), self.clock()
        wrong = self._wrong.pop(source, None)
        if wrong is None or now - wrong.last >= FORGIVEN:
            wrong = Wrong(now)
        wrong.add(hash(token), now)
        self._wrong[source] = wrong
        if len(self._wrong) > MOST:
            del self._wrong[next(iter(self._wrong))]


def _source(address: str) -> str:
    """Whom an address stands for."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return f"{int(parsed) >> 64:x}"
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
