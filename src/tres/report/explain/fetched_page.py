"""The facts about a fetched page: how it was found and chosen, and what it led to.

The journal is searched once for records that name the URL, and only those are decoded. What was
known when a URL was chosen comes before the record of the request that chose it: with several
pages in flight, more may have become known by the time it was answered.

Nodes of the decision tree keep their numbers. A leaf that has split since is an inner node now,
and the path to it is still the rule of its rows; so today's tree gives the rule of then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tres.errors import RunError, TresError
from tres.frontier.leaf_rules import TreeView
from tres.mdp.columns import Floats
from tres.mdp.feature_schema import COUNTS
from tres.relevance.word_attribution import Attribution, attribute_words
from tres.report.explain import facts
from tres.report.run_reader import PageRow, Rival, RunReader
from tres.store.journal import Journal
from tres.store.journal_records import Demanded, Entry, Received, Seeds
from tres.store.model_versions import model_of
from tres.store.page_source import page_of
from tres.store.verdicts import MODEL
from tres.web.percept import Percept

TOLERANCE = 0.02
"""Largest difference between the relevance of then and of the same page judged again."""

TreeSource = Callable[[int], TreeView]
"""Returns a tree of the run that has a node of this number."""


@dataclass(slots=True)
class UrlMentions:
    """The records that name a URL: seeds, the request that chose it, the pages that link to it."""

    url: str
    is_seed: bool = False
    requested: int | None = None
    citing: list[tuple[int, str]] = field(default_factory=list)
    """Records of citing pages, and the link text."""

    def __bool__(self) -> bool:
        return self.is_seed or self.requested is not None or bool(self.citing)

    def add(self, record: int, entry: Entry) -> None:
        """Note what a record says about the URL, if anything."""
        match entry:
            case Seeds(links):
                self.is_seed = self.url in links.urls
            case Demanded(urls=urls) if self.url in urls:
                self.requested = self.requested or record
            case Received(outcome=Percept(links=links)) if self.url in links.urls:
                self.citing.append((record, _link_text(entry, self.url)))
            case _:
                pass


def find_mentions(
    journal: Journal, urls: Sequence[str], before: int | None = None
) -> list[UrlMentions]:
    """Search the journal once for some URLs, up to the record `before` if one is given."""
    found = [UrlMentions(url) for url in urls]
    for record, entry in journal.naming(urls, before):
        for mentions in found:
            mentions.add(record, entry)
    return found


def citations(
    mentions: UrlMentions, reader: RunReader, before: int | None = None
) -> tuple[facts.Citation, ...]:
    """Return the pages that link to a URL; only those before a record, if one is given."""
    steps = {row.record: row for row in reader.pages}
    return tuple(
        facts.Citation(page.step, page.url, anchor, page.relevance, page.relevant, page.reward)
        for record, anchor in mentions.citing
        if (before is None or record < before) and (page := steps.get(record)) is not None
    )


def explain_page(
    reader: RunReader,
    journal: Journal,
    crawl: facts.Crawl,
    page: PageRow,
    tree: TreeSource,
    web: str | None = None,
) -> facts.Fetched:
    """Return all facts about a fetched page."""
    (mentions,) = find_mentions(journal, [page.asked], page.record)
    decision = _decision(reader, page, mentions, tree)
    known = citations(mentions, reader, mentions.requested or page.record)
    every = np.array([row.features for row in reader.pages], np.float32)
    vector = every[page.step - 1]
    return facts.Fetched(
        crawl=crawl,
        url=page.url,
        asked=page.asked,
        step=page.step,
        title=page.title,
        site=page.site,
        relevance=page.relevance,
        relevant=page.relevant,
        path=_path(journal, page, reader),
        citations=tuple(sorted(known, key=lambda each: (each.url != page.parent, each.step))),
        features=ordered_features(reader.features, vector, every, decision.leaf),
        decision=decision,
        consequences=_consequences(reader, journal, page),
        verdict=_verdict(reader, journal, page, web),
        at=page.at,
        seconds=page.seconds,
    )


def _decision(
    reader: RunReader, page: PageRow, mentions: UrlMentions, tree: TreeSource
) -> facts.Decision:
    before = [row for row in reader.pages[: page.step] if row.record < (mentions.requested or 0)]
    how = how_chosen(reader, page, mentions.is_seed, len(before))
    leaf, leaf_note = None, ""
    try:
        leaf = None if page.leaf is None else leaf_of(tree(page.leaf), page.leaf)
    except RunError as problem:  # the rest can be explained all the same
        leaf_note = problem.message
    return facts.Decision(
        how=how,
        q=page.q,
        rank=1 if how in ("value", "guess") and page.candidates else None,
        candidates=page.candidates,
        frontier=before[-1].frontier if before else 0,
        leaf=leaf,
        leaf_note=leaf_note,
        runners_up=runners_up(reader, page.rivals),
    )


def how_chosen(reader: RunReader, page: PageRow, is_seed: bool, steps: int) -> facts.How:
    """Return how a page was chosen after this many steps."""
    if page.parent is None:
        return "seed" if is_seed else "search"
    if page.explored:
        return "random"
    if page.q is None:
        return "order"
    agent = reader.config.agent
    guided = reader.policy_info.q_values and steps < agent.warmup + agent.guided
    return "guess" if guided else "value"


def runners_up(reader: RunReader, rivals: tuple[Rival, ...]) -> tuple[facts.RunnerUp, ...]:
    """Return the other candidates, and what became of each."""
    fetched = {row.asked: row for row in reader.pages} | {row.url: row for row in reader.pages}
    failed = {row.url: row.kind for row in reader.failures}
    rows = [(url, q, fetched.get(url)) for url, q in rivals]
    return tuple(
        facts.RunnerUp(url, q, row.step, row.relevant, failed.get(url))
        if row
        else facts.RunnerUp(url, q, None, None, failed.get(url))
        for url, q, row in rows
    )


def leaf_of(view: TreeView, node: int) -> facts.Leaf:
    """Return a node of the tree, which may have split since it was a leaf."""
    here = view.nodes[node]
    conditions = tuple(
        facts.Condition(name, *(bound if math.isfinite(bound) else None for bound in bounds))
        for name, bounds in view.bounds(node).items()
    )
    return facts.Leaf(node, view.rule(node), conditions, here.experiences, here.mean_reward)


def feature(name: str, value: float) -> facts.Feature:
    """Return a feature with its amount: counts are stored as logarithms."""
    count = COUNTS.get(name)
    return facts.Feature(name, value, value if count is None else float(round(count(value))))


def ordered_features(
    names: Sequence[str], vector: Floats, others: Floats, leaf: facts.Leaf | None
) -> tuple[facts.Feature, ...]:
    """Return the features of a link: those of the leaf's rule, then the most unusual first."""
    deviation = others.std(0)
    unusual = np.abs(vector - others.mean(0)) / np.where(deviation > 0, deviation, 1.0)
    by_rule = [] if leaf is None else [condition.feature for condition in leaf.conditions]
    by_surprise = [names[place] for place in np.argsort(-unusual, kind="stable")]
    values = dict(zip(names, vector.tolist(), strict=True))
    return tuple(feature(name, values[name]) for name in dict.fromkeys([*by_rule, *by_surprise]))


def _path(journal: Journal, page: PageRow, reader: RunReader) -> tuple[facts.PathStep, ...]:
    """The pages from the seed to this one, each with the text of the link that led to it."""
    by_url = {row.url: row for row in reader.pages}
    rows = [page]
    while (parent := by_url.get(rows[-1].parent or "")) is not None and parent not in rows:
        rows.append(parent)
    anchors = [_link_text(journal.entry(above.record), row.asked) for row, above in pairwise(rows)]
    return tuple(
        facts.PathStep(
            *(row.step, row.url, anchor, row.relevance, row.relevant, row.reward, row.title)
        )
        for row, anchor in zip(rows[::-1], ["", *anchors[::-1]], strict=True)
    )


def _link_text(entry: Entry, url: str) -> str:
    """The text of the link to a URL on the page of a record."""
    if isinstance(entry, Received) and isinstance(entry.outcome, Percept):
        links = entry.outcome.links
        if links.anchors and url in links.urls:
            return links.anchors[links.urls.index(url)]
    return ""


def _consequences(reader: RunReader, journal: Journal, page: PageRow) -> facts.Consequences:
    entry = journal.entry(page.record)
    percept = entry.outcome if isinstance(entry, Received) else None
    through, below = {page.url}, []
    for row in reader.pages[page.step :]:  # parents come before their children
        if row.parent in through:
            through.add(row.url)
            below.append(row)
    return facts.Consequences(
        links=len(percept.links) if isinstance(percept, Percept) else 0,
        children=sum(row.parent == page.url for row in below),
        descendants=len(below),
        relevant_descendants=sum(row.relevant for row in below),
    )


def _verdict(reader: RunReader, journal: Journal, page: PageRow, web: str | None) -> facts.Verdict:
    first = journal.judge_of(page.record)
    model, probability = _newest_word(reader, page) or (first, page.first_relevance)
    models = list(dict.fromkeys([*(segment.model for segment in reader.segments), model]))
    attribution, note = _judge_again(journal, page, model, probability, web)
    return facts.Verdict(
        model,
        models.index(model) + 1,
        len(models),
        note,
        attribution,
        judged_by=page.judged_by,
        again=model != first,
        first=page.first_relevance if model != first or page.judged_by != MODEL else None,
    )


def _newest_word(reader: RunReader, page: PageRow) -> tuple[str, float] | None:
    """The model that judged a page again, and its probability, if one has."""
    newest = reader.verdicts.newest
    probability = None if newest is None else newest.of(page.step)
    return None if newest is None or probability is None else (newest.model, probability)


def _judge_again(
    journal: Journal, page: PageRow, model: str, probability: float, web: str | None
) -> tuple[Attribution | None, str]:
    """The words by which a model judges the kept page, and what is wrong with them."""
    try:
        kept = page_of(journal, page.record, page.url, web)
        if kept is None:
            return None, "the run has not kept its pages, so the decisive words are unknown"
        attribution = attribute_words(model_of(journal.path.parent, model), kept.content)
    except TresError as problem:  # everything else can be explained all the same
        return None, problem.message
    if abs(attribution.probability - probability) > TOLERANCE:
        return attribution, (
            f"judged again from the copy that was kept, it gets {attribution.probability:.2f} "
            f"instead of {probability:.2f}"
        )
    return attribution, ""
