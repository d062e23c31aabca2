"""How a child process makes its page reader: a function by name, and plain arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tres.engines.reading.page_reader import PageReader
from tres.relevance.model_kinds import load_model
from tres.settings.sections import LiveSection
from tres.topic.keyword_matcher import KeywordMatcher
from tres.web.percept import Perceiver
from tres.web.url import SiteBy


@dataclass(frozen=True)
class ReaderPlan:
    """A function as `module:function` and its arguments, as values that JSON knows."""

    factory: str
    arguments: dict[str, Any]

    @classmethod
    def with_model(
        cls,
        model: Path,
        keywords: Sequence[str],
        phrases: Sequence[str],
        live: LiveSection,
        year: int,
        site: SiteBy = "host",
        found: Sequence[str] = (),
        learns: bool = False,
    ) -> ReaderPlan:
        """A reader with the model saved in a directory; `found` are further keywords.

        If the crawl teaches its model (`learns`), it also tells what pages say.
        """
        plan = cls.without_model(live, year, site)
        topic = {"keywords": keywords, "phrases": phrases, "found": found, "learns": learns}
        return cls(plan.factory, {**plan.arguments, "model": str(model.absolute()), **topic})

    @classmethod
    def without_model(cls, live: LiveSection, year: int, site: SiteBy = "host") -> ReaderPlan:
        """A reader that does not judge pages, for an exploration."""
        arguments = {"live": asdict(live), "year": year, "site": site}
        return cls(f"{__name__}:topic_reader", arguments)


def make_reader(factory: str, arguments: dict[str, Any]) -> PageReader:
    """Call the function of a plan."""
    module, _, name = factory.partition(":")
    reader: PageReader = getattr(import_module(module), name)(**arguments)
    return reader


def topic_reader(
    live: dict[str, Any],
    year: int,
    site: SiteBy,
    model: str = "",
    keywords: Sequence[str] = (),
    phrases: Sequence[str] = (),
    found: Sequence[str] = (),
    learns: bool = False,
) -> PageReader:
    """The reader of a plan, with a model or without."""
    if not model:
        return PageReader(None, LiveSection(**live), year, site)
    matcher = KeywordMatcher([*keywords, *found], phrases)
    perceiver = Perceiver(load_model(Path(model)), matcher, site, learns=learns)
    named = KeywordMatcher(keywords, phrases)
    return PageReader(perceiver, LiveSection(**live), year, named=named)
