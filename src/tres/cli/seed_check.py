"""Are the seeds of a topic any good? Each is fetched once, as the crawl would fetch it.

On the live Web that is the engine of a crawl , as polite as a crawl is: robots.txt is obeyed, a
private address is refused, and so on. What is told of a page is counted, not judged, as there
is no model yet: how many of the topic's keywords and phrases occur in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tres.engines.exploration.explore import ExploredPages, Explorer, explore_offline
from tres.offline.web import Web
from tres.runs.topic_perceiver import seed_urls
from tres.settings.topic_file import TopicConfig
from tres.topic.keyword_forms import keyword_forms
from tres.topic.keyword_matcher import KeywordMatcher
from tres.topic.language import language_of
from tres.topic.text import STOP_WORDS, words
from tres.web.page import Failed, FailureKind, Outcome, Page

PATIENCE = 10.0
"""Seconds that a seed may take: somebody is waiting."""
LIKELY = 2
"""Different terms from which on a page is likely about the topic, if there are so many."""
LITTLE = 20
"""Words below which a page has hardly any text."""

HINTS = {
    FailureKind.NOT_FOUND: "there is no such page",
    FailureKind.ROBOTS: "its robots.txt asks crawlers to stay away",
    FailureKind.ROBOTS_UNREACHABLE: "its robots.txt cannot be read, so nothing may be fetched",
    FailureKind.PROXY_UNREACHABLE: "the proxy does not answer; start it, or name another",
    FailureKind.BLOCKED_ADDRESS: "a private address; live.allow can permit it",
    FailureKind.NO_ADDRESS: "there is no such host; check the spelling",
    FailureKind.NOT_HTML: "it is no HTML page",
}


@dataclass(frozen=True, slots=True)
class SeedCheck:
    """What a seed gives: a page and the terms that occur in it, or a failure."""

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
        """The language of the page, if there is one and it can be told."""
        page = self.outcome
        return language_of(page.text or page.title) if isinstance(page, Page) else ""

    @property
    def doubt(self) -> str:
        """What speaks against the seed, if anything does."""
        if isinstance(self.outcome, Failed):
            hint = HINTS.get(self.outcome.kind, "")
            return f"gives no page: {self.outcome.kind}" + (f" ({hint})" if hint else "")
        if len(words(self.outcome.text)) < LITTLE:
            return "has hardly any text; does a script make it? (live.javascript)"
        if not self.found:
            return "has none of your keywords"
        if not self.outcome.links:
            return "has no links, so nothing can be found from it"
        return ""


def check_offline_seeds(config: TopicConfig, web: Web) -> list[SeedCheck]:
    """The seeds in a web that is here."""
    checks: list[SeedCheck] = []
    explore_offline(_explorer(config, checks), web)
    return checks


def check_live_seeds(config: TopicConfig) -> list[SeedCheck]:
    """The seeds on the Web, each fetched once; less of them if somebody interrupts it.

    It runs the event loop of a live crawl: once in a process.
    """
    from tres.runs.live_checks import check_live
    from tres.runs.live_components import in_live_loop
    from tres.runs.live_exploration import explore_live

    check_live(config)
    quick = config.override(timeout=PATIENCE, retries=0)
    checks: list[SeedCheck] = []
    in_live_loop(lambda loop: explore_live(loop, quick, _explorer(config, checks)))
    return checks


def _explorer(config: TopicConfig, checks: list[SeedCheck]) -> Explorer:
    """Fetch the seeds and nothing else."""
    terms = [term for term in (*config.topic.keywords, *config.topic.phrases) if _telling(term)]
    for seed in dict.fromkeys(seed_urls(config)):
        outcome = yield seed
        checks.append(SeedCheck(seed, outcome, occurring(terms, outcome), len(terms)))
    return ExploredPages((), (), ())


def occurring(terms: Sequence[str], outcome: Outcome) -> tuple[str, ...]:
    """Those of the terms that a page holds, a word also in its plural."""
    if isinstance(outcome, Failed):
        return ()
    return tuple(term for term in terms if _matcher(term).in_text(outcome.content))


def _telling(term: str) -> bool:
    return not STOP_WORDS.issuperset(words(term))


def _matcher(term: str) -> KeywordMatcher:
    one_word = len(words(term)) == 1
    return KeywordMatcher(keyword_forms([term]) if one_word else [term])
