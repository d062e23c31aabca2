"""The politeness clock: which sites must wait, and until when.

A site is *ready*, or it *waits*: its delay is not over, as many requests are in flight as it may
have, or it rests because it failed. The moment at which this ends is known, or is the return of
something in flight. What waits is not lost: its links stay where they are until it is ready.

Between the starts of two requests to a site lies its delay: `live.delay`, more if robots.txt
asks for it, more while its answers are slow (the rule of Scrapy's AutoThrottle: the mean of the
delay and of latency / `per_site`; errors are quick and never lower it). A delay of 0 says that
nobody minds, and then slow answers delay nothing either.

A site that refuses (429, 503), whose gateway finds no server (502, 504) or that cannot be reached
rests, and is probed with growing pauses: each is twice as long as the one before, up to an hour.
So an outage costs at most about twice its own length. Retry-After is obeyed, up to a day; from
the fifth failure in a row on, the longer of both pauses counts. Failures that come back while a
site rests belong to the same outage and make no pause longer. Any other answer ends all of it.

A site whose links are dead (404, 410) more than ten times in a row is asked less and less often:
each further one doubles its delay, up to `max_delay`, until a link leads somewhere.

A site may also cost too much: pages that take long to *read*, far longer than is usual in this
crawl. It then rests until such pages have taken no more than a tenth of the time. And it is not
asked for more while more of its pages wait to be read than may be fetched at the same time, so
that they cannot take the place of all others.

What many sites at one network address may do together: `tres.engines.politeness.address_limits`.

Nothing here reads a clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from tres.engines.politeness.address_limits import AddressLimits
from tres.engines.politeness.ready_times import ReadyTimes
from tres.settings.sections import LiveSection
from tres.web.page import FailureKind

HOUR, DAY = 3600.0, 86400.0
TRUSTED = 4
"""Failures in a row for which a short Retry-After is believed."""

SLOW = 0.25
"""Seconds of processor time from which on reading a page may be called slow."""
SLOWER = 8.0
"""Times as much as is usual must it take as well: models differ in what they cost."""
USUAL_OVER = 20
"""Readings that the usual time is a moving mean of."""
ALLOWANCE = 1.0
"""Seconds of slow reading that a site may have taken before it rests."""
SHARE = 0.1
"""Of the time that passes: so much slow reading is forgiven."""

DEAD_LINKS = 10
"""Links of a site in a row that may lead nowhere before its pauses grow."""
MISSING = frozenset({404, 410})

UNREACHABLE = frozenset(
    {
        FailureKind.NO_ADDRESS,
        FailureKind.NO_CONNECTION,
        FailureKind.PROXY_UNREACHABLE,
        FailureKind.TIMEOUT,
        FailureKind.THROTTLED,
        FailureKind.ROBOTS_UNREACHABLE,
    }
)
"""Failures of a server; all others are failures of a page."""
REFUSALS = frozenset({429, 502, 503, 504, 521, 522, 523, 524})
"""Statuses that say: not now, or nobody is here. The last four are those of a content network."""


@dataclass(slots=True)
class _Site:
    """What is known of one site. `ready` is derived from the rest by `PolitenessClock._settle`."""

    delay: float
    asked: float = 0.0  # by robots.txt
    start: float = -inf
    until: float = -inf  # it rests
    in_flight: int = 0
    failures: int = 0
    dead: int = 0  # links in a row that led nowhere
    unread: int = 0
    debt: float = 0.0  # seconds of slow reading
    debt_at: float = 0.0
    doubt: float = 0.0  # because of them
    ready: float = -inf

    @property
    def pause(self) -> float:
        return max(self.delay, self.asked, self.doubt)


class PolitenessClock:
    """Keeps the politeness of one crawl; times are seconds of any clock that never goes back."""

    def __init__(self, settings: LiveSection) -> None:
        self._settings = settings
        self._sites: dict[str, _Site] = {}
        self._times = ReadyTimes()
        self._addresses = AddressLimits(settings)
        self._usual = 0.0

    def waiting(self, now: float) -> list[str]:
        """The sites that must not be asked now."""
        sites = dict.fromkeys(self._times.waiting(now))
        return list(sites | dict.fromkeys(self._addresses.waiting(now)))

    def ready_at(self, site: str, now: float) -> float:
        """When the site may be asked; infinite: not before something in flight has returned."""
        known = self._sites.get(site)
        ready = -inf if known is None else known.ready
        return max(now, ready, self._addresses.ready_at(site))

    def next_change(self, now: float) -> float | None:
        """The earliest moment at which a waiting site becomes ready by itself."""
        first = self._times.first(now)
        moments = [self._addresses.next_change(now), first and first[0]]
        return min((moment for moment in moments if moment is not None), default=None)

    def all_rest(self, now: float) -> bool:
        """Is there nobody to wait for but sites that have failed?"""
        first = self._times.first(now)
        rests = first is not None and self.rests(first[1], now)
        return rests and self._addresses.next_change(now) is None

    def rests(self, site: str, now: float) -> bool:
        """Has the site failed, and is it to be left alone for now?"""
        known = self._sites.get(site)
        return known is not None and known.until > now

    def rest(self, site: str, until: float, now: float) -> None:
        """Leave a site alone until then: it has asked for it earlier."""
        known = self._site(site)
        known.until = max(known.until, until)
        self._settle(site, known, now)

    def depart(self, site: str, now: float) -> None:
        """A request to the site starts now."""
        known = self._site(site)
        known.in_flight += 1
        known.start = max(known.start, now)
        self._settle(site, known, now)
        self._addresses.depart(site, now)

    def sent(self, site: str, now: float) -> None:
        """The request that departed goes out only now: finding and reaching a server took time."""
        known = self._sites.get(site)
        if known is not None and known.start < now:
            known.start = now
            self._settle(site, known, now)
        self._addresses.sent(site, now)

    def next_turn(self, site: str, now: float) -> float:
        """The moment for one more request of something in flight: a page after its robots.txt."""
        known = self._site(site)
        at_address = self._addresses.turn_at(site)
        return max(now, known.start + known.pause, known.until, at_address)

    def turn(self, site: str, now: float) -> float:
        """Take that moment."""
        known = self._site(site)
        known.start = self.next_turn(site, now)
        self._settle(site, known, now)
        self._addresses.sent(site, known.start)
        return known.start

    def arrive(
        self,
        site: str,
        now: float,
        latency: float | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        failed: FailureKind | None = None,
    ) -> None:
        """What had departed has come back, one way or another."""
        known = self._site(site)
        known.in_flight = max(0, known.in_flight - 1)
        self._addresses.arrive(site, now)
        self.observe(site, now, latency, status, retry_after, failed)

    def observe(
        self,
        site: str,
        now: float,
        latency: float | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        failed: FailureKind | None = None,
    ) -> None:
        """What one exchange with a server tells; with nothing told, nothing is learnt."""
        known = self._site(site)
        if failed in UNREACHABLE or status in REFUSALS:
            self._back_off(known, now, retry_after)
        elif status is not None:
            known.failures = 0
            self._count_dead(known, status)
        if self._settings.throttle and self._settings.delay > 0 and latency is not None:
            self._throttle(known, latency, good=status is not None and status < 400)
        self._settle(site, known, now)

    def lacks_address(self, site: str) -> bool:
        """Does it matter at which address a site is, and is that unknown?"""
        return self._addresses.wants(site)

    def locate(self, site: str, address: str, now: float) -> bool:
        """The site is at this address; may what has just departed for it go on?"""
        return self._addresses.locate(site, address, self._site(site).in_flight, now)

    def crawl_delay(self, site: str, seconds: float, now: float) -> None:
        """Robots.txt asks for a delay. It counts for the whole crawl, even if asked for once."""
        known = self._site(site)
        known.asked = max(known.asked, min(seconds, DAY))
        self._settle(site, known, now)

    def unread(self, site: str, more: int, now: float) -> None:
        """So many more pages of the site, or fewer, were fetched and wait to be read."""
        known = self._site(site)
        known.unread += more
        self._settle(site, known, now)

    def read(self, site: str, seconds: float, now: float) -> float:
        """Reading a page took so much processor time; the seconds that its site rests for it."""
        slow = max(SLOW, SLOWER * self._usual)
        self._usual += (min(seconds, slow) - self._usual) / USUAL_OVER
        if seconds <= slow:
            return 0.0
        known = self._site(site)
        known.debt = max(0.0, known.debt - SHARE * (now - known.debt_at)) + seconds
        known.debt_at = now
        rest = max(0.0, known.debt - ALLOWANCE) / SHARE
        known.until = max(known.until, now + rest)
        self._settle(site, known, now)
        return rest

    def _site(self, site: str) -> _Site:
        known = self._sites.get(site)
        if known is None:
            known = self._sites[site] = _Site(self._settings.delay)
        return known

    def _throttle(self, site: _Site, latency: float, good: bool) -> None:
        target = latency / self._settings.per_site
        delay = (site.delay + target) / 2
        most = max(self._settings.delay, self._settings.max_delay)
        delay = min(max(delay, self._settings.delay), most)
        site.delay = delay if good else max(delay, site.delay)

    def _count_dead(self, site: _Site, status: int) -> None:
        """A link that leads nowhere may be an accident; many in a row are a site that has moved."""
        site.dead = site.dead + 1 if status in MISSING else 0
        beyond = site.dead - DEAD_LINKS
        growing = self._settings.delay * 2.0 ** min(beyond, 20) if beyond > 0 else 0.0
        site.doubt = min(growing, max(self._settings.delay, self._settings.max_delay))

    def _back_off(self, site: _Site, now: float, retry_after: float | None) -> None:
        if now >= site.until:
            site.failures += 1
        own = max(1.0, 5 * self._settings.delay) * 2.0 ** min(max(site.failures - 1, 0), 20)
        wait = min(own, HOUR)
        if retry_after is not None:
            asked = min(max(0.0, retry_after), DAY)
            wait = asked if site.failures <= TRUSTED else max(asked, wait)
        site.until = max(site.until, now + wait)

    def _settle(self, name: str, site: _Site, now: float) -> None:
        """Derive when the site is ready, and let it wait or not."""
        per_site = self._settings.per_site
        full = site.in_flight >= per_site or site.unread > per_site
        site.ready = inf if full else max(site.start + site.pause, site.until)
        self._times.set(name, site.ready, now)
