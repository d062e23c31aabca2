"""Pages of a run that are worth a person's judgement, and what the judgements change.

Two kinds of pages are worth it (`tres.relevance.label_candidates`): those of which the model is
least sure, site by site, and those that led to most of what was fetched and of what waits. They
are shown in turn, each page once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tres.errors import RunError
from tres.offline.web import Web
from tres.relevance.examples import Examples
from tres.relevance.judged_examples import add_judgements, weigh_as_judged
from tres.relevance.label_candidates import (
    alternate,
    influence,
    largest_first,
    least_sure,
    site_by_site,
)
from tres.relevance.model import RelevanceModel
from tres.relevance.model_kinds import train_model
from tres.runs.auto_model import explore_topic
from tres.runs.topic_perceiver import seed_urls, topic_examples, topic_words
from tres.settings.topic_file import TopicConfig
from tres.store.guessed_examples import read_guesses
from tres.store.judgements import read_judgements
from tres.store.model_versions import keep_model, replace_model
from tres.store.orders import Adopt, forget, send
from tres.store.run_lock import LockedError, lock_run
from tres.store.run_results import read_pages
from tres.topic.excerpt import Excerpt, excerpt
from tres.web.page import Page
from tres.web.url import site_of

SHOWN = 400
"""Characters of a page that a person sees."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page to be judged, and why."""

    step: int
    url: str
    title: str
    excerpt: Excerpt
    probability: float
    why: str


def candidates(
    run: Path, web: Web, model: RelevanceModel, terms: Collection[str] = ()
) -> list[Candidate]:
    """Pages of the run that nobody has judged, those most worth judging first.

    Each comes with the part of it in which most of the `terms` occur.
    """
    rows = read_pages(run)
    if not rows:
        raise RunError(f"{run}: holds no page to judge; run the crawl again")
    done = read_judgements(run)
    led_to = Counter(row["parent"] for row in rows)
    pages = {row["url"]: page for row in rows if (page := _page(web, row["url"])) is not None}
    if not pages:
        raise RunError(f"{run}: this web holds none of its pages; give its web with --web")
    chances = model.probabilities([page.content for page in pages.values()])
    found = [
        _candidate(int(row["step"]), pages[row["url"]], chance, led_to[row["url"]], terms)
        for row, chance in zip(
            (row for row in rows if row["url"] in pages), chances.tolist(), strict=True
        )
        if row["url"] not in done
    ]
    return list(_in_turn(found, _influence(rows, pages)))


def _influence(rows: list[dict[str, str]], pages: dict[str, Page]) -> dict[str, float]:
    """How much each page that is still there has decided where the crawl looked."""
    urls = [page.url for page in pages.values()]
    links = [[link.url for link in page.links] for page in pages.values()]
    parents = [row["parent"] for row in rows]
    return dict(zip(urls, influence(urls, parents, links), strict=True))


def _in_turn(found: list[Candidate], influences: dict[str, float]) -> Iterator[Candidate]:
    unsure = least_sure([page.probability for page in found])
    sites = [site_of(page.url) for page in found]
    led = largest_first([influences[page.url] for page in found])
    return (found[place] for place in alternate(site_by_site(unsure, sites), led))


def _candidate(
    step: int, page: Page, probability: float, led_to: int, terms: Collection[str]
) -> Candidate:
    why = (
        f"{led_to:,} fetched {'page was' if led_to == 1 else 'pages were'} found on it"
        if led_to
        else "nothing was fetched from its links yet"
    )
    return Candidate(step, page.url, page.title, excerpt(page.text, terms, SHOWN), probability, why)


def _page(web: Web, url: str) -> Page | None:
    outcome = web.fetch(url)
    return outcome if isinstance(outcome, Page) else None


@dataclass(frozen=True, slots=True)
class Retrained:
    """What the new model has learnt from."""

    judged: int
    guessed: int
    model: RelevanceModel
    told: bool = False
    """Is the run being crawled, and was that crawl told to judge by the new model?"""


Watch = Callable[[str], None]
"""Is told what is being done now."""


def learn_judgements(
    run: Path, web: Web, config: TopicConfig, watch: Watch = lambda stage: None
) -> Retrained:
    """Train anew with all judgements of the run; the result is its newest model.

    Training needs no claim on the run and goes on here, whoever crawls it meanwhile. If the run
    is crawled when it is done, that crawl is told, and adopts the model between two pages.
    """
    learnt = _learn(run, web, config, watch)
    watch("handing over the model")
    try:
        with lock_run(run):
            forget(run, Adopt)  # of earlier models
            replace_model(run, learnt.model)
    except LockedError:
        keep_model(run, learnt.model)
        send(run, Adopt(learnt.model.digest))
        return replace(learnt, told=True)
    return learnt


def _learn(run: Path, web: Web, config: TopicConfig, watch: Watch) -> Retrained:
    judged: dict[str, bool] = {}
    said = read_judgements(run)
    for number, (url, relevant) in enumerate(said.items(), start=1):
        watch(f"reading judged pages: {number:,} of {len(said):,}")
        if (page := _page(web, url)) is not None:
            judged[page.content] = relevant
    watch("gathering what the model had learnt from before")
    examples = add_judgements(_examples(run, web, config), judged)
    watch(f"training on {len(examples.texts):,} pages")
    model = train_model(config.training.model, examples, config.crawl.seed, topic_words(config))
    return Retrained(len(judged), sum(weight <= 1.0 for weight in examples.weights or ()), model)


def _examples(run: Path, web: Web, config: TopicConfig) -> Examples:
    """What the run's first model has learnt from: kept, or gathered again as it was then."""
    if config.training.load is not None:
        return _own_verdicts(run, web)
    if (kept := read_guesses(run)) is not None:
        return kept
    if config.training.explores:
        return explore_topic(config, web, seed_urls(config)).guesses
    return weigh_as_judged(topic_examples(config, web))


def _own_verdicts(run: Path, web: Web) -> Examples:
    """A loaded model brings no examples: what it said of the run's pages are guesses."""
    verdicts = {
        page.content: row["reward"] == "1"
        for row in read_pages(run)
        if (page := _page(web, row["url"])) is not None
    }
    return Examples(tuple(verdicts), tuple(verdicts.values()), (1.0,) * len(verdicts))
