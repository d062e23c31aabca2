"""A topic file to begin with: written from a few answers, explained by the settings themselves.

What stands in the file is what `tres.settings.sections` says of each setting, so the two cannot
differ. `ACTIVE` are the settings that everybody has an opinion on, written as they are; `OFFERED`
are those that many come to want, written as comments with their defaults. All others are left to
the documentation.
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
    *("topic.keywords", "topic.phrases", "topic.seeds"),
    *("training.model", "training.explore"),
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
# The topic of a crawl: what to look for, from where, how far. For `tres crawl`.
# Change what you like. A line such as "#seed = 1" shows a default; without its "#" it counts.
# There are more settings: all of them stand, explained, in the config.toml of every run.
"""

EVERYWHERE = frozenset(
    """
    article best blog click com contact day free good great help home homepage html http https
    index info information internet link links list main menu net new news online org page pages
    people read search site text thing things time top web website work world www year years
    """.split()
)
"""Words that pages about anything use."""
SHORT = 2
"""Letters up to which a word means too many things."""


def drafted(
    name: str, terms: Sequence[str], seeds: Sequence[str], contact: str, pages: int
) -> TopicConfig:
    """A topic as a newcomer describes it; `ConfigError` names what cannot be.

    Terms of several words become phrases. A topic needs a keyword: if there is none among the
    terms, the phrases are its keywords.
    """
    once = _once(terms)
    single = [term for term in once if len(term.split()) == 1]
    phrases = [term for term in once if term not in single] if single else []
    return TopicConfig(
        name=name,
        topic=TopicSection(
            keywords=tuple(single or once), phrases=tuple(phrases), seeds=tuple(seeds)
        ),
        training=TrainingSection(model="auto"),
        crawl=CrawlSection(pages=pages),
        live=LiveSection(contact=contact),
    )


def terms_of(written: Iterable[str]) -> list[str]:
    """The terms of lists that are separated by commas."""
    parts = (part for text in written for part in text.split(","))
    return [" ".join(part.split()) for part in parts if part.strip()]


def doubts(terms: Sequence[str]) -> Iterator[str]:
    """What is doubtful about the keywords and phrases of a topic, a sentence each."""
    for term in _once(terms):
        if sum(_same(term, other) for other in terms) > 1:
            yield f"{term!r} is named twice; it counts once"
        if doubt := _doubt(words(term)):
            yield f"{term!r} {doubt}"


def _doubt(found: list[str]) -> str:
    if not found:
        return "holds no word, so it is never found; leave it out"
    if all(word in STOP_WORDS for word in found):
        return "says nothing about a topic; leave it out"
    if all(word in STOP_WORDS | EVERYWHERE or word.isdigit() for word in found):
        return "is on pages about anything; a word of your topic alone is worth more"
    if len(found) == 1 and found[0].isascii() and len(found[0]) <= SHORT:
        return "is short and may mean many things; add a longer word beside it"
    return ""


def topic_file(config: TopicConfig) -> str:
    """The file that gives this configuration, to be read and changed by people."""
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


def _once(terms: Iterable[str]) -> list[str]:
    """Each term once, as it was first written."""
    seen: dict[tuple[str, ...], str] = {}
    for term in terms:
        seen.setdefault(_key(term), term)
    return list(seen.values())


def _same(one: str, other: str) -> bool:
    return _key(one) == _key(other)


def _key(term: str) -> tuple[str, ...]:
    return tuple(words(term)) or (term,)
