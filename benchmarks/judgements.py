"""What `tres label` gains by its choice of pages: macro F1 after 10, 30 and 100 judgements.

    python benchmarks/judgements.py benchmarks/topics/biology-auto.toml \
        --web encyclopedia.jsonl.gz --label Science/Biology

Every draw takes ten random seeds among the relevant pages and crawls from them without examples, so
that the crawl teaches its model. Its pages are judged by the web's labels, chosen in one of several
ways; at 10, 30 and 100 judgements the model is learnt again, and the new model chooses the next
pages, as when `tres label` is called three times. All pages of the web are judged except the seeds
and those that some choice has shown, so every choice is measured on the same pages.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from threadpoolctl import threadpool_limits

from site_split import Flags, WebPages, mean_and_spread
from tres.api.crawls import run_crawl
from tres.offline import open_web
from tres.offline.web import Web
from tres.relevance.cross_validation import Scores
from tres.relevance.examples import JUDGED_WEIGHT
from tres.relevance.label_candidates import (
    alternate,
    influence,
    largest_first,
    least_sure,
    site_by_site,
)
from tres.relevance.model import THRESHOLD, RelevanceModel
from tres.relevance.positive_unlabelled import SEED_WEIGHT, CrawledPage, learn_topic
from tres.relevance.static import StaticModel
from tres.runs.topic_perceiver import first_model
from tres.settings.topic_file import TopicConfig, load_topic
from tres.web.page import Page
from tres.web.url import site_of

SEEDS = 10
COUNTS = (10, 30, 100)


@dataclass(frozen=True, slots=True)
class Crawled:
    """The pages of a crawl, with what is known about each."""

    urls: list[str]
    pages: list[CrawledPage]
    sites: list[str]
    led_to: list[int]
    """Fetched pages that were found on this page."""
    influence: list[float]


Choice = Callable[[Crawled, Sequence[float], np.random.Generator], Sequence[int]]


def at_random(crawled: Crawled, rng: np.random.Generator) -> list[int]:
    return list(map(int, rng.permutation(len(crawled.urls))))


CHOICES: dict[str, Choice] = {
    "random": lambda crawled, chances, rng: at_random(crawled, rng),
    "least sure": lambda crawled, chances, rng: least_sure(chances),
    "least sure, site by site": lambda crawled, chances, rng: site_by_site(
        least_sure(chances), crawled.sites
    ),
    "led to most fetched pages": lambda crawled, chances, rng: largest_first(crawled.led_to),
    "influential": lambda crawled, chances, rng: largest_first(crawled.influence),
    "least sure and led to most": lambda crawled, chances, rng: list(
        alternate(least_sure(chances), largest_first(crawled.led_to))
    ),
    "least sure, site by site, and influential": lambda crawled, chances, rng: list(
        alternate(
            site_by_site(least_sure(chances), crawled.sites), largest_first(crawled.influence)
        )
    ),
}


@dataclass(frozen=True, slots=True)
class Truth:
    """Which pages are relevant by the labels of the web, and which of them are judged."""

    urls: Sequence[str]
    texts: Sequence[str]
    relevant: Flags
    judged: Sequence[int]

    @classmethod
    def of(cls, web: Web, label: str, judge: int | None) -> Truth:
        pages = WebPages.of(web)
        judged = np.random.default_rng(0).permutation(len(pages.urls))[:judge]
        return cls(pages.urls, pages.texts, pages.relevant([label]), np.sort(judged).tolist())

    def macro_f1(self, model: RelevanceModel, given: set[str]) -> float:
        """Mean of the F1 of both classes over all pages whose label was not given."""
        places = [place for place in self.judged if self.texts[place] not in given]
        said = model.probabilities([self.texts[place] for place in places]) >= THRESHOLD
        return Scores.of(self.relevant[places], said).macro_f1


def main() -> None:
    """Print one table, in Markdown: choices down, numbers of judgements across."""
    options = arguments()
    config = load_topic(options.topic).override(pages=options.pages)
    web = open_web(options.web)
    truth = Truth.of(web, options.label, options.judge)
    scores: dict[tuple[str, int], list[float]] = {}
    for draw in range(options.draws):
        for key, score in one_draw(config, web, truth, options.choices, draw).items():
            scores.setdefault(key, []).append(score)
    print(f"| {config.name}: choice | {' | '.join(map(str, COUNTS))} |\n|---|---|---|---|")
    for choice in options.choices:
        cells = (mean_and_spread(scores[choice, count]) for count in COUNTS)
        print(f"| {choice} | {' | '.join(cells)} |")
    print(f"| (no judgement) | {mean_and_spread(scores['', 0])} | | |", flush=True)


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Macro F1 against the choice of judged pages.")
    parser.add_argument("topic", type=Path)
    parser.add_argument("--web", required=True)
    parser.add_argument("--label", required=True, help="the label that is the truth")
    parser.add_argument("--pages", type=int, default=600, help="pages of the crawl")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--judge", type=int, help="pages to judge, drawn at random  [all]")
    parser.add_argument("--choices", nargs="+", choices=CHOICES, default=list(CHOICES))
    return parser.parse_args()


def one_draw(
    config: TopicConfig, web: Web, truth: Truth, choices: Sequence[str], draw: int
) -> dict[tuple[str, int], float]:
    """All scores of one draw of seeds."""
    rng = np.random.default_rng(draw)
    seeds = rng.permutation(np.flatnonzero(truth.relevant))[:SEEDS]
    drawn = config.override(seeds=[truth.urls[i] for i in seeds], seed=draw)
    crawled, start = crawl(drawn, web), first_model(drawn)
    models: dict[tuple[str, int], RelevanceModel] = {("", 0): learn(crawled, start, {}, draw)}
    used = {truth.texts[i] for i in seeds}
    for name in choices:
        judged = judge(CHOICES[name], crawled, truth, start, draw)
        for count, (model, texts) in zip(COUNTS, judged, strict=True):
            models[name, count] = model
            used |= texts
    return {key: truth.macro_f1(model, used) for key, model in models.items()}


def crawl(config: TopicConfig, web: Web) -> Crawled:
    """The pages that a crawl fetches, seeds included."""
    with TemporaryDirectory() as scratch:
        steps = run_crawl(config, web, run=Path(scratch) / "run").pages
    pages = [page for step in steps if isinstance(page := web.fetch(step.url), Page)]
    urls, parents = [page.url for page in pages], [step.parent or "" for step in steps]
    sites, led_to = [site_of(url) for url in urls], Counter(parents)
    return Crawled(
        urls=urls,
        pages=[
            CrawledPage(page.content, site, *(() if parent else (True, SEED_WEIGHT)))
            for page, site, parent in zip(pages, sites, parents, strict=True)
        ],
        sites=sites,
        led_to=[led_to[url] for url in urls],
        influence=influence(urls, parents, ([link.url for link in page.links] for page in pages)),
    )


def learn(
    crawled: Crawled, start: StaticModel, judged: dict[int, bool], draw: int
) -> RelevanceModel:
    """The model that the pages of a crawl teach, with some of them judged, by their places."""
    pages = list(crawled.pages)
    for place, relevant in judged.items():
        pages[place] = replace(pages[place], label=relevant, weight=JUDGED_WEIGHT)
    return learn_topic(pages, start, draw) or start


def judge(
    choice: Choice, crawled: Crawled, truth: Truth, start: StaticModel, draw: int
) -> list[tuple[RelevanceModel, set[str]]]:
    """The models after each number of judgements, and the texts that were judged."""
    relevant = dict(zip(truth.urls, truth.relevant.tolist(), strict=True))
    rng = np.random.default_rng(draw)
    texts = [page.content for page in crawled.pages]
    judged: dict[int, bool] = {}
    model, models = learn(crawled, start, judged, draw), []
    for count in COUNTS:
        chances = model.probabilities(texts).tolist()
        for place in choice(crawled, chances, rng):
            if len(judged) == count:
                break
            judged.setdefault(place, relevant[crawled.urls[place]])
        model = learn(crawled, start, judged, draw)
        models.append((model, {texts[place] for place in judged}))
    return models


if __name__ == "__main__":
    with threadpool_limits(1):  # as the command line does
        main()
