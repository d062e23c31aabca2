"""The topic file that `tres init` writes.

Its comments are the descriptions in `tres.settings.sections`, so the two cannot differ. `ACTIVE`
settings are written with their values; `OFFERED` ones, which many users want later, are commented
out with their defaults. All others are left to the documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import Field, fields
from typing import Any

from tres.settings.sections import CrawlSection, LiveSection, TopicSection, TrainingSection
from tres.settings.setting import Section, toml
from tres.settings.topic_file import SECTIONS, TopicConfig
from tres.topic.text import STOP_WORDS, words

ACTIVE = (
    *("topic.description", "topic.keywords", "topic.phrases", "topic.seeds"),
    "training.model",
    "crawl.pages",
    "live.contact",
)
OFFERED = (
    *("training.positives", "training.negatives", "training.load"),
    *("crawl.max_per_site", "crawl.policy", "crawl.seed", "crawl.in_flight"),
    *("live.delay", "live.allow", "live.keep", "live.include", "live.exclude", "live.languages"),
    *("live.max_clicks", "live.sitemaps", "live.javascript"),
)
HEAD = """\
# A topic for `tres crawl`: what to look for, where to start, how far to go.
# Change what you like. A line such as "#seed = 1" shows a default; remove the "#" to change it.
# The config.toml of every run explains all settings.
"""

EVERYWHERE = frozenset(
    """
    article best blog click com contact day free good great help home homepage html http https
    index info information internet link links list main menu net new news online org page pages
    people read search site text thing things time top web website work world www year years
    """.split()
)
"""Words that occur on pages about anything."""
SHORT = 2
"""Words of at most so many letters have too many meanings."""


def draft_topic(
    name: str,
    terms: Sequence[str],
    seeds: Sequence[str],
    contact: str,
    pages: int,
    description: str = "",
) -> TopicConfig:
    """Return the topic of these answers; `ConfigError` names an invalid one.

    Terms of several words become phrases; if all of them do, they are its keywords instead.
    """
    once = _unique(terms)
    single = [term for term in once if len(term.split()) == 1]
    phrases = [term for term in once if term not in single] if single else []
    return TopicConfig(
        name=name,
        topic=TopicSection(
            description=description,
            keywords=tuple(single or once),
            phrases=tuple(phrases),
            seeds=tuple(seeds),
        ),
        training=TrainingSection(),
        crawl=CrawlSection(pages=pages),
        live=LiveSection(contact=contact),
    )


def terms_of(written: Iterable[str]) -> list[str]:
    """Return the terms of comma-separated lists."""
    parts = (part for text in written for part in text.split(","))
    return [" ".join(part.split()) for part in parts if part.strip()]


def keyword_problems(terms: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each keyword or phrase that is of little use."""
    for term in _unique(terms):
        if sum(_key(term) == _key(other) for other in terms) > 1:
            yield f"{term!r} is given twice; it counts once"
        if problem := _problem(words(term)):
            yield f"{term!r} {problem}"


def _problem(found: list[str]) -> str:
    if not found:
        return "contains no word, so no page can contain it; leave it out"
    if all(word in STOP_WORDS for word in found):
        return "says nothing about a topic; leave it out"
    if all(word in STOP_WORDS | EVERYWHERE or word.isdigit() for word in found):
        return "occurs on pages about anything; use a word that only your topic uses"
    if len(found) == 1 and found[0].isascii() and len(found[0]) <= SHORT:
        return "is short and may mean many things; add a longer word"
    return ""


def format_topic_file(config: TopicConfig) -> str:
    """Return the topic file of this configuration."""
    lines = [HEAD, f"name = {toml(config.name)}"]
    for name, kind in SECTIONS.items():
        shown = [key for key in fields(kind) if f"{name}.{key.name}" in ACTIVE + OFFERED]
        if shown:
            about = (kind.__doc__ or "").partition("\n")[0]
            lines += ["", f"# {about}", f"[{name}]"]
            lines += [line for key in shown for line in _lines(getattr(config, name), key)]
    return "\n".join(lines) + "\n"


def _lines(section: Section, key: Field[Any]) -> Iterator[str]:
    yield f"# {key.metadata['doc']}"
    if f"{section.NAME}.{key.name}" in ACTIVE:
        yield f"{key.name} = {toml(getattr(section, key.name))}"
    else:
        default = '"..."' if key.default is None else toml(key.default)
        yield f"#{key.name} = {default}"


def _unique(terms: Iterable[str]) -> list[str]:
    """Return each term once, as it was first written."""
    seen: dict[tuple[str, ...], str] = {}
    for term in terms:
        seen.setdefault(_key(term), term)
    return list(seen.values())


def _key(term: str) -> tuple[str, ...]:
    return tuple(words(term)) or (term,)
