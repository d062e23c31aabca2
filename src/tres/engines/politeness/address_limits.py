"""Politeness towards servers: many sites may be at one network address.

A server with a thousand names is one server. So an address is asked as `per_address` sites would
be: with so many times the requests in flight that a site may have, and so many requests in the
delay of a site. That is little for a server that is small, and does not hold up a crawl of a large
one for ever: at the default delay it is four pages a second for each address.

Which sites are at which address is told once for each (`locate`), as soon as it is known. Nothing
here reads a clock.
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

    def wants(self, site: str) -> bool:
        """Does it matter where a site is, and is that unknown?"""
        return self._limited and site not in self._of

    def locate(self, site: str, address: str, in_flight: int, now: float) -> bool:
        """The site is at this address, and so are its requests; may the last of them go out now?"""
        if not self.wants(site):
            return True
        known = self._addresses.setdefault(address, _Address(address))
        ready = known.ready <= now
        known.sites.append(site)
        self._of[site] = known
        known.in_flight += in_flight
        self._settle(known, max(known.start, now) if ready else known.start, now)
        return ready

    def depart(self, site: str, now: float) -> None:
        """A request to the site starts now."""
        if (known := self._of.get(site)) is not None:
            known.in_flight += 1
            self._settle(known, max(known.start, now), now)

    def sent(self, site: str, now: float) -> None:
        """A request to the site goes out now, or will at this moment."""
        if (known := self._of.get(site)) is not None and known.start < now:
            self._settle(known, now, now)

    def arrive(self, site: str, now: float) -> None:
        """A request to the site is over."""
        if (known := self._of.get(site)) is not None:
            known.in_flight = max(0, known.in_flight - 1)
            self._settle(known, known.start, now)

    def waiting(self, now: float) -> Iterator[str]:
        """The sites at addresses that must not be asked now."""
        for name in self._times.waiting(now):
            yield from self._addresses[name].sites

    def turn_at(self, site: str) -> float:
        """When one more request of what is in flight may go out there."""
        known = self._of.get(site)
        return -inf if known is None else known.start + self._gap

    def ready_at(self, site: str) -> float:
        """When the address of the site may be asked; infinite: not before something is back."""
        known = self._of.get(site)
        return -inf if known is None else known.ready

    def next_change(self, now: float) -> float | None:
        """The earliest moment at which an address becomes ready by itself."""
        first = self._times.first(now)
        return None if first is None else first[0]

    def _settle(self, known: _Address, start: float, now: float) -> None:
        known.start = start
        known.ready = inf if known.in_flight >= self._most else start + self._gap
        self._times.set(known.name, known.ready, now)
