"""Refitting the model of a run on what its crawl has shown.

A topic without examples starts with a model of its words alone. While the crawl fetches pages, what
they say is kept in the journal (`tres.store.journal_records.PageText`), and at certain numbers of
pages a new model is fitted to all of them (`tres.relevance.positive_unlabelled`). What people have
judged counts as they said. From there on the new model judges; the journal says so, as after an
order to adopt a model.

A fit depends on the pages and judgements alone. So a crawl over an offline web, where it happens
between two pages, is the same crawl however often it is stopped: a refit that is due is done when
the run is opened again. On the live Web a fit takes place in a thread beside the crawl, and its
model judges from the moment when it is ready.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from tres.offline.web import Web
from tres.relevance.examples import JUDGED_WEIGHT, TAUGHT_WEIGHT
from tres.relevance.positive_unlabelled import (
    SEED_WEIGHT,
    CrawledPage,
    learn_topic,
    next_refit,
)
from tres.relevance.static import StaticModel, untrained_model
from tres.runs.topic_perceiver import topic_words
from tres.settings.topic_file import TopicConfig
from tres.store.journal import Journal
from tres.store.judgements import PERSON, judged_pages
from tres.store.run_controller import NewModel
from tres.web.page import Page
from tres.web.percept import MAX_CONTENT_CHARS


class Refits:
    """The models that a crawl teaches: ask after every page whether there is a new one."""

    def __init__(self, run: Path, config: TopicConfig, steps: int, beside: bool = False) -> None:
        self._run = run
        self._seed = config.crawl.seed
        self._start = untrained_model(topic_words(config))
        self._next = next_refit(steps)
        self._thread = ThreadPoolExecutor(1, "refit") if beside else None
        self._fitting: Future[StaticModel | None] | None = None

    def new_model(self, journal: Journal, steps: int) -> StaticModel | None:
        """Return a new model if one has become ready, at most once each."""
        if self._fitting is not None:
            return self._fitted()
        if self._next is None or steps < self._next or self._start is None:
            return None
        self._next = next_refit(steps + 1)
        pages = crawled_pages(self._run, journal)
        if self._thread is None:
            return learn_topic(pages, self._start, self._seed)
        self._fitting = self._thread.submit(learn_topic, pages, self._start, self._seed)
        return None

    def _fitted(self) -> StaticModel | None:
        assert self._fitting is not None
        if not self._fitting.done():
            return None
        fitting, self._fitting = self._fitting, None
        return fitting.result()


def model_source(
    run: Path, config: TopicConfig, steps: int, beside: bool = False, learns: bool = True
) -> NewModel:
    """Return where new models of a run come from: nowhere unless its crawl teaches them."""
    if learns and config.training.learns:
        return Refits(run, config, steps, beside).new_model
    return lambda journal, steps: None


def crawled_pages(run: Path, journal: Journal, web: Web | None = None) -> list[CrawledPage]:
    """Return the pages of a run in order, with what is known of them, to learn from.

    What they say comes from the journal, or from a web.
    """
    texts = journal.page_texts() if web is None else {}
    judged = judged_pages(run)
    pages = []
    for row in journal.pages():
        url = row["url"]
        content = texts.get(url, "") if web is None else _content(web, url)
        label, weight = (True, SEED_WEIGHT) if not row["parent"] else (None, 1.0)
        if url in judged:
            label = judged[url].relevant
            weight = JUDGED_WEIGHT if judged[url].by == PERSON else TAUGHT_WEIGHT
        if content:
            pages.append(CrawledPage(content, row["site"], label, weight))
    return pages


def _content(web: Web, url: str) -> str:
    outcome = web.fetch(url)
    return outcome.content[:MAX_CONTENT_CHARS] if isinstance(outcome, Page) else ""
