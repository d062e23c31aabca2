"""The politeness clock: which sites must wait, and until when.

A site is *ready*, or it *waits*: its delay is not over, it has as many requests in flight as it may
have, or it is backing off after a failure. The end of the wait is known, or comes when a request in
flight finishes. Nothing is lost meanwhile: the links of a waiting site stay in the frontier.

The starts of two requests to a site are a delay apart: `live.delay`, or more if robots.txt asks for
it or the site answers slowly (the rule of Scrapy's AutoThrottle: the mean of the delay and of
latency / `per_site`; errors are quick and never lower it). With a delay of 0, slow answers do not
delay anything either.

A site backs off when it refuses (429, 503), when its gateway finds no server (502, 504) or when it
cannot be reached. The pauses double each time, up to an hour, so an outage costs at most about
twice its own length. Retry-After is obeyed, up to a day; from the fifth failure in a row, the
longer of the two pauses counts. Failures that arrive during a back-off belong to the same outage
and do not lengthen it. Any other response ends the back-off.

After more than ten dead links in a row (404, 410), each further one doubles the delay of the site,
up to `max_delay`, until a link leads somewhere again.

A site may also cost too much: pages that take far longer to *read* than is usual in this crawl. It
then backs off until such pages have taken no more than a tenth of the time. And it gets no requests
while more of its pages wait to be read than it may have in flight, so that they cannot crowd out
all other sites.

For the limits of all sites at one network address, see `tres.engines.politeness.address_limits`.
Nothing here reads a clock: callers pass the time in.
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
"""Failures in a row up to which a short Retry-After is believed."""

SLOW = 0.25
"""Seconds of processor time above which reading a page may count as slow."""
SLOWER = 8.0
"""How many times the usual it must take as well, because models differ in what they cost."""
USUAL_OVER = 20
"""Readings over which the usual time is a moving mean."""
ALLOWANCE = 1.0
"""Seconds of slow reading that a site may cause before it backs off."""
SHARE = 0.1
"""Share of the passing time by which the debt of slow reading shrinks."""

DEAD_LINKS = 10
"""Dead links in a row after which the delay of a site grows."""
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
"""Statuses that mean "not now" or "no server here"; the last four are a content network's."""


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """What a response says about politeness; None where it is unknown."""

    status: int | None = None
    latency: float | None = None
    retry_after: float | None = None


NO_RESPONSE = ServerResponse()


@dataclass(slots=True)
class _Site:
    """The state of one site; `_update` derives `ready` from the rest."""

    delay: float
    crawl_delay: float = 0.0  # asked for by robots.txt
    start: float = -inf  # of the last request
    backoff_until: float = -inf
    in_flight: int = 0
    failures: int = 0
    dead_links: int = 0  # in a row
    dead_link_delay: float = 0.0
    unread: int = 0
    debt: float = 0.0  # seconds of slow reading
    debt_at: float = 0.0
    ready: float = -inf

    @property
    def pause(self) -> float:
        return max(self.delay, self.crawl_delay, self.dead_link_delay)


class PolitenessClock:
    """The politeness of one crawl; times are seconds of any clock that never goes back."""

    def __init__(self, settings: LiveSection) -> None:
        self._settings = settings
        self._sites: dict[str, _Site] = {}
        self._times = ReadyTimes()
        self._addresses = AddressLimits(settings)
        self._usual = 0.0

    def waiting(self, now: float) -> list[str]:
        """Return the sites that must not get a request now."""
        sites = dict.fromkeys(self._times.waiting(now))
        return list(sites | dict.fromkeys(self._addresses.waiting(now)))

    def ready_at(self, site: str, now: float) -> float:
        """Return when the site is ready; infinite if that depends on a request in flight."""
        known = self._sites.get(site)
        ready = -inf if known is None else known.ready
        return max(now, ready, self._addresses.ready_at(site))

    def next_change(self, now: float) -> float | None:
        """Return the earliest time at which a waiting site becomes ready by itself."""
        first = self._times.first(now)
        moments = [self._addresses.next_change(now), first and first[0]]
        return min((moment for moment in moments if moment is not None), default=None)

    def only_backing_off(self, now: float) -> bool:
        """Is the next site to become ready one that is backing off?"""
        first = self._times.first(now)
        backing_off = first is not None and self.is_backing_off(first[1], now)
        return backing_off and self._addresses.next_change(now) is None

    def is_backing_off(self, site: str, now: float) -> bool:
        """Has the site failed, so that it must be left alone for now?"""
        known = self._sites.get(site)
        return known is not None and known.backoff_until > now

    def back_off_until(self, site: str, until: float, now: float) -> None:
        """Leave a site alone until then: it asked for that before the run was resumed."""
        known = self._site(site)
        known.backoff_until = max(known.backoff_until, until)
        self._update(site, known, now)

    def request_started(self, site: str, now: float) -> None:
        """Count a request to the site that starts now."""
        known = self._site(site)
        known.in_flight += 1
        known.start = max(known.start, now)
        self._update(site, known, now)
        self._addresses.request_started(site, now)

    def request_sent(self, site: str, now: float) -> None:
        """Move the start of the last request to now: looking up and connecting took time."""
        known = self._sites.get(site)
        if known is not None and known.start < now:
            known.start = now
            self._update(site, known, now)
        self._addresses.request_sent(site, now)

    def next_turn(self, site: str, now: float) -> float:
        """Return when a flight may send one more request, such as a page after its robots.txt."""
        known = self._site(site)
        at_address = self._addresses.turn_at(site)
        return max(now, known.start + known.pause, known.backoff_until, at_address)

    def take_turn(self, site: str, now: float) -> float:
        """Reserve the next turn, and return when it is."""
        known = self._site(site)
        known.start = self.next_turn(site, now)
        self._update(site, known, now)
        self._addresses.request_sent(site, known.start)
        return known.start

    def request_finished(
        self, site: str, now: float, response: ServerResponse, failed: FailureKind | None = None
    ) -> None:
        """Count a request to the site that has ended, and observe how."""
        known = self._site(site)
        known.in_flight = max(0, known.in_flight - 1)
        self._addresses.request_finished(site, now)
        self.observe(site, now, response, failed)

    def observe(
        self, site: str, now: float, response: ServerResponse, failed: FailureKind | None = None
    ) -> None:
        """Adapt to the outcome of one request; what is unknown changes nothing."""
        status, latency = response.status, response.latency
        known = self._site(site)
        if failed in UNREACHABLE or status in REFUSALS:
            self._back_off(known, now, response.retry_after)
        elif status is not None:
            known.failures = 0
            self._count_dead_links(known, status)
        if self._settings.throttle and self._settings.delay > 0 and latency is not None:
            self._throttle(known, latency, good=status is not None and status < 400)
        self._update(site, known, now)

    def lacks_address(self, site: str) -> bool:
        """Does the address of the site matter, and is it unknown?"""
        return self._addresses.lacks_address(site)

    def set_address(self, site: str, address: str, now: float) -> bool:
        """Note the address of a site; return whether the request that just started may go on."""
        return self._addresses.set_address(site, address, self._site(site).in_flight, now)

    def set_crawl_delay(self, site: str, seconds: float, now: float) -> None:
        """Note a delay that robots.txt asks for. It holds for the whole crawl."""
        known = self._site(site)
        known.crawl_delay = max(known.crawl_delay, min(seconds, DAY))
        self._update(site, known, now)

    def add_unread(self, site: str, pages: int, now: float) -> None:
        """Add fetched pages of the site that wait to be read; negative once they are."""
        known = self._site(site)
        known.unread += pages
        self._update(site, known, now)

    def charge_reading(self, site: str, seconds: float, now: float) -> float:
        """Charge a site with the processor time of reading its page; return how long it pauses."""
        slow = max(SLOW, SLOWER * self._usual)
        self._usual += (min(seconds, slow) - self._usual) / USUAL_OVER
        if seconds <= slow:
            return 0.0
        known = self._site(site)
        known.debt = max(0.0, known.debt - SHARE * (now - known.debt_at)) + seconds
        known.debt_at = now
        pause = max(0.0, known.debt - ALLOWANCE) / SHARE
        known.backoff_until = max(known.backoff_until, now + pause)
        self._update(site, known, now)
        return pause

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

    def _count_dead_links(self, site: _Site, status: int) -> None:
        """One dead link is an accident; many in a row are a site that has moved."""
        site.dead_links = site.dead_links + 1 if status in MISSING else 0
        beyond = site.dead_links - DEAD_LINKS
        growing = self._settings.delay * 2.0 ** min(beyond, 20) if beyond > 0 else 0.0
        site.dead_link_delay = min(growing, max(self._settings.delay, self._settings.max_delay))

    def _back_off(self, site: _Site, now: float, retry_after: float | None) -> None:
        if now >= site.backoff_until:
            site.failures += 1
        own = max(1.0, 5 * self._settings.delay) * 2.0 ** min(max(site.failures - 1, 0), 20)
        wait = min(own, HOUR)
        if retry_after is not None:
            asked = min(max(0.0, retry_after), DAY)
            wait = asked if site.failures <= TRUSTED else max(asked, wait)
        site.backoff_until = max(site.backoff_until, now + wait)

    def _update(self, name: str, site: _Site, now: float) -> None:
        """Derive when the site is ready."""
        per_site = self._settings.per_site
        full = site.in_flight >= per_site or site.unread > per_site
        site.ready = inf if full else max(site.start + site.pause, site.backoff_until)
        self._times.set(name, site.ready, now)
