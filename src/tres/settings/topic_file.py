"""The topic file: what to look for, how to learn it, how to crawl.

One TOML file describes a crawl; `tres.settings.sections` lists all its settings. Before anything
starts, a mistake is reported in one line that names file and key and says what is valid. Paths in
the file are relative to it.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, get_type_hints

from tres.errors import ConfigError
from tres.files import opening as files
from tres.settings.sections import (
    ENCODERS,
    PRESETS,
    VECTORS,
    AgentSection,
    CrawlSection,
    LiveSection,
    TopicSection,
    TrainingSection,
    TreeSection,
    encoder_source,
    vectors_source,
)
from tres.settings.setting import Section, existing_path, is_there, nearest, shown, text, toml


@dataclass(frozen=True, kw_only=True)
class TopicConfig:
    """A whole topic file; settings that are not in the file have their defaults."""

    name: str
    topic: TopicSection
    training: TrainingSection
    crawl: CrawlSection = field(default_factory=CrawlSection)
    live: LiveSection = field(default_factory=LiveSection)
    tree: TreeSection = field(default_factory=TreeSection)
    agent: AgentSection = field(default_factory=AgentSection)

    def override(self, **changes: object) -> Self:
        """Return a copy with other values, by dotted (`crawl.pages`) or plain key (`pages`).

        The rules are those of the file; a value of `None` changes nothing.
        """
        changed = _by_section(changes)
        return replace(
            self, **{name: replace(getattr(self, name), **new) for name, new in changed.items()}
        )

    def to_toml(self) -> str:
        """Return the file that gives exactly this configuration, with every setting explained."""
        lines = [f"name = {toml(self.name)}"]
        for name in SECTIONS:
            lines += ["", *getattr(self, name).to_toml()]
        return "\n".join(lines) + "\n"


SECTIONS: dict[str, type[Section]] = get_type_hints(TopicConfig)
del SECTIONS["name"]
MOST_PARTS = 16
"""Parts of a dotted key; settings have two. Python's parser needs memory by their square."""
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*+"'
    r"|'[^'\n]*+'|#[^\n]*+",
    re.DOTALL,
)
"""A string or a comment of TOML."""
_LONG_KEY = re.compile(rf'(?<![\w"-])(?:[\w"-]++[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}')
KEYS = tuple(f"{name}.{key.name}" for name, kind in SECTIONS.items() for key in fields(kind))
ANY = object()
RETIRED: dict[str, tuple[object, str]] = {
    "training.eight_bit": (False, "neural models always answer exactly"),
    "training.explore": (ANY, "a crawl learns its topic from the pages that it fetches"),
}
"""Settings of earlier versions: the value that is ignored, and why the others are refused.

A run keeps a copy of every setting, so old runs contain them."""


def load_topic(path: Path | str) -> TopicConfig:
    """Read and check a topic file; `ConfigError` says what is wrong with it."""
    path = Path(path)
    table, sections = read_sections(path, SECTIONS, plain=("name",))
    try:
        return TopicConfig(name=_name(table.get("name", path.stem)), **sections)  # type: ignore[arg-type]
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem.message}") from None


def new_topic(
    keywords: Sequence[str] = (),
    seeds: Sequence[str] = (),
    *,
    name: str = "topic",
    **settings: object,
) -> TopicConfig:
    """Return a topic without a file.

    `settings` are those of the file, by plain (`pages`) or dotted key (`crawl.pages`, as
    `**{"crawl.pages": 500}`), and are checked in the same way. Keywords may be left out if there
    is a `description`. Where no example pages are named (`labels`, `positives` and `negatives`,
    `load`) the crawl itself teaches the model.

        >>> topic = new_topic(["bee", "honey"], ["https://bees.example/"], pages=500)
        >>> topic.training.model, topic.crawl.pages
        ('auto', 500)
    """
    given = _by_section({**settings, "topic.keywords": keywords, "topic.seeds": seeds})
    sections = {key: kind(**given[key]) for key, kind in SECTIONS.items()}
    return TopicConfig(name=_name(name), **sections)  # type: ignore[arg-type]


def read_sections(
    path: Path, kinds: Mapping[str, type[Section]], plain: tuple[str, ...]
) -> tuple[dict[str, Any], dict[str, Section]]:
    """Read a TOML file of these sections and plain keys; return the table and its sections."""
    table = _read_toml(path)
    try:
        _refuse_unknown(table, kinds, plain)
        base = path.absolute().parent
        crawl = table.get("crawl")
        preset = crawl.get("preset") if isinstance(crawl, dict) else None
        defaults = _by_section({"crawl.preset": preset})
        return table, {
            key: _section(kind, table.get(key, {}), defaults[key], base)
            for key, kind in kinds.items()
        }
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem.message}") from None


def parsed_toml(text: str) -> dict[str, Any]:
    """Return the table in a text; `ValueError` says what is wrong with it."""
    if _LONG_KEY.search(_STRING.sub('""', text)):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return parsed_toml(files.content(path).decode("utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: no such file; check the path ('tres init' writes a topic file)"
        ) from None
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror}") from None
    except ValueError as problem:
        raise ConfigError(f"{path}: is not valid TOML: {problem}") from None


def _refuse_unknown(
    table: dict[str, Any], kinds: Mapping[str, type[Section]], plain: tuple[str, ...]
) -> None:
    for key, value in table.items():
        if key in kinds or key in plain:
            continue
        if isinstance(value, dict):
            sections = [f"[{name}]" for name in kinds]
            raise ConfigError(f"unknown section [{key}]; {_hint(nearest(key, sections), sections)}")
        raise ConfigError(f"{key} is not in a section; {_meant(key)}")


def _by_section(settings: Mapping[str, object]) -> defaultdict[str, dict[str, Any]]:
    """Return settings by section and plain key, including those of the preset they name."""
    given = {_dotted(key): value for key, value in settings.items() if value is not None}
    preset = given.get("crawl.preset")  # unknown ones are refused elsewhere
    defaults = next((values for name, values in PRESETS.items() if name == preset), {})
    by_section: defaultdict[str, dict[str, Any]] = defaultdict(dict)
    for key, value in {**defaults, **given}.items():
        section, _, name = key.partition(".")
        by_section[section][name] = value
    return by_section


def _section(kind: type[Section], table: object, defaults: dict[str, Any], base: Path) -> Section:
    if not isinstance(table, dict):
        raise ConfigError(f"{kind.NAME} must be a section, [{kind.NAME}], not {shown(table)}")
    known = {key.name: key for key in fields(kind)}
    table = _without_retired(kind.NAME, table)
    for name in table:
        if name not in known:
            raise ConfigError(f"unknown setting {kind.NAME}.{name}; {_meant(name, kind.NAME)}")
    for name, key in known.items():
        if key.default is MISSING and name not in table:
            raise ConfigError(f"{kind.NAME}.{name} is missing: {key.metadata['doc']}")
    written = {name: _based(known[name].metadata, value, base) for name, value in table.items()}
    return kind(**{**defaults, **written})


def _without_retired(section: str, table: dict[str, Any]) -> dict[str, Any]:
    kept = {}
    for key, value in table.items():
        harmless, reason = RETIRED.get(f"{section}.{key}", (None, ""))
        if not reason:
            kept[key] = value
        elif harmless is not ANY and value != harmless:
            raise ConfigError(f"{section}.{key} is no longer a setting: {reason}; remove the line")
    return kept


def _based(metadata: Mapping[str, Any], value: object, base: Path) -> object:
    """Resolve a path relative to the file that contains it."""
    check = metadata["check"]
    if not isinstance(value, str):
        return value
    is_path = check is existing_path or (check is vectors_source and value not in VECTORS)
    is_path |= check is encoder_source and value not in ENCODERS and is_there(base / value)
    return base / value if is_path else value


def _name(value: object) -> str:
    try:
        return text(value)
    except ValueError as problem:
        raise ConfigError(f"name {problem}") from None


def _dotted(key: str) -> str:
    """Return the full name of a setting that may be given by its last part."""
    for full in KEYS:
        if key in (full, full.partition(".")[2]):
            return full
    raise ConfigError(f"unknown setting {key}; {_meant(key)}")


def _meant(key: str, section: str = "") -> str:
    """Return a hint at the setting most like a wrong key, in its section or else in another."""
    own = {full.partition(".")[2]: full for full in KEYS if full.startswith(f"{section}.")}
    every = {full.partition(".")[2]: full for full in KEYS}
    name = key.rpartition(".")[2]
    for known in (own, every):
        if near := nearest(name, known):
            return _hint(known[near], KEYS)
    return _hint(None, own.values() or KEYS)


def _hint(near: str | None, valid: Iterable[str]) -> str:
    return f"did you mean {near}?" if near else f"valid: {', '.join(valid)}"
