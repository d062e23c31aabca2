"""Why a page was chosen, in words, is what the journal and the tree say."""

from __future__ import annotations

from tests.report.runs import row

from tres.experiment.resume import tree_of
from tres.frontier.rules import Node, TreeView
from tres.report.reader import RunReader
from tres.report.words import reason, rules_of

TREE = TreeView(
    (
        Node(0, -1, 0, "anchor_keyword", 0.5, 1, 2, 9, 0.5, 0),
        Node(1, 0, 1, None, None, None, None, 4, 0.1, 3),
        Node(2, 0, 1, "site_relevance", 0.62, 3, 4, 5, 0.8, 0),
        Node(3, 2, 2, None, None, None, None, 2, 0.5, 3),
        Node(4, 2, 2, None, None, None, None, 3, 1.0, 7),
    )
)


def test_a_choice_by_value_names_rule_value_and_candidates() -> None:
    chosen = row(q=0.8149, leaf=4, candidates=1312)
    assert (
        reason(chosen, rules_of(TREE))
        == "anchor keyword and site relevance ≥ 0.62, Q 0.81 of 1,312 candidates"
    )


def test_a_leaf_that_was_split_since_keeps_the_rule_it_had() -> None:
    assert reason(row(q=0.5, leaf=2), rules_of(TREE)) == "anchor keyword, Q 0.50"


def test_the_root_has_no_rule_to_name() -> None:
    assert reason(row(q=0.5, leaf=0, candidates=3), rules_of(TREE)) == "Q 0.50 of 3 candidates"


def test_chance_seeds_and_turns_have_their_own_words() -> None:
    rule = rules_of(TREE)
    assert reason(row(parent=None), rule) == "seed"
    assert reason(row(explored=True, leaf=4, candidates=9), rule) == "at random"
    assert reason(row(), rule) == "in turn"


def test_without_a_tree_there_is_still_a_value() -> None:
    assert reason(row(q=0.25, leaf=4), rules_of(None)) == "Q 0.25"


def test_the_features_of_a_page_meet_the_rule_that_is_given_for_it(reader: RunReader, done) -> None:
    """The rule of a page's leaf is that of the tree of then."""
    tree = tree_of(done)
    chosen = [page for page in reader.pages if page.leaf is not None and not page.explored]
    assert len(chosen) > 50
    for page in chosen:
        named = dict(zip(reader.features, page.features, strict=True))
        for feature, low, high in tree._conditions(page.leaf):
            assert low <= named[feature] < high
