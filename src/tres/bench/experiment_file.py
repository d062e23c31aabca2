"""The experiment file: which policies, under which caps, from how many seeds, on which web.

    name = "sound"
    web = "docs.jsonl.gz"                 # relative to this file
    [topic]
    keywords = ["sound", "music"]
    [training]
    labels = ["Sound and music"]
    [crawl]
    pages = 2000
    runs = 10
    max_per_site = ["inf", 10, "5..2"]
    policies = ["tres", "tres:features=paper", "ache", "random"]
    judge = "labels"

`[topic]` and `[training]` are those of a topic file, and so are `[tree]` and `[agent]`. A policy is
written as its name (or `package.module:Name`) and, after a colon, settings that differ from the
experiment's: any setting of a topic file, by its plain name. The product of policies, caps and runs
is the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal

from tres.errors import ConfigError
from tres.policies.registry import load_policy
from tres.settings.policy_names import split_policy
from tres.settings.sections import (
    AgentSection,
    CrawlSection,
    TopicSection,
    TrainingSection,
    TreeSection,
    site_cap,
)
from tres.settings.setting import Section, choice, flat_list, setting, text, whole
from tres.settings.topic_file import TopicConfig, parsed_toml, read_sections

JudgeKind = Literal["labels", "model"]
JUDGES: tuple[JudgeKind, ...] = ("labels", "model")


@dataclass(frozen=True, kw_only=True)
class PlanSection(Section, name="crawl"):
    """The policies, caps and runs of a comparison."""

    pages: int = setting(whole(1), "pages that every crawl fetches", 2000)
    runs: int = setting(whole(1), "crawls of every policy under every cap, each from one seed", 10)
    max_per_site: tuple[str, ...] = setting(
        flat_list(lambda cap: str(site_cap(cap)), "caps", least=1), "caps to compare", ("inf",)
    )
    policies: tuple[str, ...] = setting(
        flat_list(text, "policies", least=1), 'policies, with settings as in "tres:gamma=0.1"'
    )
    judge: JudgeKind = setting(
        choice(JUDGES), "judge of relevance: the archive's labels, or the model", "labels"
    )
    seed: int = setting(whole(0), "seed of all randomness", 1)


@dataclass(frozen=True, slots=True)
class Variant:
    """A policy with its own settings."""

    spec: str
    policy: str
    options: dict[str, Any]

    @classmethod
    def parse(cls, spec: str) -> Variant:
        """Read `name:key=value,key=value`, where the name may be `package.module:Name`."""
        name, rest = split_policy(spec)
        options = dict(_option(spec, part) for part in rest.split(",") if part)
        return cls(spec, name, options)


@dataclass(frozen=True, slots=True)
class Task:
    """One crawl of the plan."""

    variant: Variant
    cap: str
    run: int

    @property
    def key(self) -> str:
        """The identity of this crawl within the plan."""
        return f"{self.variant.spec} {self.cap} {self.run}"


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A whole experiment file."""

    name: str
    web: str
    topic: TopicSection
    training: TrainingSection
    plan: PlanSection
    tree: TreeSection = field(default_factory=TreeSection)
    agent: AgentSection = field(default_factory=AgentSection)

    def config(self, variant: Variant, cap: str = "inf", seed: int = 1) -> TopicConfig:
        """Return the configuration of one crawl; errors name the variant."""
        base = TopicConfig(
            name=self.name,
            topic=self.topic,
            training=self.training,
            crawl=CrawlSection(pages=self.plan.pages, seed=seed),
            tree=self.tree,
            agent=self.agent,
        )
        try:
            config = base.override(policy=variant.policy, max_per_site=cap, **variant.options)
            load_policy(config.crawl.policy)
            return config
        except ConfigError as problem:
            raise ConfigError(f"crawl.policies: {variant.spec}: {problem.message}") from None

    @property
    def variants(self) -> list[Variant]:
        """The policies to compare."""
        return [Variant.parse(spec) for spec in self.plan.policies]

    def tasks(self) -> Iterator[Task]:
        """Yield all crawls, run by run: an unfinished experiment has some of everything."""
        runs = range(self.plan.runs)
        for run, cap, variant in product(runs, self.plan.max_per_site, self.variants):
            yield Task(variant, cap, run)


def load_experiment(path: Path) -> Experiment:
    """Read and check an experiment file; `ConfigError` says what is wrong."""
    kinds = {
        "topic": TopicSection,
        "training": TrainingSection,
        "crawl": PlanSection,
        "tree": TreeSection,
        "agent": AgentSection,
    }
    table, sections = read_sections(path, kinds, plain=("name", "web"))
    if not isinstance(table.get("web"), str):
        raise ConfigError(f"{path}: web is missing: name the archive to crawl")
    plan = sections.pop("crawl")
    experiment = Experiment(
        name=str(table.get("name", path.stem)),
        web=_relative(table["web"], path.absolute().parent),
        plan=plan,  # type: ignore[arg-type]
        **sections,  # type: ignore[arg-type]
    )
    if experiment.training.learns:
        raise ConfigError(
            f"{path}: training names no examples, so each crawl would teach a judge of its own, "
            "and their figures could not be compared; give labels, positives with negatives, or "
            "load the model of a run"
        )
    for variant in experiment.variants:
        experiment.config(variant)
    return experiment


def _relative(web: str, base: Path) -> str:
    """Return the web; archives are named relative to the experiment file."""
    return web if web.startswith("generated") else str(base / web)


def _option(spec: str, part: str) -> tuple[str, Any]:
    key, equals, value = part.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"crawl.policies: {spec}: write settings as key=value, not {part!r}")
    try:
        return key.strip(), parsed_toml(f"value = {value}")["value"]
    except ValueError:
        return key.strip(), value.strip()
