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
    ) -> ReaderPlan:
        """A reader with the model saved in a directory; `found` are further keywords."""
        arguments = {
            "model": str(model.absolute()),
            "keywords": list(keywords),
            "phrases": list(phrases),
            "site": site,
            "live": asdict(live),
            "year": year,
            "found": list(found),
        }
        return cls(f"{__name__}:reader_with_model", arguments)

    @classmethod
    def without_model(cls, live: LiveSection, year: int, site: SiteBy = "host") -> ReaderPlan:
        """A reader that does not judge pages, for an exploration."""
        arguments = {"live": asdict(live), "year": year, "site": site}
        return cls(f"{__name__}:reader_without_model", arguments)


def make_reader(factory: str, arguments: dict[str, Any]) -> PageReader:
    """Call the function of a plan."""
    module, _, name = factory.partition(":")
    reader: PageReader = getattr(import_module(module), name)(**arguments)
    return reader


def reader_with_model(
    model: str,
    keywords: list[str],
    phrases: list[str],
    site: SiteBy,
    live: dict[str, Any],
    year: int,
    found: list[str],
) -> PageReader:
    """The reader of `ReaderPlan.with_model`."""
    matcher = KeywordMatcher([*keywords, *found], phrases)
    perceiver = Perceiver(load_model(Path(model)), matcher, site)
    named = KeywordMatcher(keywords, phrases)
    return PageReader(perceiver, LiveSection(**live), year, named=named)


def reader_without_model(live: dict[str, Any], year: int, site: SiteBy) -> PageReader:
    """The reader of `ReaderPlan.without_model`."""
    return PageReader(None, LiveSection(**live), year, site)
