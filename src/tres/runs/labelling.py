"""The pages of a run that are most worth judging, and training with the judgements.

Two kinds of pages are worth it (`tres.relevance.label_candidates`): those that the model is least
sure about, site by site, and those that led to most of the fetched pages and waiting links. They
are shown in turn, each page once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tres.errors import RunError, TrainingError
from tres.numbers import format_count
from tres.offline.web import Web
from tres.relevance.examples import (
    JUDGED_WEIGHT,
    TAUGHT_WEIGHT,
    Examples,
    add_judgements,
    weigh_as_judged,
)
from tres.relevance.label_candidates import (
    alternate,
    influence,
    largest_first,
    least_sure,
    site_by_site,
)
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import train_model
from tres.relevance.positive_unlabelled import learn_topic
from tres.runs.refits import crawled_pages
from tres.runs.topic_perceiver import first_model, topic_examples, topic_words
from tres.settings.topic_file import TopicConfig
from tres.store.journal import JOURNAL, Journal
from tres.store.judgements import TEACHER, read_judgements, read_judges
from tres.store.model_versions import keep_model, replace_model
from tres.store.orders import Adopt, forget, send
from tres.store.run_directory import LockedError, lock_run
from tres.store.run_results import read_pages
from tres.topic.excerpt import Excerpt, excerpt
from tres.web.page import Page
from tres.web.url import SiteBy, site_of

EXCERPT = 400
"""Characters of a page that are shown."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page to judge, and why."""

    step: int
    url: str
    title: str
    excerpt: Excerpt
    probability: float
    why: str


def candidates(
    run: Path, web: Web, model: RelevanceModel, terms: Collection[str] = ()
) -> list[Candidate]:
    """Return the pages of a run that nobody has judged, those most worth judging first.

    Each comes with the part of it in which most of the `terms` occur.
    """
    rows = read_pages(run)
    if not rows:
        raise RunError(f"{run}: has no page to judge; run the crawl again")
    done = read_judgements(run)
    led_to = Counter(row["parent"] for row in rows)
    pages = {row["url"]: page for row in rows if (page := _page(web, row["url"])) is not None}
    if not pages:
        raise RunError(f"{run}: this web has none of its pages; name its web with --web")
    chances = model.probabilities([page.content for page in pages.values()])
    unjudged = [
        _candidate(int(row["step"]), pages[row["url"]], chance, led_to[row["url"]], terms)
        for row, chance in zip(
            (row for row in rows if row["url"] in pages), chances.tolist(), strict=True
        )
        if row["url"] not in done
    ]
    return list(_alternate(unjudged, _influence(rows, pages)))


def _influence(rows: list[dict[str, str]], pages: dict[str, Page]) -> dict[str, float]:
    """Return how much each page has decided where the crawl went, by URL."""
    urls = [page.url for page in pages.values()]
    links = [[link.url for link in page.links] for page in pages.values()]
    parents = [row["parent"] for row in rows]
    return dict(zip(urls, influence(urls, parents, links), strict=True))


def _alternate(pages: list[Candidate], influences: dict[str, float]) -> Iterator[Candidate]:
    unsure = least_sure([page.probability for page in pages])
    sites = [site_of(page.url) for page in pages]
    influential = largest_first([influences[page.url] for page in pages])
    return (pages[place] for place in alternate(site_by_site(unsure, sites), influential))


def _candidate(
    step: int, page: Page, probability: float, led_to: int, terms: Collection[str]
) -> Candidate:
    fetched = format_count(led_to, "page was", "pages were")
    why = f"{fetched} fetched from its links" + ("" if led_to else " yet")
    return Candidate(
        step, page.url, page.title, excerpt(page.text, terms, EXCERPT), probability, why
    )


def _page(web: Web, url: str) -> Page | None:
    outcome = web.fetch(url)
    return outcome if isinstance(outcome, Page) else None


@dataclass(frozen=True, slots=True)
class Retrained:
    """A new model, and what it was trained with."""

    judged: int
    guessed: int
    model: RelevanceModel
    taught: int = 0
    """How many of the judgements are a teacher's."""
    sent: bool = False
    """Is the run being crawled, and was its crawl ordered to use the model?"""


OnStage = Callable[[str], None]
"""Receives what is being done now."""


def learn_judgements(
    run: Path, web: Web, config: TopicConfig, on_stage: OnStage = lambda stage: None
) -> Retrained:
    """Train again with all judgements of the run; the result is its newest model.

    Training needs no claim on the run, which may be crawled meanwhile. If it is when training is
    done, its crawl is ordered to adopt the model between two pages.
    """
    if config.training.own_judge:
        raise TrainingError(untrainable(config))
    learnt = _retrain(run, web, config, on_stage)
    on_stage("handing over the model")
    try:
        with lock_run(run):
            forget(run, Adopt)  # of earlier models
            replace_model(run, learnt.model)
    except LockedError:
        keep_model(run, learnt.model)
        send(run, Adopt(learnt.model.digest))
        return replace(learnt, sent=True)
    return learnt


def untrainable(config: TopicConfig) -> str:
    """Say that judgements cannot change a judge of one's own."""
    return (
        f"{config.training.model} is a judge of your own, which tres cannot train; "
        "judgements are kept, and it judges as before"
    )


def _retrain(run: Path, web: Web, config: TopicConfig, on_stage: OnStage) -> Retrained:
    if config.training.learns:
        return _learn_again(run, web, config)
    judged: dict[str, bool] = {}
    sites: dict[str, str] = {}
    taught: set[str] = set()
    judgements, judges = read_judgements(run), read_judges(run)
    urls = sorted(judgements, key=lambda url: judges[url] != TEACHER)  # of twins, a person's counts
    for number, url in enumerate(urls, start=1):
        on_stage(f"reading judged pages: {number:,} of {len(urls):,}")
        if (page := _page(web, url)) is not None:
            judged[page.content] = judgements[url]
            sites[page.content] = site_of(page.url, config.crawl.site)
            (taught.add if judges[url] == TEACHER else taught.discard)(page.content)
    on_stage("gathering the examples of the first model")
    examples = add_judgements(_examples(run, web, config), judged, sites=sites, taught=taught)
    on_stage(f"training on {format_count(len(examples.texts), 'page')}")
    model = train_model(config.training.model, examples, config.crawl.seed, topic_words(config))
    guessed = sum(weight <= 1.0 for weight in examples.weights or ())
    return Retrained(len(judged), guessed, model, len(taught))


def _learn_again(run: Path, web: Web, config: TopicConfig) -> Retrained:
    """Learn the topic from the pages of the run and what is known of them."""
    with Journal.open(run / JOURNAL) as journal:
        pages = crawled_pages(run, journal, web)
    model = learn_topic(pages, first_model(config), config.crawl.seed)
    if model is None:
        raise TrainingError(f"{format_count(len(pages), 'page')} say too little of the topic")
    weights = [page.weight for page in pages]
    judged = sum(weight in (JUDGED_WEIGHT, TAUGHT_WEIGHT) for weight in weights)
    return Retrained(judged, weights.count(1.0), model, weights.count(TAUGHT_WEIGHT))


def _examples(run: Path, web: Web, config: TopicConfig) -> Examples:
    """Return the examples of the run's first model, gathered again in the same way."""
    if config.training.load is not None:
        return _own_verdicts(run, web, config.crawl.site)
    return weigh_as_judged(topic_examples(config, web))


def _own_verdicts(run: Path, web: Web, by: SiteBy) -> Examples:
    """Return the verdicts of a loaded model, which has no examples, on the pages of the run."""
    verdicts = {
        page.content: (row["reward"] == "1", 1.0, site_of(page.url, by))
        for row in read_pages(run)
        if (page := _page(web, row["url"])) is not None
    }
    labels, weights, sites = zip(*verdicts.values(), strict=True) if verdicts else ((), (), ())
    return Examples(tuple(verdicts), labels, weights, sites)
