"""Checks of a topic's seeds: each is fetched once, as the crawl would fetch it.

On the live Web the engine of a crawl fetches them, and is as polite: robots.txt is obeyed, private
addresses are refused. There is no relevance model yet, so a page is not judged: the check counts
the topic's keywords and phrases that occur in it, or the words that describe it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tres.engines.exploration.explore import ExploredPages, Explorer, explore_offline
from tres.offline.web import Web
from tres.runs.topic_perceiver import seed_urls
from tres.settings.topic_file import TopicConfig
from tres.topic.keyword_matcher import KeywordMatcher, keyword_forms
from tres.topic.language import language_of
from tres.topic.text import STOP_WORDS, words
from tres.topic.topic_terms import match_words
from tres.web.page import Failed, FailureKind, Outcome, Page

PATIENCE = 10.0
"""Seconds that a seed may take: a user is waiting."""
LIKELY = 2
"""Different terms of the topic with which a page is likely about it."""
LITTLE = 20
"""A page with fewer words has hardly any text."""

HINTS = {
    FailureKind.NOT_FOUND: "there is no such page",
    FailureKind.ROBOTS: "its robots.txt asks crawlers to stay away",
    FailureKind.ROBOTS_UNREACHABLE: "its robots.txt cannot be read, so nothing may be fetched",
    FailureKind.PROXY_UNREACHABLE: "the proxy does not answer; start it, or name another",
    FailureKind.BLOCKED_ADDRESS: "a private address; live.allow can permit it",
    FailureKind.NO_ADDRESS: "there is no such host; check the spelling",
    FailureKind.NOT_HTML: "it is not an HTML page",
}


@dataclass(frozen=True, slots=True)
class SeedCheck:
    """The outcome of a seed: a page and the terms that occur in it, or a failure."""

    seed: str
    outcome: Outcome
    found: tuple[str, ...]
    terms: int

    @property
    def likely(self) -> bool:
        """Is the page likely to be about the topic?"""
        return len(self.found) >= min(LIKELY, self.terms)

    @property
    def language(self) -> str:
        """The language of the page; empty if it is unknown."""
        page = self.outcome
        return language_of(page.text or page.title) if isinstance(page, Page) else ""

    @property
    def problem(self) -> str:
        """What is wrong with the seed; empty if nothing is."""
        if isinstance(self.outcome, Failed):
            hint = HINTS.get(self.outcome.kind, "")
            return f"gave no page: {self.outcome.kind}" + (f" ({hint})" if hint else "")
        if len(words(self.outcome.text)) < LITTLE:
            return "has hardly any text; does a script make it? (live.javascript)"
        if not self.found:
            return "has none of your keywords"
        if not self.outcome.links:
            return "has no links, so nothing can be found from it"
        return ""


def check_offline_seeds(config: TopicConfig, web: Web) -> list[SeedCheck]:
    """Check the seeds in an offline web."""
    checks: list[SeedCheck] = []
    explore_offline(_explorer(config, checks), web)
    return checks


def check_live_seeds(config: TopicConfig) -> list[SeedCheck]:
    """Check the seeds on the Web; an interrupt ends the checks early.

    It runs the event loop of a live crawl: once per process.
    """
    from tres.runs.live_components import check_live, in_live_loop
    from tres.runs.live_exploration import explore_live

    check_live(config)
    quick = config.override(timeout=PATIENCE, retries=0)
    checks: list[SeedCheck] = []
    in_live_loop(lambda loop: explore_live(loop, quick, _explorer(config, checks)))
    return checks


def _explorer(config: TopicConfig, checks: list[SeedCheck]) -> Explorer:
    """Fetch the seeds and nothing else."""
    topic = config.topic
    terms = [term for term in (*match_words(topic), *topic.phrases) if _is_specific(term)]
    for seed in dict.fromkeys(seed_urls(config)):
        outcome = yield seed
        checks.append(SeedCheck(seed, outcome, occurring(terms, outcome), len(terms)))
    return ExploredPages((), (), ())


def occurring(terms: Sequence[str], outcome: Outcome) -> tuple[str, ...]:
    """Return the terms that occur in a page; a word may be in its plural."""
    if isinstance(outcome, Failed):
        return ()
    return tuple(term for term in terms if _matcher(term).in_text(outcome.content))


def _is_specific(term: str) -> bool:
    return not STOP_WORDS.issuperset(words(term))


def _matcher(term: str) -> KeywordMatcher:
    one_word = len(words(term)) == 1
    return KeywordMatcher(keyword_forms([term]) if one_word else [term])
