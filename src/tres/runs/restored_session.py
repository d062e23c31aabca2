"""The session of a run as it is now: finished, killed, or still being crawled.

The journal holds everything that the crawl was given, so folding it needs neither the web nor
the models of that time; a snapshot shortens the fold.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tres.crawl.session import CrawlSession
from tres.engines.replay import PerceivedWeb
from tres.errors import RunError
from tres.frontier.leaf_rules import TreeView
from tres.offline import open_web
from tres.offline.bm25 import SimulatedSearch
from tres.offline.web import Web
from tres.policies.registry import OwnPolicy
from tres.policies.setup import NOTHING, OfflineKnowledge
from tres.policies.web_graph import WebGraph
from tres.runs.topic_perceiver import perceive_topic
from tres.runs.topic_session import new_session, session_digest
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.journal import JOURNAL, Journal
from tres.store.model_versions import model_of
from tres.store.run_directory import SUMMARY, config_of
from tres.store.run_results import read_tree
from tres.store.session_rebuild import rebuild_session


def tree_of(run: Path, journal: Journal | None = None) -> TreeView:
    """Return the decision tree of a run as it is now; `journal` is used if it is open already."""
    if (run / SUMMARY).exists():
        return read_tree(run)
    if (view := session_of(run, journal).policy.tree_view()) is None:
        policy = load_topic(config_of(run)).crawl.policy
        raise RunError(f"{run}: the policy {policy!r} has no tree; try 'tres'")
    return view


def session_of(run: Path, journal: Journal | None = None) -> CrawlSession:
    """Return the session of a run as it is now; `journal` is used if it is open already."""
    config = load_topic(config_of(run))
    if journal is None:
        with Journal.open(run / JOURNAL) as opened:
            return session_of(run, opened)
    address = journal.meta.web
    known = offline_knowledge(run, lambda: open_web(address)) if address else NOTHING
    session, _ = rebuild_session(
        journal, first_session(journal, config, known), session_digest(config)
    )
    return session


def first_session(
    journal: Journal,
    config: TopicConfig,
    known: OfflineKnowledge = NOTHING,
    own: OwnPolicy | None = None,
) -> Callable[[], CrawlSession]:
    """Return what makes the session of a run at its first step."""
    if journal.meta.policy != ("" if own is None else own.name):
        raise _other_policy(journal, config)
    seeds = journal.seeds().links
    first = config.override(pages=journal.segments()[0].pages)
    live = not journal.meta.web
    return lambda: new_session(first, seeds, known, own, live)


def _other_policy(journal: Journal, config: TopicConfig) -> RunError:
    run, name = journal.path.parent, journal.meta.policy
    if name:
        return RunError(
            f"{run}: was crawled by {name}, a policy of another program; resume it there, with "
            "tres.resume_crawl(run, policy=...)"
        )
    return RunError(
        f"{run}: was crawled by the policy {config.crawl.policy!r}; resume it without a policy"
    )


def offline_knowledge(run: Path, web: Callable[[], Web]) -> OfflineKnowledge:
    """Return what some policies know of the web of a run; it is opened only if they ask."""

    def web_graph() -> WebGraph:
        config = load_topic(config_of(run))
        with Journal.open(run / JOURNAL) as journal:
            first = journal.segments()[0].model  # relevance as the first model judges it
        opened = web()
        return PerceivedWeb(
            opened, perceive_topic(config, opened, model_of(run, first))
        ).web_graph()

    return OfflineKnowledge(web_graph, lambda share: SimulatedSearch(web().pages(), share))
