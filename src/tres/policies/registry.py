"""Policies by name: built-in ones, those of installed packages, and `package.module:Name`.

`tres.settings.policy_names` knows which class a name stands for; here it is imported, checked and
built. What a policy declares about itself is in its class attribute `info`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from tres.errors import ConfigError
from tres.mdp.state import CrawlState
from tres.policies.policy import NEUTRAL, REFUSALS, Policy, PolicyInfo
from tres.policies.setup import NOTHING, OfflineKnowledge, PolicySettings, PolicySetup
from tres.settings.policy_names import POLICY_NAMES, import_policy
from tres.settings.sections import MODEL_NAMES, CrawlSection, FeatureSet
from tres.settings.topic_file import TopicConfig
from tres.topic.topic_terms import match_words
from tres.web.url import site_of

METHODS = tuple(name for name in vars(Policy) if not name.startswith("_") or name == "__len__")
"""What a class must have to be a policy."""


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """A policy that a program passes as an object, instead of naming one in the settings."""

    name: str
    make: Callable[[CrawlState, np.random.Generator], Policy]


def load_policy(name: str) -> type[Policy]:
    """Import the class of a policy; `ConfigError` if there is no such class."""
    kind = import_policy(name)
    missing = [each for each in METHODS if not hasattr(kind, each)]
    if not isinstance(kind, type) or missing:
        lacking = f"it lacks {', '.join(missing)}" if isinstance(kind, type) else "it is no class"
        raise ConfigError(
            f"crawl.policy: {name} is not a policy: {lacking}; derive a class from tres.ValuePolicy"
        )
    return kind


def with_loaded_code(config: TopicConfig) -> TopicConfig:
    """Import the policy and the judge that a topic names; return it as its run records them."""
    policy, model = config.crawl.policy, config.training.model
    load_policy(policy)
    if config.training.own_judge:
        MODEL_NAMES.load(model)
    return config.override(policy=POLICY_NAMES.recorded(policy), model=MODEL_NAMES.recorded(model))


def info_of(policy: type[Policy] | Policy) -> PolicyInfo:
    """Return what a policy declares about itself."""
    info = getattr(policy, "info", NEUTRAL)
    return info if isinstance(info, PolicyInfo) else NEUTRAL


@cache
def policy_info(name: str) -> PolicyInfo:
    """Return what a policy declares; a neutral info if it cannot be loaded (any more)."""
    try:
        return info_of(load_policy(name))
    except ConfigError:
        return NEUTRAL


def feature_set(crawl: CrawlSection) -> FeatureSet:
    """Return the feature set of a crawl, once `auto` is resolved.

    The neighbours of a link mostly belong to its own site. Following them is right while
    a site has no cap, and wastes its places under one (docs/experiments.md).
    """
    if crawl.features != "auto":
        return crawl.features
    if not policy_info(crawl.policy).reads_features:
        return "citations"
    return "evidence" if crawl.max_per_site.unlimited else "no-neighbours"


def policy_settings(config: TopicConfig) -> PolicySettings:
    """Return the settings of a topic file that concern its policy."""
    crawl = config.crawl
    return PolicySettings(
        crawl.policy,
        feature_set(crawl),
        config.tree,
        config.agent,
        crawl.focus,
        tuple(match_words(config.topic)),
        partial(site_of, by=crawl.site),
        crawl.indexed,
    )


def make_policy(
    settings: PolicySettings,
    crawl: CrawlState,
    rng: np.random.Generator,
    known: OfflineKnowledge = NOTHING,
) -> Policy:
    """Return a fresh policy over an empty frontier; `ConfigError` if knowledge is missing."""
    kind = load_policy(settings.name)
    knows = {"web graph": known.web_graph, "search engine": known.search_engine}
    for need in info_of(kind).needs:
        if knows[need] is None:
            raise ConfigError(
                f"crawl.policy: {settings.name} {REFUSALS[need]}; "
                "give it an archive, or choose another policy"
            )
    setup = PolicySetup(settings, crawl, rng, known)
    build = getattr(kind, "build", None)
    policy: Policy = kind(crawl, rng) if build is None else build(setup)  # type: ignore[call-arg]
    return policy
