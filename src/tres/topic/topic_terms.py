"""The words by which a topic is found in links and texts: keywords, or else its description's."""

from __future__ import annotations

from collections.abc import Sequence

from tres.settings.sections import TopicSection
from tres.topic.keyword_matcher import keyword_forms
from tres.topic.text import content_words


def match_words(topic: TopicSection) -> Sequence[str]:
    """Return the words that links are searched for: the keywords, or those that describe it."""
    return topic.keywords or content_words(topic.description)


def topic_terms(topic: TopicSection) -> list[str]:
    """Return what to look for in a text: those words in all their forms, and the phrases."""
    sought = match_words(topic)
    forms = keyword_forms(word for word in sought if len(word.split()) == 1)
    return [*sought, *sorted(forms), *topic.phrases]
