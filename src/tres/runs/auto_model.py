"""`model = "auto"` without examples: explore from the seeds, then learn from the pages found.

The web's labels are never read here; only pages that a crawl from the seeds can fetch are used,
and the summary counts them (`exploration_pages`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tres.engines.exploration.explore import ExploredPages, Explorer, explore, explore_offline
from tres.errors import ConfigError, SeedError, TrainingError
from tres.offline.web import Web
from tres.relevance.examples import Examples
from tres.relevance.model import RelevanceModel
from tres.relevance.positive_unlabelled import guess_labels
from tres.relevance.tfidf import TfidfModel, train_tfidf
from tres.settings.topic_file import TopicConfig
from tres.topic.keyword_forms import keyword_forms
from tres.topic.text import words

EXPLORED = "exploration_pages"
"""The fact of a model that counts the pages fetched to learn it."""


@dataclass(frozen=True, slots=True)
class ExploredTopic:
    """The examples that an exploration gave, and the pages that it fetched."""

    guesses: Examples
    pages: int


def explore_topic(config: TopicConfig, web: Web, seeds: Sequence[str]) -> ExploredTopic:
    """Explore an offline web from the seeds, and guess which pages are about the topic."""
    return learn_topic(config, explore_offline(topic_explorer(config, seeds), web))


def topic_explorer(config: TopicConfig, seeds: Sequence[str]) -> Explorer:
    """Return the explorer of a topic, which an engine feeds with pages."""
    if not seeds:
        raise ConfigError(
            'topic.seeds: model = "auto" learns from seeds; name some there or with --seed-url'
        )
    forms = keyword_forms(config.topic.keywords)
    if not forms:
        raise TrainingError("topic.keywords: none of them contains a word; write words")
    rng = np.random.default_rng(config.crawl.seed)
    return explore(seeds, forms, config.training.explore, rng)


def learn_topic(config: TopicConfig, explored: ExploredPages) -> ExploredTopic:
    """Guess which of the explored pages are about the topic."""
    if not explored.seeds:
        raise no_seed_error({seed.url: seed.kind for seed in explored.failed})
    pages = (*explored.near, *explored.background)
    texts = [page.content for page in pages if words(page.content)]
    positives = [page.content for page in explored.seeds]
    return ExploredTopic(guess_labels(positives, texts, config.topic.keywords), explored.count)


def train_auto_model(config: TopicConfig, explored: ExploredTopic) -> TfidfModel:
    """Train the model that keywords and seeds alone can teach."""
    guesses = explored.guesses
    model = train_tfidf(guesses.texts, guesses.labels, config.crawl.seed, guesses.weights)
    return replace(model, facts={**model.facts, EXPLORED: explored.pages})


def no_seed_error(failed: Mapping[str, str]) -> SeedError:
    """Return the error that no seed gave a page, with the failure of each."""
    seeds = "the seed gave no" if len(failed) == 1 else f"none of the {len(failed)} seeds gave a"
    return SeedError(
        f"{seeds} page; name seeds that this web holds",
        details=[f"seed {url}: {kind}" for url, kind in failed.items()],
    )


def exploration_pages(model: RelevanceModel) -> int:
    """Return how many pages were fetched to learn this model; 0 if it had examples."""
    facts = getattr(model, "facts", {})
    return int(facts.get(EXPLORED, 0))
