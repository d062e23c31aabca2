"""The crawl session that a topic file describes.

One seed number gives one crawl. Everything that shapes the session's decisions is part of its
digest, which snapshots carry: a snapshot of another session is not restored.
"""

from __future__ import annotations

import hashlib

import numpy as np

from tres.crawl.endorsement import Endorsements
from tres.crawl.frontier_limits import LinkLimits
from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.errors import ConfigError
from tres.mdp.state import CrawlState
from tres.policies.registry import OwnPolicy, make_policy, policy_settings
from tres.policies.setup import NOTHING, OfflineKnowledge
from tres.runs.topic_perceiver import seed_urls
from tres.settings.topic_file import TopicConfig
from tres.web.percept import LinkPercepts, Perceiver


def new_session(
    config: TopicConfig,
    seeds: LinkPercepts,
    known: OfflineKnowledge = NOTHING,
    own: OwnPolicy | None = None,
    live: bool = False,
) -> CrawlSession:
    """Return a session at its first step.

    A `live` one holds back sites that nobody else cites, and learns from links that give no
    page, as they cost a request; comparisons and archives do not.
    """
    crawl = CrawlState()
    rng = np.random.default_rng(config.crawl.seed)
    if own is None:
        priced = config if live else config.override(dead_links=0.0)
        policy = make_policy(policy_settings(priced), crawl, rng, known)
    else:
        policy = own.make(crawl, rng)
    section = config.crawl
    links = LinkLimits(section.links_per_page, section.frontier_per_site, section.frontier_size)
    limits = section.pages, section.max_per_site, config.live.max_clicks, links
    endorsed = Endorsements(config.live.self_cited if live else 1.0)
    return CrawlSession(crawl, policy, seeds, *limits, endorsed)


def offline_session(config: TopicConfig, web: PerceivedWeb) -> CrawlSession:
    """Return a session over an offline web that is not recorded, for comparisons."""
    return new_session(config, perceive_seeds(config, web.perceiver), web.known)


def perceive_seeds(config: TopicConfig, perceiver: Perceiver) -> LinkPercepts:
    """Return the seeds of a topic file as links; a crawl needs at least one."""
    urls = seed_urls(config)
    if not urls:
        raise ConfigError("topic.seeds: a crawl needs a seed; name one there or with --seed-url")
    return perceiver.describe_seeds(urls)


def session_digest(config: TopicConfig) -> str:
    """Return a digest of all that shapes a session; budget and concurrency may change in a run."""
    same = config.override(pages=1, in_flight=1, requests=0)
    lines = [*same.crawl.to_toml(), *same.tree.to_toml(), *same.agent.to_toml()]
    lines += [str(config.live.max_clicks), str(config.live.self_cited)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
