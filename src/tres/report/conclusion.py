"""What to make of a run, in two sentences: how the harvest goes, and what follows from it.

The first is about change. Pages are relevant or not, one after the other; if the chance of that
has changed, the run falls into a part before and a part after. The cut is where two rates explain
the pages best, compared with one (a change point, by likelihood); it is believed if the gain is
more than chance gives among so many places to cut. The part behind a cut is cut again until
nothing more has changed: so it is the last change that is told, against all pages before it.

A harvest that has died shows as a stretch without any relevant page at the end, too long to be bad
luck at the last rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tres.crawl.events import StopReason
from tres.report.run_reader import RunReader
from tres.report.wording import STOPPED
from tres.store.run_state import Doing, run_state

Trend = Literal["none", "dry", "faint", "falling", "little", "steady", "rising"]
"""No page is relevant; none any more; hardly any; fewer than before; few from the start; as many
as before; more."""

SHORTEST = 20
"""Pages on each side of a cut, and in a stretch without any."""
UNLUCKY = 0.001
"""Chance below which a stretch without relevant pages is no bad luck."""
FAINT, FALLING, RISING = 0.1, 0.6, 1.5
"""Rate after a cut / rate before it: up to FAINT and FALLING, or from RISING on."""
LITTLE = 0.05
"""Rate below which a harvest is poor."""
LAST = 100
"""Pages at the end that tell whether it still finds."""


@dataclass(frozen=True, slots=True)
class Harvest:
    """How the harvest goes: `pages` were fetched after page `since`, `relevant` of them relevant.

    `before` is the rate of the pages up to there.
    """

    trend: Trend
    since: int
    pages: int
    relevant: int
    before: float

    @property
    def is_over(self) -> bool:
        """Would more pages of the same kind hardly help?"""
        return self.trend in ("none", "dry", "faint")


def harvest_of(relevant: Sequence[bool]) -> Harvest:
    """How it goes, by whether each page is relevant, in order."""
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
    recent = min(LAST, pages)
    return Harvest("steady", pages - recent, recent, total - int(counts[-recent - 1]), 0.0)


def _is_dry(counts: NDArray[np.int64], since: int, last: int) -> bool:
    """Is the stretch behind the last relevant page longer than chance makes it?"""
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
    """The page behind which the rate has changed for the last time; 0 if it never has."""
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
    """The log-likelihood of parts at their own rates."""
    rate = np.clip(relevant / pages, 1e-12, 1 - 1e-12)
    return np.asarray(relevant * np.log(rate) + (pages - relevant) * np.log1p(-rate))


def conclusion(reader: RunReader) -> str:
    """The two sentences."""
    if not reader.pages:
        return f"No page has been fetched. {_ending(reader, True)}".rstrip()
    harvest = harvest_of([page.relevant for page in reader.pages])
    return f"{told(harvest, _is_over(reader))} {_ending(reader, harvest.is_over)}"


def told(harvest: Harvest, ended: bool) -> str:
    """How the harvest goes, in a sentence."""
    h, rate = harvest, f"{harvest.relevant / harvest.pages:.0%}"
    sentences: dict[Trend, str] = {
        "none": f"None of the {h.pages:,} pages is relevant.",
        "dry": f"Nothing new since page {h.since:,}: none of the {h.pages:,} pages after it is "
        "relevant.",
        "faint": f"Hardly anything new since page {h.since:,}: {h.relevant:,} of the {h.pages:,} "
        "pages after it are relevant.",
        "falling": f"It finds less since page {h.since:,}: {rate} of the pages after it are "
        f"relevant, {h.before:.0%} before.",
        "little": f"It finds little: {h.relevant:,} of the {h.pages:,} pages are relevant.",
        "steady": f"It {'kept' if ended else 'is still'} finding{' to the end' * ended}: "
        f"{h.relevant:,} of the last {h.pages:,} pages are relevant.",
        "rising": f"It has learnt where to look: since page {h.since:,}, {rate} of the pages are "
        f"relevant, {h.before:.0%} before.",
    }
    return sentences[h.trend]


def _is_over(reader: RunReader) -> bool:
    return not run_state(reader.run).is_crawled


def _ending(reader: RunReader, over: bool) -> str:
    """What has become of the crawl, and what one can do."""
    waiting = reader.pages[-1].frontier if reader.pages else 0
    links = f"{waiting:,} {'link is' if waiting == 1 else 'links are'} waiting"
    match run_state(reader.run).doing:
        case Doing.CRAWLING:
            return f"It is going on; {links}."
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
                f"The budget is spent; {links}, but a larger one would hardly help. Try other "
                "seeds, or judge some pages with 'tres label'."
            )
        case StopReason.BUDGET:
            return f"The budget is spent, and {links}: 'tres resume --pages N' would go on."
        case StopReason.FRONTIER_EXHAUSTED:
            return f"It ended {at}, as no link was left: {_more_links(reader)}."
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
