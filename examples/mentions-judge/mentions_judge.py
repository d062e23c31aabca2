"""A judge for tres in a package of its own: it counts the words of the topic.

pip install examples/mentions-judge

In a topic file: model = "mentions" in the section [training].
"""

from __future__ import annotations

from collections.abc import Sequence

import tres

ENOUGH = 0.05
"""The share of a text's words that must be words of the topic."""


class Mentions:
    """A text is the more relevant, the more of its words are words of the topic."""

    digest = f"enough {ENOUGH}"

    def __init__(self, topic: tres.TopicWords) -> None:
        self.words = frozenset(word.lower() for word in topic.keywords)

    def probabilities(self, texts: Sequence[str]) -> list[float]:
        return [min(1.0, 0.5 * self.share(text) / ENOUGH) for text in texts]

    def share(self, text: str) -> float:
        words = text.lower().split()
        return sum(word.strip(".,") in self.words for word in words) / max(1, len(words))
