"""Failed logins: an address that sends wrong tokens must wait, longer each time.

A few slips cost nothing. Then the wait doubles, up to a minute, and until it is over no token from
that address is compared at all, right or wrong, so that guessing faster does not help. Browsers
with the cookie are not affected. A wrong token that comes again counts once: a forgotten program
with an old token does not lock out everybody who shares its address. IPv6 addresses are counted by
network, because one machine can have any number of them. What is remembered is bounded; the oldest
goes first.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address

FREE_ATTEMPTS = 5
"""Wrong tokens that cost nothing."""
LONGEST_WAIT = 60.0
"""Seconds."""
MOST_COUNTED = FREE_ATTEMPTS + 6
"""Wrong tokens after which the wait is the longest; more are not counted."""
FORGIVEN = 600.0
"""Seconds after which the last wrong token is forgotten."""
MOST = 1_000
"""Addresses that are remembered."""


@dataclass(slots=True)
class FailedLogins:
    """The wrong tokens of one address: how many, and when the last new one came."""

    last: float
    number: int = 0
    first: set[int] = field(default_factory=set)

    def add(self, token: int, now: float) -> None:
        """Count a new token, up to `MOST_COUNTED`."""
        if token in self.first:
            return
        if len(self.first) < FREE_ATTEMPTS:
            self.first.add(token)
        self.number, self.last = min(self.number + 1, MOST_COUNTED), now


@dataclass(slots=True)
class LoginAttempts:
    """The failed logins of each address."""

    clock: Callable[[], float] = time.monotonic
    _wrong: dict[str, FailedLogins] = field(default_factory=dict)

    def wait(self, address: str) -> float:
        """Return how many seconds this address must wait; 0 for most."""
        wrong = self._wrong.get(_source(address))
        if wrong is None or wrong.number < FREE_ATTEMPTS:
            return 0.0
        wait = min(LONGEST_WAIT, 2.0 ** (wrong.number - FREE_ATTEMPTS))
        return max(0.0, wrong.last + wait - self.clock())

    def failed(self, address: str, token: str) -> None:
        """Record a wrong token."""
        source, now = _source(address), self.clock()
        wrong = self._wrong.pop(source, None)
        if wrong is None or now - wrong.last >= FORGIVEN:
            wrong = FailedLogins(now)
        wrong.add(hash(token), now)
        self._wrong[source] = wrong
        if len(self._wrong) > MOST:
            del self._wrong[next(iter(self._wrong))]


def _source(address: str) -> str:
    """What is counted: an IPv4 address, or the network of an IPv6 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is None:
        return f"{int(parsed) >> 64:x}"
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
