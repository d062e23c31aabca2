"""Refitting the model of a run on what its crawl has shown.

A topic without examples starts with a model of its words alone. While the crawl fetches pages, what
they say is kept in the journal (`tres.store.journal_records.PageText`), and at certain numbers of
pages a new model is fitted to all of them (`tres.relevance.positive_unlabelled`). What people have
judged counts as they said. From there on the new model judges; the journal says so, as after an
order to adopt a model.

A fit depends on the pages and judgements alone. So a crawl over an offline web, where it happens
between two pages, is the same crawl however often it is stopped: a refit that is due is done when
the run is opened again. On the live Web a fit takes place in a thread beside the crawl, and its
model judges from the moment when it is ready. A crawl that ends meanwhile does not wait for it;
when it is resumed, a fit begins at once.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Thread

from tres.files.fingerprint import Fingerprint, fingerprint
from tres.offline.web import Web
from tres.relevance.examples import JUDGED_WEIGHT, TAUGHT_WEIGHT
from tres.relevance.positive_unlabelled import (
    FIRST_REFIT,
    LAST_REFIT,
    SEED_WEIGHT,
    CrawledPage,
    learn_topic,
    next_refit,
)
from tres.relevance.static import StaticModel, untrained_model
from tres.runs.topic_perceiver import topic_words
from tres.settings.topic_file import TopicConfig
from tres.store.journal import Journal
from tres.store.judgements import JUDGEMENTS, PERSON, judged_pages
from tres.store.run_controller import NewModel
from tres.web.page import Page
from tres.web.percept import MAX_CONTENT_CHARS


class Refits:
    """The models that a crawl teaches: ask after every page whether there is a new one."""

    def __init__(self, run: Path, config: TopicConfig, steps: int, beside: bool = False) -> None:
        self._run = run
        self._seed = config.crawl.seed
        self._start = untrained_model(topic_words(config))
        self._beside = beside
        self._fitting: Future[StaticModel | None] | None = None
        self._judged: Fingerprint = ()
        self._next = next_refit(steps)
        if beside and FIRST_REFIT <= steps <= LAST_REFIT:
            self._next = steps  # the last fit may have been under way when the crawl ended

    def new_model(self, journal: Journal, steps: int) -> StaticModel | None:
        """Return a new model if one has become ready, at most once each."""
        if self._fitting is not None:
            return self._fitted(steps)
        if self._next is None or steps < self._next or self._start is None:
            return None
        self._next = next_refit(steps + 1)
        self._judged = fingerprint(self._run, JUDGEMENTS)
        pages = crawled_pages(self._run, journal)
        if self._beside:
            self._fitting = _in_thread(partial(learn_topic, pages, self._start, self._seed))
            return None
        return learn_topic(pages, self._start, self._seed)

    def _fitted(self, steps: int) -> StaticModel | None:
        """Return the model of a fit that has ended; what was judged meanwhile needs another."""
        if self._fitting is None or not self._fitting.done():
            return None
        fitting, self._fitting = self._fitting, None
        if self._judged != fingerprint(self._run, JUDGEMENTS):
            self._next = steps
        return fitting.result()


def _in_thread(fit: Callable[[], StaticModel | None]) -> Future[StaticModel | None]:
    """Begin a fit in a thread that nobody waits for: a crawl may end while it runs."""
    fitting: Future[StaticModel | None] = Future()

    def run() -> None:
        try:
            fitting.set_result(fit())
        except BaseException as problem:  # raised by whoever asks for the result
            fitting.set_exception(problem)

    Thread(target=run, name="refit", daemon=True).start()
    return fitting


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
