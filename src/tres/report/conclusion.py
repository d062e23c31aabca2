"""What to make of a run, in two sentences: how the harvest goes, and what to do next.

The first is about the last change of the harvest rate. Pages are relevant or not, one after the
other. A change point splits them into two parts, each with its own rate; it is where two rates
explain the pages best, by likelihood, and it counts if the gain over a single rate is more than
chance gives among so many places to split. The part after a change point is split again until
nothing changes any more, so the sentence compares the last part with all pages before it.

A harvest that has dried up ends in a stretch without any relevant page, too long to be bad luck at
the last rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tres.crawl.events import StopReason
from tres.numbers import format_count, format_part, format_percentage
from tres.report.run_reader import RunReader
from tres.report.series import RECENT
from tres.store.run_state import Doing, run_state

Trend = Literal["none", "dry", "faint", "falling", "little", "steady", "rising"]
"""No page is relevant; none since some page; hardly any; fewer than before; few from the start; as
many as before; more."""

SHORTEST = 20
"""Fewest pages on each side of a change point, and in a stretch without relevant pages."""
UNLUCKY = 0.001
"""Probability below which a stretch without relevant pages is not bad luck."""
FAINT, FALLING, RISING = 0.1, 0.6, 1.5
"""Rate after a change point / rate before it: up to FAINT and FALLING, or from RISING on."""
LITTLE = 0.05
"""Rate below which a harvest is poor."""

STOPPED: dict[str, str] = {
    StopReason.BUDGET: "the budget is spent",
    StopReason.REQUESTS: "the request budget is spent",
    StopReason.FRONTIER_EXHAUSTED: "no links were left",
    StopReason.NO_SEED: "no seed gave a page",
    StopReason.INTERRUPTED: "it was interrupted",
    StopReason.SITES_DOWN: "all remaining sites were down; 'tres resume' continues later",
}
"""Why a crawl ended, in words."""


@dataclass(frozen=True, slots=True)
class Harvest:
    """How the harvest goes: after page `since` come `pages` pages, `relevant` of them relevant.

    `before` is the harvest rate up to that page.
    """

    trend: Trend
    since: int
    pages: int
    relevant: int
    before: float

    @property
    def is_over(self) -> bool:
        """Whether more pages would hardly help."""
        return self.trend in ("none", "dry", "faint")


def harvest_of(relevant: Sequence[bool]) -> Harvest:
    """Return how the harvest goes, given whether each page is relevant."""
    counts = np.cumsum([0, *relevant])
    total, pages = int(counts[-1]), len(relevant)
    if not total:
        return Harvest("none", 0, pages, 0, 0.0)
    since, last = _last_change(counts), int(np.searchsorted(counts, total))
    if _is_dry(counts, since, last):
        return Harvest("dry", last, pages - last, 0, total / last)
    if since:
        after, before = total - int(counts[since]), float(counts[since] / since)
        trend = _trend(after / (pages - since), before)
        return Harvest(trend, since, pages - since, after, before)
    if total < LITTLE * pages:
        return Harvest("little", 0, pages, total, 0.0)
    recent = min(RECENT, pages)
    return Harvest("steady", pages - recent, recent, total - int(counts[-recent - 1]), 0.0)


def _is_dry(counts: NDArray[np.int64], since: int, last: int) -> bool:
    """Whether the stretch after the last relevant page is too long for chance."""
    dry = len(counts) - 1 - last
    if last <= since or dry < SHORTEST:
        return dry >= SHORTEST
    rate = (counts[-1] - counts[since]) / (last - since + 1)
    return bool((1.0 - rate) ** dry < UNLUCKY)


def _trend(after: float, before: float) -> Trend:
    if after <= FAINT * before:
        return "faint"
    if after <= FALLING * before:
        return "falling"
    return "rising" if after >= RISING * before else "steady"


def _last_change(counts: NDArray[np.int64]) -> int:
    """The page after which the rate changed for the last time; 0 if it never did."""
    start = 0
    while (cut := _change(counts[start:] - counts[start])) is not None:
        start += cut
    return start


def _change(counts: NDArray[np.int64]) -> int | None:
    """Where two rates explain the pages best, if they do so much better than one."""
    pages = len(counts) - 1
    if pages < 2 * SHORTEST:
        return None
    cuts = np.arange(SHORTEST, pages - SHORTEST + 1)
    two = _likelihood(counts[cuts], cuts) + _likelihood(counts[-1] - counts[cuts], pages - cuts)
    best = int(np.argmax(two))
    gain = two[best] - _likelihood(counts[-1:], np.array([pages]))[0]
    return int(cuts[best]) if gain > np.log(pages / UNLUCKY) else None


def _likelihood(relevant: NDArray[np.int64], pages: NDArray[np.int64]) -> NDArray[np.float64]:
    """The log-likelihood of parts, each at its own rate."""
    rate = np.clip(relevant / pages, 1e-12, 1 - 1e-12)
    return np.asarray(relevant * np.log(rate) + (pages - relevant) * np.log1p(-rate))


def conclusion(reader: RunReader) -> str:
    """Return the two sentences."""
    if not reader.pages:
        return f"No page has been fetched. {_ending(reader, True)}".rstrip()
    harvest = harvest_of([page.relevant for page in reader.pages])
    ended = not run_state(reader.run).is_crawled
    return f"{describe_harvest(harvest, ended)} {_ending(reader, harvest.is_over)}"


def describe_harvest(harvest: Harvest, ended: bool) -> str:
    """Return a sentence on how the harvest goes, or went if the crawl has `ended`."""
    h, pages = harvest, harvest.pages
    since, rate = f"since page {h.since:,}", format_percentage(h.relevant / pages)
    before = f"compared with {format_percentage(h.before)} before"
    after = format_part(h.relevant, pages, "page after it", "pages after it")
    part = format_part(h.relevant, pages, "page", last="last " if pages == RECENT else "")
    if h.trend == "none" or pages < SHORTEST:
        return f"{part[0].upper()}{part[1:]} relevant."
    sentences: dict[Trend, str] = {
        "dry": f"Nothing new {since}: {after} relevant.",
        "faint": f"Hardly anything new {since}: {after} relevant.",
        "falling": f"It has found less {since}: {rate} of the pages after it are relevant, "
        f"{before}.",
        "little": f"It {'found' if ended else 'finds'} little: {part} relevant.",
        "steady": f"It {'kept' if ended else 'keeps'} finding relevant pages"
        f"{' to the end' if ended else ''}: {part} relevant.",
        "rising": f"It has learnt where to look: {rate} of the pages {since} are relevant, "
        f"{before}.",
    }
    return sentences[h.trend]


def _ending(reader: RunReader, over: bool) -> str:
    """What became of the crawl, and what to do next."""
    waiting = reader.pages[-1].frontier if reader.pages else 0
    links = f"{format_count(waiting, 'link is', 'links are')} waiting"
    match run_state(reader.run).doing:
        case Doing.CRAWLING:
            return f"It is running; {links}."
        case Doing.PAUSED:
            return f"It is paused; {links}."
    if reader.summary is None:
        return "It was cut off before its end; 'tres resume' continues it."
    return _stopped(reader, str(reader.summary.get("stopped", "?")), links, over)


def _stopped(reader: RunReader, reason: str, links: str, over: bool) -> str:
    at = f"at page {len(reader.pages):,} of {reader.budget:,}"
    match reason:
        case StopReason.BUDGET if over:
            return (
                f"The budget is spent; {links}, but a larger budget would hardly help. Try other "
                "seeds, or judge some pages with 'tres label'."
            )
        case StopReason.BUDGET:
            return f"The budget is spent, and {links}: 'tres resume --pages N' continues it."
        case StopReason.FRONTIER_EXHAUSTED:
            return f"It ended {at}, as no links were left: {_more_links(reader)}."
        case StopReason.NO_SEED:
            return "No seed gave a page: the failures below say why."
        case StopReason.INTERRUPTED:
            return f"It was interrupted {at}, and {links}: 'tres resume' continues it."
        case _:
            return f"It ended {at}: {STOPPED.get(reason, reason)}."


def _more_links(reader: RunReader) -> str:
    cap = reader.config.crawl.max_per_site.at(len(reader.pages), reader.budget)
    if np.isfinite(cap):
        return (
            f"more seeds, or more than {cap:.0f} pages a site (crawl.max_per_site), would give more"
        )
    return "more seeds would give more"
