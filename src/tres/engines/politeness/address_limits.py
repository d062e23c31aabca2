"""Politeness towards servers: many sites may share one network address.

A server with a thousand names is one server. An address therefore gets as many requests as
`per_address` sites would: that many times the requests in flight that one site may have, and that
many starts within the delay of one site. This is gentle on a small server, and does not hold up a
crawl of a large one for ever: at the default delay an address gets four pages a second.

`set_address` says once for each site where it is, as soon as that is known. Nothing here reads a
clock: callers pass the time in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf

from tres.engines.politeness.ready_times import ReadyTimes
from tres.settings.sections import LiveSection


@dataclass(slots=True)
class _Address:
    name: str
    start: float = -inf
    in_flight: int = 0
    ready: float = -inf
    sites: list[str] = field(default_factory=list)


class AddressLimits:
    """Which sites must wait because of others at their address."""

    def __init__(self, settings: LiveSection) -> None:
        self._limited = settings.per_address > 0
        self._most = settings.per_address * settings.per_site
        self._gap = settings.delay / max(settings.per_address, 1)
        self._addresses: dict[str, _Address] = {}
        self._of: dict[str, _Address] = {}
        self._times = ReadyTimes()

    def lacks_address(self, site: str) -> bool:
        """Does the address of the site matter, and is it unknown?"""
        return self._limited and site not in self._of

    def set_address(self, site: str, address: str, in_flight: int, now: float) -> bool:
        """Note the address of a site and of its requests; return whether the last may go out."""
        if not self.lacks_address(site):
            return True
        known = self._addresses.setdefault(address, _Address(address))
        ready = known.ready <= now
        known.sites.append(site)
        self._of[site] = known
        known.in_flight += in_flight
        self._update(known, max(known.start, now) if ready else known.start, now)
        return ready

    def request_started(self, site: str, now: float) -> None:
        """Count a request to the site that starts now."""
        if (known := self._of.get(site)) is not None:
            known.in_flight += 1
            self._update(known, max(known.start, now), now)

    def request_sent(self, site: str, now: float) -> None:
        """Note that a request to the site goes out now, or will at this time."""
        if (known := self._of.get(site)) is not None and known.start < now:
            self._update(known, now, now)

    def request_finished(self, site: str, now: float) -> None:
        """Count a request to the site that has ended."""
        if (known := self._of.get(site)) is not None:
            known.in_flight = max(0, known.in_flight - 1)
            self._update(known, known.start, now)

    def waiting(self, now: float) -> Iterator[str]:
        """Yield the sites at addresses that must not get a request now."""
        for name in self._times.waiting(now):
            yield from self._addresses[name].sites

    def turn_at(self, site: str) -> float:
        """Return when a flight may send one more request to the address of the site."""
        known = self._of.get(site)
        return -inf if known is None else known.start + self._gap

    def ready_at(self, site: str) -> float:
        """Return when the address of the site is ready; infinite if a request must finish first."""
        known = self._of.get(site)
        return -inf if known is None else known.ready

    def next_change(self, now: float) -> float | None:
        """Return the earliest time at which an address becomes ready by itself."""
        first = self._times.first(now)
        return None if first is None else first[0]

    def _update(self, known: _Address, start: float, now: float) -> None:
        known.start = start
        known.ready = inf if known.in_flight >= self._most else start + self._gap
        self._times.set(known.name, known.ready, now)
