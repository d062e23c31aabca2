"""The topic file: what to look for, how to learn it, how to crawl.

One TOML file describes a crawl. Every setting stands here once, in one line: its type,
its range, its meaning and its default. Adding a setting is adding a line; validation,
messages, overrides and the commented copy that a run keeps all follow from it
(`tres.settings` has the machinery).

What is wrong is told in one line that names file and key and says what is valid, before
anything starts. Paths are relative to the topic file.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, Self, get_args

from tres.caps import SiteCap
from tres.errors import ConfigError
from tres.settings import (
    Section,
    choice,
    existing_path,
    flat_list,
    nearest,
    number,
    setting,
    shown,
    text,
    toml,
    web_address,
    whole,
)

PolicyName = Literal["tres", "tree-random", "random", "breadth-first", "parent", "anchor", "oracle"]
FeatureSet = Literal["evidence", "paper", "no-site"]
ModelKind = Literal["tfidf"]
SiteKind = Literal["host", "domain"]

POLICIES: tuple[PolicyName, ...] = get_args(PolicyName)
FEATURES: tuple[FeatureSet, ...] = get_args(FeatureSet)
MODELS: tuple[ModelKind, ...] = get_args(ModelKind)
SITES: tuple[SiteKind, ...] = get_args(SiteKind)

_share = number("from 0 to 1", lambda x: 0 <= x <= 1)


@dataclass(frozen=True, kw_only=True)
class TopicSection(Section):
    """What the crawl is about."""

    NAME = "topic"

    keywords: tuple[str, ...] = setting(
        flat_list(text, "words", least=1), "words that pages about the topic use"
    )
    phrases: tuple[str, ...] = setting(
        flat_list(text, "phrases"), "phrases that pages about the topic use", ()
    )
    seeds: tuple[str, ...] = setting(
        flat_list(web_address, "web addresses"), "pages to start from; more by --seed-url", ()
    )


@dataclass(frozen=True, kw_only=True)
class TrainingSection(Section):
    """How the relevance model learns: from labels, from files, or not at all (`load`)."""

    NAME = "training"

    labels: tuple[str, ...] = setting(
        flat_list(text, "labels"), "labels of relevant pages, with all labels below them", ()
    )
    relevant: int = setting(whole(1), "relevant example pages to draw, at most", 150)
    irrelevant: int = setting(whole(1), "irrelevant example pages to draw, at most", 1000)
    model: ModelKind = setting(choice(MODELS), f"kind of model: {', '.join(MODELS)}", "tfidf")
    positives: Path | None = setting(
        existing_path, "relevant examples: a directory of .txt and .html, or .jsonl(.gz)", None
    )
    negatives: Path | None = setting(
        existing_path, "irrelevant examples: a directory of .txt and .html, or .jsonl(.gz)", None
    )
    load: Path | None = setting(existing_path, "directory of a saved model to use as it is", None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.positives is None) != (self.negatives is None):
            missing = "positives" if self.positives is None else "negatives"
            raise ConfigError(f"training.{missing} is missing: examples of both kinds are needed")
        given = [bool(self.labels), self.positives is not None, self.load is not None]
        if sum(given) != 1:
            raise ConfigError(
                f"training names {sum(given)} sources of examples; "
                "give exactly one of labels, positives with negatives, or load"
            )


@dataclass(frozen=True, kw_only=True)
class CrawlSection(Section):
    """How far to go, and by which policy."""

    NAME = "crawl"

    pages: int = setting(whole(1), "pages to fetch before the crawl ends", 2000)
    max_per_site: SiteCap = setting(
        lambda value: value if isinstance(value, SiteCap) else _site_cap(value),
        'pages of one site, at most: "inf", a number, or falling as in "5..2"',
        SiteCap(),
    )
    policy: PolicyName = setting(choice(POLICIES), f"who chooses: {', '.join(POLICIES)}", "tres")
    features: FeatureSet = setting(
        choice(FEATURES), f"what it sees of a link: {', '.join(FEATURES)}", "evidence"
    )
    seed: int = setting(whole(0), "seed of all randomness: one seed, one crawl", 1)
    site: SiteKind = setting(choice(SITES), f"what counts as one site: {', '.join(SITES)}", "host")
    in_flight: int = setting(whole(1, 64), "pages fetched at the same time", 1)


@dataclass(frozen=True, kw_only=True)
class TreeSection(Section):
    """The Tree-Frontier."""

    NAME = "tree"

    min_split: int = setting(whole(2), "experiences a leaf needs before it may split", 5)
    max_depth: int = setting(whole(1, 64), "depth at which leaves split no more", 18)
    representatives: int = setting(whole(1), "URLs that each leaf offers at a decision", 8)


@dataclass(frozen=True, kw_only=True)
class AgentSection(Section):
    """The learner of link values (Double DQN)."""

    NAME = "agent"

    gamma: float = setting(
        number("of at least 0 and below 1", lambda x: 0 <= x < 1), "weight of what follows", 0.3
    )
    hidden: tuple[int, ...] = setting(
        flat_list(whole(1), "layer sizes", least=1), "sizes of the hidden layers", (30, 15)
    )
    learning_rate: float = setting(
        number("above 0 and at most 1", lambda x: 0 < x <= 1), "step size of the optimiser", 0.001
    )
    batch: int = setting(whole(1), "experiences learnt from at each step", 32)
    replay: int = setting(whole(1), "experiences remembered, at most", 20000)
    target_every: int = setting(whole(1), "steps between two copies to the target network", 100)
    warmup: int = setting(whole(0), "steps at random before the agent decides", 20)
    epsilon: float = setting(_share, "share of later steps taken at random", 0.05)


@dataclass(frozen=True, kw_only=True)
class TopicConfig:
    """A whole topic file, resolved: what is not written there has its default."""

    name: str
    topic: TopicSection
    training: TrainingSection
    crawl: CrawlSection = field(default_factory=CrawlSection)
    tree: TreeSection = field(default_factory=TreeSection)
    agent: AgentSection = field(default_factory=AgentSection)

    def override(self, **changes: object) -> Self:
        """The same with other values, by dotted (`crawl.pages`) or plain key (`pages`).

        The rules are those of the file; a value of `None` means "as it is".
        """
        by_section: dict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in changes.items():
            if value is not None:
                section, _, name = _dotted(key).partition(".")
                by_section[section][name] = value
        changed = {name: replace(getattr(self, name), **new) for name, new in by_section.items()}
        return replace(self, **changed)

    def to_toml(self) -> str:
        """The file that gives exactly this configuration, with every setting explained."""
        lines = [f"name = {toml(self.name)}"]
        for name in SECTIONS:
            lines += ["", *getattr(self, name).to_toml()]
        return "\n".join(lines) + "\n"


SECTIONS: dict[str, type[Section]] = {
    kind.NAME: kind
    for kind in (TopicSection, TrainingSection, CrawlSection, TreeSection, AgentSection)
}
KEYS = tuple(f"{name}.{key.name}" for name, kind in SECTIONS.items() for key in fields(kind))


def load_topic(path: Path | str) -> TopicConfig:
    """Read and check a topic file; `ConfigError` tells what is wrong with it."""
    path = Path(path)
    table = _read_toml(path)
    try:
        _refuse_unknown(table)
        name = _name(table.get("name", path.stem))
        base = path.resolve().parent
        sections = {key: _section(kind, table.get(key, {}), base) for key, kind in SECTIONS.items()}
        return TopicConfig(name=name, **sections)  # type: ignore[arg-type]
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem.message}") from None


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such topic file") from None
    except OSError as problem:
        raise ConfigError(f"{path}: cannot be read: {problem.strerror}") from None
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{path}: is not valid TOML: {problem}") from None


def _refuse_unknown(table: dict[str, Any]) -> None:
    for key, value in table.items():
        if key in SECTIONS or key == "name":
            continue
        if isinstance(value, dict):
            raise ConfigError(f"[{key}] is no section; {_hint(nearest(key, SECTIONS), SECTIONS)}")
        raise ConfigError(f"{key} stands in no section; {_meant(key)}")


def _section(kind: type[Section], table: object, base: Path) -> Section:
    if not isinstance(table, dict):
        raise ConfigError(f"{kind.NAME} must be a section, [{kind.NAME}], not {shown(table)}")
    known = {key.name: key for key in fields(kind)}
    for key in table:
        if key not in known:
            raise ConfigError(f"{kind.NAME}.{key} is no setting; {_meant(key, kind.NAME)}")
    for required in kind.required():
        if required.name not in table:
            raise ConfigError(f"{kind.NAME}.{required.name} is missing: {required.metadata['doc']}")
    return kind(**{key: _based(known[key].metadata, value, base) for key, value in table.items()})


def _based(metadata: Any, value: object, base: Path) -> object:
    """Paths of a file are relative to that file."""
    return base / value if metadata["check"] is existing_path and isinstance(value, str) else value


def _name(value: object) -> str:
    try:
        return text(value)
    except ValueError as problem:
        raise ConfigError(f"name {problem}") from None


def _site_cap(value: object) -> SiteCap:
    try:
        return SiteCap.parse(value)
    except ValueError as problem:
        raise ValueError(f"{problem}, not {shown(value)}") from None


def _dotted(key: str) -> str:
    """The full name of a setting that may have been given by its last part."""
    for full in KEYS:
        if key in (full, full.partition(".")[2]):
            return full
    raise ConfigError(f"{key} is no setting; {_meant(key)}")


def _meant(key: str, section: str = "") -> str:
    """The setting that a wrong key is nearest to: in its own section, else in another."""
    own = {full.partition(".")[2]: full for full in KEYS if full.startswith(f"{section}.")}
    every = {full.partition(".")[2]: full for full in KEYS}
    name = key.rpartition(".")[2]
    for known in (own, every):
        if near := nearest(name, known):
            return _hint(known[near], KEYS)
    return _hint(None, own.values() or KEYS)


def _hint(near: str | None, valid: Iterable[str]) -> str:
    return f"did you mean {near}?" if near else f"valid are {', '.join(valid)}"
