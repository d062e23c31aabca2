"""The perceiver of a topic: from topic file to examples, keywords and relevance model.

Examples come from a web's labels or from files. With `model = "auto"` and neither of them, the
words of the topic give a first model, and the crawl itself teaches better ones
(`tres.runs.refits`); labels of the web are never read then. Keywords may be expanded from the
examples. The perceiver judges pages and links by both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from tres.errors import ConfigError, SeedError
from tres.offline.web import Web
from tres.relevance.example_files import examples_from_files
from tres.relevance.examples import Examples, examples_from_labels
from tres.relevance.installed_judge import InstalledJudge
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import load_model, train_model
from tres.relevance.static import StaticModel, untrained_model
from tres.relevance.training import TopicWords
from tres.settings.topic_file import TopicConfig
from tres.topic.expansion import Expansion, expand_keywords
from tres.topic.keyword_matcher import KeywordMatcher
from tres.topic.topic_terms import match_words
from tres.topic.vectors.word_vectors import load_vectors
from tres.web.percept import Perceiver
from tres.web.url import SiteBy, canonical, site_of


def perceive_topic(
    config: TopicConfig,
    web: Web | None,
    model: RelevanceModel | None = None,
    learns: bool = False,
) -> Perceiver:
    """Return the perceiver of a topic; a `model` replaces that of the topic file.

    Without a web the examples must come from files. A crawl teaches the model of the topic file if
    that has no examples; one that was given only if it `learns`.
    """
    trains = model is None and not config.training.own_judge
    wanted = config.training.has_examples and (trains or config.topic.expand)
    examples = topic_examples(config, web) if wanted else None
    expansion = find_keywords(config, examples) if config.topic.expand else None
    found = () if expansion is None else expansion.words
    judge = relevance_model(config, examples, found) if model is None else model
    matcher = topic_matcher(config, found)
    learning = config.training.learns if model is None else learns
    return Perceiver(judge, matcher, config.crawl.site, expansion, learning)


def topic_matcher(config: TopicConfig, found: Sequence[str] = ()) -> KeywordMatcher:
    """Return what finds the topic's words in links; `found` are further keywords."""
    return KeywordMatcher((*match_words(config.topic), *found), config.topic.phrases)


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
    if training.learns:
        return first_model(config)
    assert examples is not None  # the settings require a source of them
    return train_model(training.model, examples, config.crawl.seed, topic_words(config, found))


def topic_words(config: TopicConfig, found: Sequence[str] = ()) -> TopicWords:
    """Return what a model is told about the topic besides examples; `found` are new keywords."""
    topic = config.topic
    return TopicWords((*topic.keywords, *found), topic.phrases, topic.vectors, topic.description)


def first_model(config: TopicConfig) -> StaticModel:
    """Return the model with which a crawl begins that has no examples."""
    model = untrained_model(topic_words(config))
    if model is None:
        raise ConfigError(
            "topic: none of its words is known to the encoder, so no page can be judged by them; "
            "name English words as keywords, or give examples (labels, or positives and negatives)"
        )
    return model


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


def no_seed_error(failed: Mapping[str, str]) -> SeedError:
    """Return the error that no seed gave a page, with the failure of each."""
    seeds = "the seed gave no" if len(failed) == 1 else f"none of the {len(failed)} seeds gave a"
    return SeedError(
        f"{seeds} page; name seeds that this web holds",
        details=[f"seed {url}: {kind}" for url, kind in failed.items()],
    )
