"""When TRES explores: a warm-up counted in pages, then a small share of its decisions."""

from __future__ import annotations

from tests.support.webs import To, drive, page, start, web_of

from tres.policies.setup import PolicySettings
from tres.settings.sections import AgentSection
from tres.web.page import Failed
from tres.web.percept import Percept


def chain(dead: int) -> dict[str, Percept | Failed]:
    """A chain of hundred pages, each with some dead links beside those that lead on."""
    pages = []
    for i in range(100):
        onward = [To(f"s/{i + 1}"), To(f"s/{i + 2}")]
        pages.append(page(f"s/{i}", i % 2, *onward, *(f"dead/{i}-{j}" for j in range(dead))))
    return web_of(*pages)


def test_the_warm_up_is_counted_in_pages_so_that_dead_links_do_not_shorten_it() -> None:
    web = chain(dead=3)
    settings = PolicySettings(agent=AgentSection(warmup=30, epsilon=0.0))
    run = drive(start(web, ["s/0"], settings, pages=60), web)
    assert len(run.asked) > len(run.steps)
    explored = [step.explored for step in run.steps[1:]]  # the seed was chosen by the user
    assert all(explored[:29])
    assert not any(explored[30:])


def test_later_on_the_given_share_of_decisions_is_random() -> None:
    web = chain(dead=0)
    settings = PolicySettings(agent=AgentSection(warmup=0, epsilon=0.5))
    run = drive(start(web, ["s/0"], settings, pages=90), web)
    share = sum(step.explored for step in run.steps) / len(run.steps)
    assert 0.3 < share < 0.7


def test_only_a_greedy_choice_carries_a_value() -> None:
    web = chain(dead=0)
    settings = PolicySettings(agent=AgentSection(warmup=5, epsilon=0.3))
    run = drive(start(web, ["s/0"], settings, pages=60), web)
    for step in run.steps[1:]:
        assert (step.q is None) == step.explored
