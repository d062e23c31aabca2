"""The perceiver of a topic: from topic file to examples, keywords and relevance model.

Examples come from a web's labels or from files. With `model = "auto"` and neither of them, an
exploratory crawl from the seeds gathers pages and guesses which are relevant. It never reads the
web's labels; it uses only pages that a crawl from the seeds can fetch, and the summary counts them
(`exploration_pages`). Keywords may be expanded from the examples. The perceiver judges pages and
links by both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from tres.engines.exploration.explore import ExploredPages, Explorer, explore, explore_offline
from tres.errors import ConfigError, SeedError, TrainingError
from tres.offline.web import Web
from tres.relevance.example_files import examples_from_files
from tres.relevance.examples import Examples, examples_from_labels
from tres.relevance.installed_judge import InstalledJudge
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import load_model, train_model
from tres.relevance.positive_unlabelled import guess_labels
from tres.relevance.tfidf import TfidfModel, train_tfidf
from tres.relevance.training import TopicWords
from tres.settings.topic_file import TopicConfig
from tres.topic.expansion import Expansion, expand_keywords
from tres.topic.keyword_matcher import KeywordMatcher, keyword_forms
from tres.topic.text import words
from tres.topic.vectors.word_vectors import load_vectors
from tres.web.percept import Perceiver
from tres.web.url import SiteBy, canonical, site_of

EXPLORED = "exploration_pages"
"""The fact of a model that counts the pages fetched to learn it."""


def perceive_topic(
    config: TopicConfig, web: Web | None, model: RelevanceModel | None = None
) -> Perceiver:
    """Return the perceiver of a topic; a `model` replaces that of the topic file.

    Without a web the examples must come from files.
    """
    trains = model is None and not config.training.own_judge
    wanted = config.training.has_examples and (trains or config.topic.expand)
    examples = topic_examples(config, web) if wanted else None
    expansion = find_keywords(config, examples) if config.topic.expand else None
    found = () if expansion is None else expansion.words
    matcher = KeywordMatcher((*config.topic.keywords, *found), config.topic.phrases)
    guesses = None
    if model is None and config.training.explores:
        assert web is not None  # an engine explores the live Web, and brings the model
        explored = explore_topic(config, web, seed_urls(config))
        model, guesses = train_auto_model(config, explored), explored.guesses
    judge = relevance_model(config, examples, found) if model is None else model
    return Perceiver(judge, matcher, config.crawl.site, expansion, guesses)


def topic_examples(config: TopicConfig, web: Web | None) -> Examples:
    """Return the example pages of a topic file, from a web's labels or from files."""
    training = config.training
    if training.positives is not None and training.negatives is not None:
        return examples_from_files(
            training.positives, training.negatives, partial(_site_of, by=config.crawl.site)
        )
    if web is None:
        raise ConfigError("--web is missing: name the archive whose labels give the examples")
    labelled = (
        (page.content, page.labels, site_of(page.url, config.crawl.site)) for page in web.pages()
    )
    return examples_from_labels(
        labelled, training.labels, training.relevant, training.irrelevant, config.crawl.seed
    )


def _site_of(written: str, by: SiteBy) -> str | None:
    """Return the site of an address as a person wrote it; None if it is no web address."""
    url = canonical(written)
    return None if url is None else site_of(url, by)


def relevance_model(
    config: TopicConfig, examples: Examples | None, found: Sequence[str] = ()
) -> RelevanceModel:
    """Load the model or judge that the file names, or train one; `found` are new keywords."""
    training = config.training
    if training.own_judge:
        return InstalledJudge(training.model, topic_words(config, found))
    if training.load is not None:
        return load_model(training.load, code=False)
    assert examples is not None  # the settings require a source of them
    return train_model(training.model, examples, config.crawl.seed, topic_words(config, found))


def topic_words(config: TopicConfig, found: Sequence[str] = ()) -> TopicWords:
    """Return what a model is told about the topic besides examples; `found` are new keywords."""
    return TopicWords((*config.topic.keywords, *found), config.topic.phrases, config.topic.vectors)


def find_keywords(config: TopicConfig, examples: Examples | None) -> Expansion:
    """Return the keywords that expansion finds in the examples of a topic."""
    if examples is None:
        raise ConfigError(
            "topic.expand needs example pages, and there are none; "
            "give labels or positives and negatives, or set topic.expand = false"
        )
    vectors = load_vectors(config.topic.vectors)
    return expand_keywords(config.topic, examples.relevant, examples.irrelevant, vectors)


def seed_urls(config: TopicConfig) -> list[str]:
    """Return the seeds of the topic file in canonical form."""
    urls = []
    for written in config.topic.seeds:
        url = canonical(written)
        if url is None:
            raise ConfigError(f"topic.seeds: {written!r} is not a web address; write http://...")
        urls.append(url)
    return urls


class ExploredTopic(NamedTuple):
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
