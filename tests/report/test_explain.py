"""The facts of an explanation are those of the journal."""

from __future__ import annotations

import json
import math
import re
import shutil
import sqlite3
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.support.bees import HOME, bees_config, crawl_bees, garden, lexicon, trains, write_bees

from tres.engines.replay import PerceivedWeb
from tres.errors import ConfigError
from tres.mdp.feature_schema import EVIDENCE
from tres.offline import open_web
from tres.offline.generated.generator import GeneratedWeb
from tres.relevance.tfidf import train_tfidf
from tres.report.explain import facts
from tres.report.explain.facts import Failed, Fetched, NeverFetched, Waiting, facts_of
from tres.report.explain.gather import explain
from tres.report.explain.layout import format_explanation
from tres.report.run_reader import RunReader
from tres.runs.offline_run import crawl_offline, resume_offline
from tres.runs.resume_run import session_of
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.policy_names import POLICIES
from tres.settings.sections import (
    AgentSection,
    CrawlSection,
    TopicSection,
    TrainingSection,
)
from tres.settings.topic_file import TopicConfig
from tres.store import journal as journals
from tres.store import journal_reader
from tres.store.model_versions import replace_model

TOPIC = "astronomy"
STEPS = (1, 7, 40, 77, 110)


@pytest.fixture(scope="module")
def web() -> GeneratedWeb:
    return GeneratedWeb(400, seed=2)


@pytest.fixture(scope="module")
def run(web: GeneratedWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of a generated web with several pages in flight."""
    config = TopicConfig(
        name="stars",
        topic=TopicSection(keywords=web.topics[TOPIC], seeds=tuple(web.seeds(TOPIC, 2))),
        training=TrainingSection(labels=(TOPIC,)),
        crawl=CrawlSection(pages=110, in_flight=3),
        agent=AgentSection(guided=10, epsilon=0.1),
    )
    directory = tmp_path_factory.mktemp("runs") / "stars"
    crawl_offline(config, PerceivedWeb(web, perceive_topic(config, web)), directory)
    return directory


def rows(run: Path) -> list[dict[str, Any]]:
    """The lines of the journal, as SQLite tells them."""
    connection = sqlite3.connect(run / "journal.db")
    connection.row_factory = sqlite3.Row
    found = [dict(row) for row in connection.execute("SELECT * FROM pages ORDER BY step")]
    connection.close()
    return found


def fetched(run: Path, step: int) -> Fetched:
    explained = explain(run, str(step))
    assert isinstance(explained, Fetched)
    return explained


@pytest.mark.parametrize("step", STEPS)
def test_the_numbers_of_a_page_are_those_of_the_journal(run: Path, step: int) -> None:
    row, explained = rows(run)[step - 1], fetched(run, step)
    assert (explained.step, explained.url, explained.asked) == (step, row["url"], row["asked"])
    assert (explained.relevance, explained.relevant) == (row["relevance"], bool(row["reward"]))
    assert (explained.decision.q, explained.decision.candidates) == (row["q"], row["candidates"])
    rivals = [[other.url, other.q] for other in explained.decision.runners_up]
    assert rivals == json.loads(row["rivals"])
    assert {each.name: each.value for each in explained.features} == {
        each.name: row[each.name] for each in explained.features
    }
    assert len(explained.features) == len(RunReader(run).features)
    assert (None if explained.decision.leaf is None else explained.decision.leaf.id) == row["leaf"]


def test_a_decision_says_how_it_was_made(run: Path) -> None:
    for row in rows(run)[:22:2]:
        if row["parent"] is None:
            expected = "seed"
        elif row["explored"]:
            expected = "random"
        else:
            expected = "guess" if row["step"] <= 10 else "value"
        if row["step"] not in (11, 12, 13):  # chosen before or after the tenth step came back
            assert fetched(run, row["step"]).decision.how == expected


@pytest.mark.parametrize("step", STEPS)
def test_who_cites_a_page_is_who_was_counted_when_it_was_chosen(run: Path, step: int) -> None:
    explained = fetched(run, step)
    amounts = {each.name: each.amount for each in explained.features}
    if explained.decision.how == "seed":
        assert amounts["citations"] == 0
        return
    assert len(explained.citations) == amounts["citations"]
    assert sum(each.relevant for each in explained.citations) == amounts["relevant_citations"]
    assert explained.citations[0].url == rows(run)[step - 1]["parent"]


@pytest.mark.parametrize("step", STEPS)
def test_a_web_path_leads_from_a_seed_by_the_links_of_its_pages(
    run: Path, web: GeneratedWeb, step: int
) -> None:
    path = fetched(run, step).path
    by_url = {row["url"]: row for row in rows(run)}
    assert by_url[path[0].url]["parent"] is None
    assert path[-1].step == step
    for above, below in pairwise(path):
        assert by_url[below.url]["parent"] == above.url
        anchors = [link.anchor for link in web.fetch(above.url).links if link.url == below.url]
        assert below.anchor == " ".join(anchors)
        assert below.relevance == by_url[below.url]["relevance"]


def test_a_page_satisfies_the_rule_of_the_leaf_it_waited_in(run: Path) -> None:
    checked = 0
    for step in range(60, 110, 7):
        explained = fetched(run, step)
        seen = {each.name: each.value for each in explained.features}
        for bounds in explained.decision.leaf.conditions if explained.decision.leaf else ():
            # by these the tree sorts a link now and then, not whenever they change
            if not bounds.feature.startswith(("site_", "words_")):
                assert (bounds.low if bounds.low is not None else -math.inf) <= seen[bounds.feature]
                assert seen[bounds.feature] < (bounds.high if bounds.high is not None else math.inf)
                checked += 1
    assert checked > 10


def test_what_was_found_through_a_page_is_what_descends_from_it(run: Path) -> None:
    every = rows(run)
    parent = {row["url"]: row["parent"] for row in every}
    seed = every[0]["url"]

    def leads_to(url: str | None) -> bool:
        while url is not None and url != seed:
            url = parent[url]
        return url is not None

    below = [row for row in every[1:] if leads_to(row["url"])]
    came = fetched(run, 1).consequences
    assert came.descendants == len(below) > came.children > 0
    assert came.relevant_descendants == sum(row["reward"] for row in below)
    assert came.children == sum(row["parent"] == seed for row in every)


def test_runners_up_say_what_became_of_them(run: Path) -> None:
    steps = {row["url"]: row for row in rows(run)}
    explained = [other for step in STEPS for other in fetched(run, step).decision.runners_up]
    assert explained
    for other in explained:
        row = steps.get(other.url)
        assert other.step == (None if row is None else row["step"])
        assert other.relevant == (None if row is None else bool(row["reward"]))


def test_the_words_of_a_relevant_page_are_words_of_the_topic(run: Path, web: GeneratedWeb) -> None:
    relevant = [row["step"] for row in rows(run) if row["reward"]][5:11]
    known = hits = 0
    for step in relevant:
        telling = fetched(run, step).verdict.telling
        assert telling is not None
        assert telling.without < telling.probability
        known += len(telling.spoke_for[:3])
        hits += sum(word in web.topics[TOPIC] for word, _ in telling.spoke_for[:3])
    assert hits / known > 0.8


def test_a_killed_run_is_explained_like_a_finished_one(run: Path, tmp_path: Path) -> None:
    killed = Path(shutil.copytree(run, tmp_path / "killed"))
    for name in ("summary.json", "tree.json"):
        (killed / name).unlink()
    at_its_end, cut_off = (facts_of(explain(each, "100")) for each in (run, killed))
    assert cut_off.pop("crawl")["finished"] is False
    assert at_its_end.pop("crawl")["finished"] is True
    assert cut_off == at_its_end


def test_a_link_that_waits_has_its_place_among_all_that_wait(run: Path) -> None:
    session = session_of(run)
    waiting = session.policy.rows.waiting
    values = session.policy.values_of(waiting)
    place = 11
    row = int(waiting[np.argsort(-values, kind="stable")[place - 1]])
    url = session.crawl.urls[session.policy.rows.url(row)]
    explained = explain(run, url)
    assert isinstance(explained, Waiting)
    assert explained.frontier == len(waiting)
    assert explained.q == pytest.approx(np.sort(values)[-place], rel=1e-6)
    assert explained.rank == np.count_nonzero(values > explained.q) + 1 <= place
    amounts = {each.name: each.amount for each in explained.features}
    assert len(explained.citations) == amounts["citations"]
    assert explained.site_pages == amounts["site_fetched"]
    assert explained.leaf is not None
    assert [other.q for other in explained.best] == sorted(values.tolist(), reverse=True)[:3]


def test_the_journal_is_opened_once(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(run)
    waiting = session.crawl.urls[session.policy.rows.url(int(session.policy.rows.waiting[0]))]
    openings: list[Path] = []
    connect = journals.connect
    monkeypatch.setattr(
        journals, "connect", lambda path, *mode: (openings.append(path), connect(path, *mode))[1]
    )
    for url in ("100", "http://nowhere.example/", "nowhere.example", waiting):
        openings.clear()
        explain(run, url)
        assert len(openings) == 1, url


def test_only_the_records_that_matter_are_read(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    decode = journal_reader.decode
    monkeypatch.setattr(
        journal_reader, "decode", lambda kind, body: (read.append(kind), decode(kind, body))[1]
    )
    explained = fetched(run, 100)
    in_flight = 3  # of which one may cite it and come back between its choice and itself
    assert read.count("page") <= len(explained.citations) + len(explained.path) + in_flight


def test_a_step_may_be_named_by_its_number_or_by_any_spelling_of_its_url(run: Path) -> None:
    url = rows(run)[39]["url"]
    bare = url.removeprefix("http://")
    for spelling in (url, bare, url.replace("http://", "HTTP://"), f"{url}#top", "40"):
        assert explain(run, spelling).url == url


@pytest.mark.parametrize("nonsense", ["0", "111", "not a url", "mailto:me@example.org", "http://"])
def test_what_is_not_an_address_is_refused(run: Path, nonsense: str) -> None:
    with pytest.raises(ConfigError, match=r"no page has this number|not a web address"):
        explain(run, nonsense)


def test_facts_are_plain_json(run: Path) -> None:
    plain = json.loads(json.dumps(facts_of(explain(run, "100")), allow_nan=False))
    assert plain["case"] == "fetched"
    assert plain["decision"]["runners_up"][0].keys() == {"url", "q", "step", "relevant", "failure"}


def test_every_key_of_the_facts_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
    kinds = msgspec.json.schema(facts.Explanation)["$defs"]
    assert {"Fetched", "Decision", "Attribution"} <= set(kinds)
    names = {name for kind in kinds.values() for name in kind["properties"]}
    assert names <= set(re.findall("`([a-z_]+)`", text))


@pytest.fixture(scope="module")
def bees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bees(tmp_path_factory.mktemp("bees") / "bees.jsonl")


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_is_explained(bees: Path, tmp_path: Path, policy: Any) -> None:
    features = "paper" if policy in ("tres-sync", "random") else "evidence"
    run = crawl_bees(tmp_path / "run", bees, bees_config(policy=policy, features=features))
    for row in rows(run)[::4]:
        explained = explain(run, str(row["step"]))
        assert isinstance(explained, Fetched)
        assert explained.decision.q == row["q"]
        assert f"page {row['step']} of 20" in format_explanation(explained)
    others = [explain(run, url) for url in (lexicon(99), garden(7), trains(5), trains(6))]
    assert all(
        isinstance(explained, Fetched | Waiting | NeverFetched | Failed) for explained in others
    )
    assert isinstance(others[0], NeverFetched)
    assert all(format_explanation(explained) for explained in others)


def test_a_seed_is_explained_as_a_seed(bees: Path, tmp_path: Path) -> None:
    run = crawl_bees(tmp_path / "run", bees, bees_config(pages=3))
    explained = explain(run, HOME)
    assert isinstance(explained, Fetched)
    assert explained.decision.how == "seed"
    assert [each.url for each in explained.path] == [HOME]


def test_a_guess_lowered_by_scarce_places_is_explained_as_a_guess(
    bees: Path, tmp_path: Path
) -> None:
    run = crawl_bees(tmp_path / "run", bees, bees_config(max_per_site=4))
    valued = [row for row in rows(run) if row["q"] is not None]
    near = [np.mean([row[name] for name in EVIDENCE.guesses]) for row in valued]
    paid = [row["step"] for row, mean in zip(valued, near, strict=True) if row["q"] < mean - 0.01]
    assert paid
    for step in paid:
        explained = fetched(run, step)
        assert (explained.decision.how, explained.crawl.scarcity) == ("guess", 0.3)
        assert "Up to 0.3 is taken off as the places" in " ".join(
            format_explanation(explained).split()
        )


def test_the_judge_is_the_model_of_its_time(bees: Path, tmp_path: Path) -> None:
    run = crawl_bees(tmp_path / "run", bees, bees_config(pages=4))
    first = fetched(run, 3)
    web = open_web(str(bees))
    texts = [page.content for page in web.pages()]
    replace_model(run, train_tfidf(texts, ["Line" in text for text in texts], 1))
    resume_offline(run, web, 8)
    before, after = fetched(run, 3), fetched(run, 7)
    assert (before.verdict.number, before.verdict.models) == (1, 2)
    assert (after.verdict.number, after.verdict.models) == (2, 2)
    assert before.verdict.telling == first.verdict.telling
    assert after.verdict.note == before.verdict.note == ""
    assert "Model 1 of the run's 2 judged it." in " ".join(format_explanation(before).split())


def test_a_page_that_is_judged_differently_now_has_a_note(bees: Path, tmp_path: Path) -> None:
    run = crawl_bees(tmp_path / "run", bees, bees_config(pages=3))
    other = tmp_path / "other.jsonl"
    other.write_text(bees.read_text().replace("honey bees live in a hive", "trains"))
    explained = explain(run, "2", str(other))
    assert isinstance(explained, Fetched)
    assert "judged again from the copy that was kept, it gets" in explained.verdict.note
