"""The split of `benchmarks/site_split.py`, by which models are compared on sites never seen."""

import numpy as np
import pytest
from benchmarks.site_split import NEVER_SEEN, SEEN, LabelledTopic, Split, WebPages

from tres.settings.topic_file import new_topic

SITES, PAGES = 24, 5


def topic_on(sites: int) -> LabelledTopic:
    """Every third site is about bees; all pages of a site say its name, and nothing else."""
    names = [f"site{number % sites}" for number in range(SITES * PAGES)]
    config = new_topic(["bee"], name="bees", labels=["Nature"])
    return LabelledTopic.of(
        config,
        WebPages(
            tuple(f"http://{name}.example/{page}" for page, name in enumerate(names)),
            tuple(f"\n{name}" for name in names),
            tuple(("Nature/Bees",) if int(name[4:]) % 3 == 0 else () for name in names),
        ),
    )


def sites_of(topic, places):
    return {*topic.pages.sites[places].tolist()}


@pytest.mark.parametrize("draw", range(3))
def test_sites_are_judged_of_which_no_page_was_drawn_or_of_which_some_were(draw):
    topic = topic_on(SITES)
    splits = dict(topic.splits(draw))

    for name, common in ((SEEN, SITES // 2), (NEVER_SEEN, 0)):
        split = splits[name]
        drawn = sites_of(topic, np.concatenate((split.relevant, split.irrelevant)))
        assert len(sites_of(topic, split.judged)) == SITES // 2
        assert len(drawn & sites_of(topic, split.judged)) == common
        assert topic.truth[split.relevant].all()
        assert not topic.truth[split.irrelevant].any()
    assert {*splits[SEEN].judged} == {*splits[NEVER_SEEN].judged}
    assert len(splits[SEEN].judged) == SITES // 2 * PAGES  # all pages of these sites


def test_a_draw_follows_from_its_number():
    first, again, other = (dict(topic_on(SITES).splits(draw)) for draw in (1, 1, 2))

    assert first[NEVER_SEEN].relevant.tolist() == again[NEVER_SEEN].relevant.tolist()
    assert sites_of(topic_on(SITES), first[SEEN].judged) != sites_of(
        topic_on(SITES), other[SEEN].judged
    )


def test_one_site_has_no_site_never_seen():
    ((name, split),) = topic_on(1).splits(0)

    assert name == SEEN
    assert len(split.judged) == SITES * PAGES


def test_pages_that_are_learnt_from_are_not_judged():
    split = Split(np.array([0, 1, 2]), np.array([3, 4, 5]), np.arange(6)).first(2, 1)

    assert (split.relevant.tolist(), split.irrelevant.tolist()) == ([0, 1], [3])
    assert split.judged.tolist() == [2, 4, 5]


def test_a_model_that_knows_sites_by_name_is_found_out():
    topic = topic_on(SITES)

    seen, never_seen = (
        topic.measure("tfidf", split.first(18, 50), 1) for _, split in topic.splits(1)
    )

    assert seen.macro_f1 > 0.9
    assert never_seen.recall == 0.0
