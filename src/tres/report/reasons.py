"""Why a link was chosen, in a clause: it opens `tres explain`, and every page of a report has it.

An explanation reads the journal for one page, and so knows what the links to it say. A report
explains every page at once, so its sentences rest on the journal's tables alone: the features that
the policy saw, and when each URL was chosen.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from tres.errors import printable
from tres.numbers import format_count, format_percentage, spell_count, spell_number
from tres.policies.registry import policy_info
from tres.report.explain.facts import Citation, Crawl, Decision
from tres.report.explain.fetched_page import feature, how_chosen
from tres.report.explain.gather import crawl_facts
from tres.report.run_reader import RunReader
from tres.store.journal import JOURNAL, Journal
from tres.topic.text import STOP_WORDS, words

REASONS = 3
"""Reasons that are named, at most."""
HIGH = 0.6
"""From here on a share counts as a reason."""
LOW = 0.3
"""Below this value a link promises little."""


def reasons_of(reader: RunReader) -> list[str]:
    """Return a sentence per page, in the order of the pages."""
    crawl, (seeds, requested) = crawl_facts(reader), _requests(reader)
    records = [page.record for page in reader.pages]
    amount = cache(lambda name, value: feature(name, value).amount)
    sentences = []
    for page in reader.pages:
        before = bisect_left(records, requested.get(page.asked, 0))
        how = how_chosen(reader, page, page.asked in seeds, before)
        frontier = reader.pages[before - 1].frontier if before else 0
        chosen = Decision(how, page.q, None, page.candidates, frontier)
        values = zip(reader.features, page.features, strict=True)
        known = reasons({name: amount(name, value) for name, value in values})
        sentences.append(f"Fetched {why_chosen(chosen, crawl, known)}.")
    return sentences


def _requests(reader: RunReader) -> tuple[frozenset[str], dict[str, int]]:
    """The seeds, and by URL the record of its request."""
    requested: dict[str, int] = {}
    with Journal.open(reader.run / JOURNAL) as journal:
        seeds = frozenset(journal.seeds().links.urls)
        for record, demand in journal.demands():
            for url in demand.urls:
                requested.setdefault(url, record)
    return seeds, requested


def why_chosen(chosen: Decision, crawl: Crawl, known: Sequence[str]) -> str:
    """Why a link was chosen, for these known reasons: a clause that follows "tres fetched it"."""
    because = f": {join_words(known)}" if known else ""
    match chosen.how:
        case "seed":
            return "because it is a seed"
        case "search":
            return "because the search engine returned it"
        case "random":
            return "at random, to explore"
        case "order":
            return f"because it was next in the order of the policy {crawl.policy}"
        case "guess":
            return f"on a first guess, before it had learnt enough{because}"
        case "value":
            return _why_valued(chosen, crawl, because)


def _why_valued(chosen: Decision, crawl: Crawl, because: str) -> str:
    assert chosen.q is not None
    if crawl.gamma is None:
        meaning = policy_info(crawl.policy).score_meaning
        suffix = f", {meaning}" if meaning else ""
        return f"because its score was the highest: {chosen.q:.2f}{suffix}"
    if chosen.frontier == 1:
        return "because it was the only link that waited"
    best = f"best of {format_candidates(chosen)}" if chosen.candidates else "best"
    return f"because it looked {best}{', though not promising' if chosen.q < LOW else because}"


def format_candidates(chosen: Decision) -> str:
    """What a choice was made among; where few links wait, some are drawn twice."""
    if chosen.candidates < chosen.frontier:
        return format_count(chosen.candidates, "link")
    return f"a sample of {format_count(chosen.frontier, 'link')}"


def reasons(seen: Mapping[str, float], cited: Sequence[Citation] | None = None) -> list[str]:
    """What speaks for a link, the plainest reason first.

    Without the pages that link to it, the features say how many of them are relevant.
    """
    if cited is None:
        count = round(seen.get("relevant_citations", seen.get("parent_reward", 0.0)))
        with_words = ""
    else:
        relevant = [each for each in cited if each.reward]  # to the crawl, when it chose
        count, with_words = len(relevant), _shared_words(relevant)
    pages = spell_count(count, "relevant page links", "relevant pages link")
    citing = f"{pages} to it{with_words}" if count else ""
    others = (_site_reason, _siblings_reason, _keyword_reason, _link_text_reason)
    return list(filter(None, [citing, *(reason(seen) for reason in others)]))[:REASONS]


def _shared_words(cited: Sequence[Citation]) -> str:
    """The text of a single link, or the word that most of several links share."""
    counts = Counter(word for each in cited for word in set(words(each.anchor)) - STOP_WORDS)
    if len(cited) == 1:
        anchor = shorten(cited[0].anchor)
        return f' with the {"words" if " " in anchor else "word"} "{anchor}"' if counts else ""
    word, times = min(counts.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    if times < 2:
        return ""
    some = "" if times == len(cited) else f", {spell_number(times)} of them"
    return f'{some} with the word "{shorten(word)}"'


def _site_reason(seen: Mapping[str, float]) -> str:
    share = seen.get("site_relevance", 0.0)
    if share < HIGH:
        return ""
    if "site_fetched" not in seen:
        return f"{format_percentage(share)} of its site's pages were relevant so far"
    pages = int(seen["site_fetched"])
    relevant = round(share * (pages + 1) - 0.5)  # inverts how the feature is smoothed
    if pages == 1:
        return "the only page fetched from its site was relevant"
    some = f"{relevant:,} of {pages:,}"
    if relevant == pages:
        some = "both" if pages == 2 else f"all {spell_number(pages)}"
    return f"{some} pages fetched from its site were relevant"


def _siblings_reason(seen: Mapping[str, float]) -> str:
    share = seen.get("siblings_relevance", 0.0)
    known = f"the links beside it led to relevant pages ({share:.2f} on average)"
    return known if share >= HIGH else ""


def _keyword_reason(seen: Mapping[str, float]) -> str:
    if seen.get("anchor_keyword"):
        return "a link to it has a keyword"
    return "its address has a keyword" if seen.get("url_keyword") else ""


def _link_text_reason(seen: Mapping[str, float]) -> str:
    share = max(seen.get("anchor_relevance_max", 0.0), seen.get("anchor_relevance", 0.0))
    return f"its link text sounded relevant ({share:.2f})" if share >= HIGH else ""


def join_words(items: Sequence[str]) -> str:
    """a, b and c."""
    *most, last = items
    return f"{', '.join(most)} and {last}" if most else last


def shorten(text: str, chars: int = 60) -> str:
    """Text from the Web on one short line, harmless to a terminal."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= chars else f"{line[: chars - 3]}..."
