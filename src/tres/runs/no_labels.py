"""`model = "auto"` without examples: explore from the seeds, then learn from what was found.

The web's labels are never looked at here; only pages that a crawl from the seeds can fetch
are used, and the summary counts them (`exploration_pages`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tres.engines.exploration.explore import Asking, Exploration, answered, exploration
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
"""The fact of a model that says how many pages were fetched to learn it."""


@dataclass(frozen=True, slots=True)
class Explored:
    """What the exploration taught, and what it cost."""

    guesses: Examples
    pages: int


def explore_topic(config: TopicConfig, web: Web, seeds: Sequence[str]) -> Explored:
    """Gather pages from the seeds and guess which of them are about the topic."""
    return learn_topic(config, answered(ask_topic(config, seeds), web))


def ask_topic(config: TopicConfig, seeds: Sequence[str]) -> Asking:
    """The exploration of a topic, for whoever can answer it."""
    if not seeds:
        raise ConfigError(
            'topic.seeds: model = "auto" learns from seeds; name some there or with --seed-url'
        )
    forms = keyword_forms(config.topic.keywords)
    if not forms:
        raise TrainingError("topic.keywords: none of them holds a word; write words")
    rng = np.random.default_rng(config.crawl.seed)
    return exploration(seeds, forms, config.training.explore, rng)


def learn_topic(config: TopicConfig, found: Exploration) -> Explored:
    """Guess which of the pages that were found are about the topic."""
    if not found.seeds:
        raise no_seed({seed.url: seed.kind for seed in found.failed})
    texts = [page.content for page in (*found.near, *found.background) if words(page.content)]
    positives = [page.content for page in found.seeds]
    return Explored(guess_labels(positives, texts, config.topic.keywords), found.pages)


def auto_model(config: TopicConfig, explored: Explored) -> TfidfModel:
    """The model that keywords and seeds alone can teach."""
    guesses = explored.guesses
    model = train_tfidf(guesses.texts, guesses.labels, config.crawl.seed, guesses.weights)
    return replace(model, facts={**model.facts, EXPLORED: explored.pages})


def no_seed(failed: Mapping[str, str]) -> SeedError:
    """No seed gave a page: tell each of them, by its URL and kind of failure."""
    seeds = "the seed gave no" if len(failed) == 1 else f"none of the {len(failed)} seeds gave a"
    return SeedError(
        f"{seeds} page; name seeds that this web holds",
        details=[f"seed {url}: {kind}" for url, kind in failed.items()],
    )


def exploration_pages(model: RelevanceModel) -> int:
    """Pages that were fetched to learn this model; 0 if it was taught by examples."""
    facts = getattr(model, "facts", {})
    return int(facts.get(EXPLORED, 0))
