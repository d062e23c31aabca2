"""The texts of the generated web: titles, texts and anchors."""

from __future__ import annotations

from dataclasses import dataclass

from tres.offline.generated.graph import Graph, Rng, Shape
from tres.offline.generated.urls import Addresses
from tres.offline.generated.word_lists import (
    COMMON_WORDS,
    DIRECTORY_WORDS,
    NO_TOPIC,
    TOPIC_WORDS,
    TOPICS,
    Words,
    draw_words,
    prose,
)

PLAIN_ANCHORS = ("more", "next", "here", "read more", "continue", "details", "click here")
MIN_WORDS, MAX_WORDS = 80, 300

Parts = list[tuple[Words, int]]


@dataclass(frozen=True, slots=True)
class PageWriter:
    """Writes titles, texts and anchors; the page's random stream is passed in."""

    graph: Graph
    addresses: Addresses
    shape: Shape

    def title(self, page: int, rng: Rng) -> str:
        """Return the headword of the page with some other words."""
        words = DIRECTORY_WORDS if self.graph.is_directory(page) else COMMON_WORDS
        return " ".join([self.addresses.headword(page), *draw_words(words, 2, rng)]).capitalize()

    def text(self, page: int, rng: Rng) -> str:
        """Return a text: mostly common words, the rest about the topic of the page."""
        length, share, other, odd = rng.random(4).tolist()
        count = int(MIN_WORDS + (MAX_WORDS - MIN_WORDS) * length)
        stranger = TOPIC_WORDS[int(other * len(TOPICS))]
        if self.graph.is_directory(page):
            parts = self._directory(page, count)
        elif self.graph.topic[page] == NO_TOPIC:
            parts = [(stranger, int(0.06 * share * count))]
        else:
            parts = self._topical(page, int((0.15 + 0.3 * share) * count), stranger, odd)
        rest = count - sum(size for _, size in parts)
        return prose([(COMMON_WORDS, rest), *parts], rng)

    def _directory(self, page: int, count: int) -> Parts:
        """Return words about links, and a few of the subject."""
        subject = TOPIC_WORDS[int(self.graph.subject[page])]
        return [(DIRECTORY_WORDS, count // 10), (subject, count // 20)]

    def _topical(self, page: int, count: int, stranger: Words, odd: float) -> Parts:
        """Return mostly words of the page's topic; in ambiguous pages, half of another."""
        foreign = count // 2 if odd < self.shape.ambiguous else count // 10
        return [(TOPIC_WORDS[int(self.graph.topic[page])], count - foreign), (stranger, foreign)]

    def anchor(self, source: int, target: int, rng: Rng) -> str:
        """Return the text of a link: descriptive, plain, or misleading."""
        kind, choice = rng.random(2).tolist()
        if kind < self.shape.plain:
            return PLAIN_ANCHORS[int(choice * len(PLAIN_ANCHORS))]
        if kind < self.shape.plain + self.shape.misleading:
            return " ".join(draw_words(self._misleading_words(source, target, choice), 2, rng))
        words = DIRECTORY_WORDS if self.graph.is_directory(target) else COMMON_WORDS
        return " ".join([self.addresses.headword(target), *draw_words(words, int(3 * choice), rng)])

    def _misleading_words(self, source: int, target: int, choice: float) -> Words:
        """Return words of a topic that the target does not have; if possible, the source's."""
        topic, subject = int(self.graph.topic[source]), int(self.graph.subject[target])
        if topic in (NO_TOPIC, subject):
            topic = (subject + 1 + int(choice * (len(TOPICS) - 1))) % len(TOPICS)
        return TOPIC_WORDS[topic]
