"""The counts of `benchmarks/peers.py`, and the keywords that `keywords_dropped.py` leaves out."""

from __future__ import annotations

import json
from functools import partial
from importlib import import_module
from itertools import combinations, islice
from pathlib import Path

import pytest

from tres.offline import GeneratedWeb, JsonlArchive
from tres.settings.topic_file import new_topic

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SITE = "http://bees.example"
PAGES = {"/honey": "Bees", "/hive": "Bees", "/hive?copy": "Bees", "/news": "News"}


@pytest.fixture(autouse=True)
def beside_each_other(monkeypatch):
    """Benchmarks import each other as programs of one directory."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.fixture
def peers():
    return import_module("benchmarks.peers")


@pytest.fixture
def truth(tmp_path, peers):
    """A web of three pages about bees, one of them twice the same, and one other page."""
    rows = [
        {"url": SITE + path, "title": path.partition("?")[0], "text": "", "labels": [label]}
        for path, label in PAGES.items()
    ]
    file = tmp_path / "bees.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return peers.Truth.of(JsonlArchive(str(file)), "Bees")


def log(peers, *paths):
    return [peers.Fetched(SITE + path, "200" if path in PAGES else "404") for path in paths]


def test_harvest_is_the_share_of_the_first_requests_and_of_the_first_pages(peers, truth):
    fetched = log(peers, "/news", "/dead", "/honey", "/hive")
    assert truth.harvest(fetched, 2) == (0.0, 0.5)
    assert truth.harvest(fetched, 3) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_a_page_that_was_fetched_before_costs_a_fetch_and_is_no_further_find(peers, truth):
    for again in ("/hive", "/hive?copy"):
        assert truth.harvest(log(peers, "/hive", again), 2) == (0.5, 0.5)


def test_a_crawler_that_ends_early_finds_nothing_in_the_rest_of_its_budget(peers, truth):
    assert truth.harvest(log(peers, "/hive"), 4) == (0.25, 0.25)


def test_seeds_are_relevant_pages_and_the_same_for_every_crawler(truth):
    seeds = truth.draw_seeds(2, draw=1)
    assert seeds == truth.draw_seeds(2, draw=1)
    assert {PAGES[url.removeprefix(SITE)] for url in seeds} == {"Bees"}


def test_a_label_that_no_page_has_is_named(peers, truth):
    with pytest.raises(SystemExit, match="no page is labelled Wasps"):
        peers.Truth.of(truth.web, "Wasps")


@pytest.mark.slow
def test_the_server_sees_what_a_crawl_fetches_seeds_first(peers):
    web = GeneratedWeb(300)
    label, keywords = next(iter(web.topics.items()))
    seeds = web.seeds(label, 2)
    settings = {"contact": "me@localhost", "delay": 0.0, "robots": False, "pages": 12}
    topic = new_topic(keywords, seeds, **settings)

    name, fetched = peers.crawl_served(partial(peers.crawl_tres, "breadth-first"), topic, web)

    assert name == "breadth-first (policy of tres)"
    assert {each.url for each in fetched[:2]} == {*seeds}
    assert sum(each.status == "200" for each in fetched) == 12


def test_pairs_of_keywords_are_all_there_and_leave_out_every_keyword_in_turn():
    dropped = import_module("benchmarks.keywords_dropped")
    for count in (4, 5, 10):
        words = [f"word{number}" for number in range(count)]
        pairs = [frozenset(pair) for pair in dropped.pairs(words)]
        assert len(pairs) == len({*pairs}) == len([*combinations(words, 2)])
        once = [word for pair in islice(dropped.pairs(words), count) for word in pair]
        assert {once.count(word) for word in words} == {2}


def test_keywords_are_swapped_for_as_many_as_one_likes():
    dropped = import_module("benchmarks.keywords_dropped")
    assert dropped.swap("bird,mammal=protein") == (["bird", "mammal"], ["protein"])
    assert dropped.without(["bird", "cell", "mammal"], ["bird", "mammal"]) == ("cell",)
