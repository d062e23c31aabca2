"""Percepts: what the crawler perceives of a page. The seam of the whole design.

Everything before a percept is work on a single page, independent of the crawl: parsing, judging,
matching keywords. It can be done anywhere, in any order, and cached. Everything after it is the
learner, which sees only the numbers and names of percepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, Literal

import msgspec
import numpy as np

from tres.relevance.model import THRESHOLD, RelevanceModel
from tres.topic.expansion import Expansion
from tres.topic.keyword_matcher import KeywordMatcher
from tres.topic.language import language_of
from tres.web.link_wording import Wordings, encode_wordings
from tres.web.page import Link, Page
from tres.web.url import site_of, url_words

Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]
Floats = np.ndarray[tuple[int], np.dtype[np.float32]]


MAX_ANCHOR_CHARS = 500
"""Kept of the anchors of one target; a model reads all of them."""
MAX_CONTENT_CHARS = 5_000
"""Kept of the content of a page for a model that learns during the crawl."""


class LinkPercepts(msgspec.Struct, frozen=True, dict=True):
    """The links of a page, column by column: one entry per distinct target URL.

    The codec (`tres.web.percept_codec`) and the features that learners see follow from the fields.
    """

    urls: tuple[str, ...]
    sites: tuple[str, ...]
    url_keyword: Flags
    anchor_keyword: Flags
    anchor_relevance: Floats
    anchors: tuple[str, ...] = ()
    """The texts of the links, for people and for baselines that read words."""

    def __len__(self) -> int:
        return len(self.urls)

    @cached_property
    def wordings(self) -> Wordings:
        """The words of the links as numbers, computed once per page."""
        return encode_wordings(self.urls, self.anchors)

    def select(self, keep: Flags) -> LinkPercepts:
        """Return the links for which `keep` is true."""
        chosen = keep.tolist()
        columns: list[Any] = [
            column[keep] if isinstance(column, np.ndarray) else tuple(compress(column, chosen))
            for column in msgspec.structs.astuple(self)
        ]
        return LinkPercepts(*columns)


NUMERIC = tuple(
    field.name for field in msgspec.structs.fields(LinkPercepts) if field.type in (Flags, Floats)
)
"""The columns of links that learners see."""


class Percept(msgspec.Struct, frozen=True):
    """One judged page: its relevance and the columns of its outlinks."""

    url: str
    site: str
    relevance: float
    links: LinkPercepts
    language: str = ""
    """As `tres.topic.language` identifies it: a note that plays no part in decisions."""
    content: str = ""
    """The beginning of what the page says, if the crawl teaches its model; empty otherwise."""

    @property
    def relevant(self) -> bool:
        """Whether the page earns the reward."""
        return self.relevance >= THRESHOLD

    def with_links(self, keep: Flags) -> Percept:
        """Return the percept with only the links for which `keep` is true."""
        return msgspec.structs.replace(self, links=self.links.select(keep))


@dataclass(frozen=True, slots=True)
class Perceiver:
    """Turns pages into percepts for one topic."""

    model: RelevanceModel
    matcher: KeywordMatcher
    site_by: Literal["host", "domain"] = "host"
    expansion: Expansion | None = None
    """The source of the keywords that are not in the topic file."""
    learns: bool = False
    """Whether the crawl teaches the model, so that percepts have the content of their pages."""

    def judge_page(self, page: Page) -> Percept:
        """Judge a page and describe its outlinks; links to itself are dropped."""
        outlinks = [link for link in page.links if link.url != page.url]
        relevance = float(self.model.probabilities([page.content])[0])
        language = language_of(page.text or page.title)
        content = page.content[:MAX_CONTENT_CHARS] if self.learns else ""
        links = self.describe_links(outlinks)
        return Percept(page.url, self.site(page.url), relevance, links, language, content)

    def describe_seeds(self, urls: Iterable[str]) -> LinkPercepts:
        """Describe seeds: links without a page and an anchor, only with a URL."""
        return self.describe_links([Link(url, "") for url in urls])

    def describe_links(self, links: Sequence[Link]) -> LinkPercepts:
        """Describe links; several anchors for one URL count as one text."""
        anchors: dict[str, str] = {}
        for link in links:
            known = anchors.get(link.url)
            anchors[link.url] = link.anchor if known is None else f"{known} {link.anchor}"
        texts = [f"{anchor} {url_words(url)}" for url, anchor in anchors.items()]
        in_url, in_text = self.matcher.in_url, self.matcher.in_text
        return LinkPercepts(
            urls=tuple(anchors),
            sites=tuple(self.site(url) for url in anchors),
            url_keyword=np.array([in_url(url) for url in anchors], np.bool_),
            anchor_keyword=np.array([in_text(anchor) for anchor in anchors.values()], np.bool_),
            anchor_relevance=self.model.probabilities(texts),
            anchors=tuple(anchor[:MAX_ANCHOR_CHARS] for anchor in anchors.values()),
        )

    def site(self, url: str) -> str:
        """The site a URL belongs to."""
        return site_of(url, self.site_by)
