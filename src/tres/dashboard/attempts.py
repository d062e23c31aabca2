"""Wrong tokens: whoever gives several must wait, longer each time, before the next is looked at.

A few slips cost nothing. Then the wait doubles, up to a minute, and while it lasts no token from
that address is compared at all, right or wrong, so nothing is learnt by asking faster. Who has the
cookie is not concerned. Addresses are counted one by one, those of IPv6 by network, because one
machine has as many of them as it likes; what is remembered is bounded, the oldest goes first.
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
FORGIVEN = 600.0
"""Seconds after which the last wrong token is forgotten."""
MOST = 1_000
"""Addresses that are remembered."""


@dataclass(slots=True)
class Attempts:
    """How often each address has given a wrong token, and when it did last."""

    clock: Callable[[], float] = time.monotonic
    _wrong: dict[str, tuple[int, float]] = field(default_factory=dict)

    def wait(self, address: str) -> float:
        """Seconds until a token from this address is looked at; 0 for most."""
        number, last = self._wrong.get(_source(address), (0, 0.0))
        if number < SLIPS:
            return 0.0
        return max(0.0, last + min(LONGEST, 2.0 ** (number - SLIPS)) - self.clock())

    def failed(self, address: str) -> None:
        """One wrong token more."""
        source, now = _source(address), self.clock()
        number, last = self._wrong.pop(source, (0, now))
        self._wrong[source] = (number + 1 if now - last < FORGIVEN else 1), now
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
