"""Pages to ask a teacher about before a topic is crawled, and the examples that come of it.

Of an archive a sample is looked at, however large it is; on the live Web the seeds and pages near
them are fetched. There is no model yet that could be unsure. So the seeds come first; then pages
with many of the topic's words, among which are the relevant ones and those that only look so,
alternate with random pages, which show what else there is; both site by site.

What was fetched is kept, so that a second start asks about the same pages, and pays for none twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from tres.engines.exploration.explore import ExploredPages, explore
from tres.errors import RunError, SeedError, TresError
from tres.files.durable import replace_file
from tres.offline.web import Web
from tres.relevance.examples import Reservoir
from tres.relevance.label_candidates import alternate, largest_first, site_by_site
from tres.runs.teacher.lesson import Judged
from tres.runs.topic_perceiver import no_seed_error, seed_urls
from tres.settings.topic_file import TopicConfig
from tres.store.exploration_log import ExplorationLog
from tres.topic.keyword_matcher import keyword_forms
from tres.topic.text import STOP_WORDS, words
from tres.web.page import Page
from tres.web.url import site_of

SAMPLE = 5_000
"""Pages of an archive that are looked at."""
RELEVANT, OTHER = "relevant.jsonl", "other.jsonl"
DIGITS = 12


def archive_pages(config: TopicConfig, web: Web) -> list[Page]:
    """Return pages of an archive, those most worth judging first."""
    rng = np.random.default_rng(config.crawl.seed)
    sample = Reservoir[Page](SAMPLE, rng)
    for page in web.pages():
        sample.offer(page)
    outcomes = map(web.fetch, seed_urls(config))
    return worth_judging(
        config, [page for page in outcomes if isinstance(page, Page)], sample.sample
    )


def worth_judging(config: TopicConfig, seeds: Sequence[Page], pages: Iterable[Page]) -> list[Page]:
    """Rank pages: the seeds, then in turn those with many of the topic's words and random ones."""
    known = {page.url for page in seeds}
    others = [page for page in pages if page.url not in known and words(page.content)]
    topic = topic_forms(config)
    richness = [len(topic.intersection(words(page.content))) for page in others]
    shuffled = np.random.default_rng(config.crawl.seed).permutation(len(others)).tolist()
    sites = [site_of(page.url) for page in others]
    rich = [place for place in largest_first(richness) if richness[place]]
    places = alternate(site_by_site(rich, sites), site_by_site(shuffled, sites))
    return [*{page.url: page for page in seeds}.values(), *(others[place] for place in places)]


def topic_forms(config: TopicConfig) -> frozenset[str]:
    """Return the words of a topic: of its keywords, and of its description."""
    described = {*words(config.topic.description)} - STOP_WORDS
    return keyword_forms((*config.topic.keywords, *described))


def live_pages(
    config: TopicConfig, directory: Path, pages: int, on_page: Callable[[int], None]
) -> list[Page]:
    """Fetch the seeds and pages near them, at most `pages`, as politely as a crawl.

    It runs the event loop of a live crawl: once per process.
    """
    from tres.runs.live_components import check_live, in_live_loop  # slow to import
    from tres.runs.live_exploration import exploration_digest, explore_live

    check_live(config)
    if not (seeds := seed_urls(config)):
        raise SeedError("topic.seeds names no page to start from; name some, or give --pages FILE")
    rng = np.random.default_rng(config.crawl.seed)
    forms = keyword_forms(config.topic.keywords) or topic_forms(config)
    explorer = explore(seeds, forms, pages, rng)
    kept = directory / f"fetched-{exploration_digest(config.override(description=''))[:DIGITS]}"
    kept.mkdir(exist_ok=True)
    with ExplorationLog(kept) as log:
        found: ExploredPages | None = in_live_loop(
            lambda loop: explore_live(loop, config, explorer, on_page, log)
        )
    if found is None:
        raise TresError(f"stopped; what was fetched is kept in {kept}; run the command again")
    if not found.seeds:
        raise no_seed_error({seed.url: seed.kind for seed in found.failed})
    return worth_judging(config, found.seeds, (*found.near, *found.background))


def prepare_examples(directory: Path, overwrite: bool) -> None:
    """Make the directory for examples; earlier ones, which a person may have corrected, stay."""
    if not overwrite and any((directory / name).exists() for name in (RELEVANT, OTHER)):
        raise RunError(
            f"{directory}: holds examples already; name another --out, or add --overwrite"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{directory}: cannot be made ({error.strerror}); name another") from None


def write_examples(directory: Path, judged: Iterable[Judged], model: str) -> None:
    """Write the examples of both classes, each page with its verdict, one per line."""
    lines: dict[bool, list[str]] = {True: [], False: []}
    for page, verdict in ((each.page, each.verdict) for each in judged):
        row = {"url": page.url, "title": page.title, "text": page.text}
        told = {"by": "teacher", "model": model, "reason": verdict.reason}
        lines[verdict.relevant].append(json.dumps(row | told, ensure_ascii=False) + "\n")
    for name, relevant in ((RELEVANT, True), (OTHER, False)):
        replace_file(directory / name, "".join(lines[relevant]).encode(errors="replace"))
