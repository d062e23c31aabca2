"""The crawl as a Gymnasium environment: it passes Gymnasium's own checker, and can be learnt."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env

from tres.engines.replay import PerceivedWeb
from tres.env import CrawlEnv
from tres.offline import GeneratedWeb
from tres.runs.topic_perceiver import perceive_topic
from tres.settings.sections import CrawlSection, TopicSection, TrainingSection
from tres.settings.topic_file import TopicConfig


@pytest.fixture(scope="module")
def seen() -> tuple[TopicConfig, PerceivedWeb]:
    web = GeneratedWeb(1500, seed=4)
    topic, keywords = next(iter(web.topics.items()))
    config = TopicConfig(
        name="env",
        topic=TopicSection(keywords=keywords, seeds=tuple(web.seeds(topic, 2))),
        training=TrainingSection(labels=(topic,)),
        crawl=CrawlSection(pages=60),
    )
    return config, PerceivedWeb(web, perceive_topic(config, web))


@pytest.fixture
def env(seen: tuple[TopicConfig, PerceivedWeb]) -> CrawlEnv:
    return CrawlEnv(*seen, offered=8)


def test_it_passes_gymnasiums_own_checker(env: CrawlEnv) -> None:
    check_env(env, skip_render_check=True)


def episode(env: CrawlEnv, choose: object, seed: int = 1) -> tuple[float, dict[str, object]]:
    observation, info = env.reset(seed=seed)
    total, done = 0.0, False
    while not done:
        action = choose(observation)  # type: ignore[operator]
        observation, reward, terminated, truncated, info = env.step(action)
        total += float(reward)
        done = terminated or truncated
    return total, info


def test_an_episode_ends_with_the_budget_as_a_truncation(env: CrawlEnv) -> None:
    env.reset(seed=1)
    while True:
        _, _, terminated, truncated, info = env.step(np.int64(0))
        assert not terminated
        if truncated:
            break
    assert info["pages"] == 60


def test_one_seed_gives_one_episode(env: CrawlEnv) -> None:
    assert episode(env, lambda _: 0, seed=3) == episode(env, lambda _: 0, seed=3)
    assert episode(env, lambda _: 0, seed=3) != episode(env, lambda _: 0, seed=4)


def test_the_columns_tell_where_relevant_pages_are(env: CrawlEnv) -> None:
    column = env.schema.column("anchor_relevance_mean")
    rng = np.random.default_rng(1)
    greedy = [episode(env, lambda o: np.int64(o[:, column].argmax()), s)[0] for s in range(8)]
    blind = [episode(env, lambda o: np.int64(rng.integers(8)), s)[0] for s in range(8)]
    assert sum(greedy) > 1.3 * sum(blind)


def test_a_step_before_reset_is_refused(seen: tuple[TopicConfig, PerceivedWeb]) -> None:
    with pytest.raises(ResetNeeded):
        CrawlEnv(*seen).step(np.int64(0))


@pytest.mark.parametrize("pages", [1, 2, 20])
def test_a_step_after_the_end_is_refused(
    seen: tuple[TopicConfig, PerceivedWeb], pages: int
) -> None:
    config, web = seen
    env = CrawlEnv(config.override(pages=pages), web, offered=8)
    _, info = env.reset(seed=1)
    while info["pages"] < pages:
        info = env.step(np.int64(0))[-1]
    for _ in range(2):
        with pytest.raises(ResetNeeded, match="reset"):
            env.step(np.int64(0))


@pytest.mark.parametrize("action", [-1, 8, 2**40, 0.5, None, "0"])
def test_an_action_that_is_not_on_offer_is_refused_and_changes_nothing(
    env: CrawlEnv, action: object
) -> None:
    env.reset(seed=1)
    with pytest.raises(InvalidAction, match="0 to 7"):
        env.step(action)  # type: ignore[arg-type]
    env.step(np.int64(7))


@pytest.mark.parametrize("model", ["tfidf", "svm"])
@pytest.mark.parametrize("steps", [None, 0, 15])
def test_a_pickled_environment_goes_on_as_the_original(
    seen: tuple[TopicConfig, PerceivedWeb], model: str, steps: int | None
) -> None:
    config, web = seen
    config = config.override(model=model)
    if model != "tfidf":
        web = PerceivedWeb(web.web, perceive_topic(config, web.web))
    env = CrawlEnv(config, web, offered=8)
    if steps is not None:
        env.reset(seed=2)
        for _ in range(steps):
            env.step(np.int64(3))
    copy = pickle.loads(pickle.dumps(env))
    assert np.array_equal(rest(copy, steps is None), rest(env, steps is None))


def rest(env: CrawlEnv, begin: bool) -> list[np.ndarray]:
    """The next observations."""
    if begin:
        env.reset(seed=2)
    return [env.step(np.int64(1))[0] for _ in range(10)]


@pytest.mark.parametrize(("cap", "features"), [("inf", "evidence"), (5, "no-neighbours")])
def test_an_agent_sees_what_tres_would_see_whatever_policy_the_topic_names(
    seen: tuple[TopicConfig, PerceivedWeb], cap: object, features: str
) -> None:
    config, web = seen
    env = CrawlEnv(config.override(policy="random", max_per_site=cap), web, offered=8)
    observation, _ = env.reset(seed=1)
    assert env.schema.name == features
    assert observation.shape == (8, env.schema.width)
