"""The perceiver of a topic: from topic file to examples, keywords and relevance model.

Examples come from a web's labels or from files; with `model = "auto"` and neither of them, an
exploratory crawl gathers pages and guesses which are relevant (`tres.runs.auto_model`). Keywords
may be expanded from the examples. The perceiver judges pages and links by both.
"""

from __future__ import annotations

from collections.abc import Sequence

from tres.errors import ConfigError
from tres.offline.web import Web
from tres.relevance.example_files import examples_from_files
from tres.relevance.examples import Examples, examples_from_labels
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import load_model, train_model
from tres.relevance.training import TopicWords
from tres.runs.auto_model import explore_topic, train_auto_model
from tres.settings.topic_file import TopicConfig
from tres.topic.expansion import Expansion, expand_keywords
from tres.topic.keyword_matcher import KeywordMatcher
from tres.topic.vectors.word_vectors import load_vectors
from tres.web.percept import Perceiver
from tres.web.url import canonical


def perceive_topic(
    config: TopicConfig, web: Web | None, model: RelevanceModel | None = None
) -> Perceiver:
    """Return the perceiver of a topic; a `model` replaces that of the topic file.

    Without a web the examples must come from files.
    """
    taught = config.training.load is None and not config.training.explores
    wanted = taught and (model is None or config.topic.expand)
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
        return examples_from_files(training.positives, training.negatives)
    if web is None:
        raise ConfigError("--web is missing: name the archive whose labels give the examples")
    labelled = ((page.content, page.labels) for page in web.pages())
    return examples_from_labels(
        labelled, training.labels, training.relevant, training.irrelevant, config.crawl.seed
    )


def relevance_model(
    config: TopicConfig, examples: Examples | None, found: Sequence[str] = ()
) -> RelevanceModel:
    """Load the model that the topic file names, or train one; `found` are expanded keywords."""
    training = config.training
    if training.load is not None:
        return load_model(training.load)
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
