"""One schema: a name and the number behind it never part."""

from __future__ import annotations

import numpy as np
import pytest

from tres.mdp.feature_schema import (
    CITATIONS,
    EVIDENCE,
    NO_NEIGHBOURS,
    NO_SIBLINGS,
    NO_SITE,
    NO_WORDS,
    PAPER,
    SCHEMAS,
    Schema,
)
from tres.settings.sections import FEATURES


def test_the_papers_eight_features_in_their_order() -> None:
    assert PAPER.features == (
        "parent_reward",
        "inverse_distance",
        "path_relevance",
        "url_keyword",
        "anchor_keyword",
        "anchor_relevance",
        "site_relevance",
        "site_known",
    )


def test_the_ablation_drops_the_features_of_the_site_and_nothing_else() -> None:
    assert NO_SITE.features == PAPER.features[:6]


def test_without_siblings_all_other_evidence_is_left() -> None:
    dropped = set(EVIDENCE.features) - set(NO_SIBLINGS.features)
    assert dropped == {"siblings_relevance", "best_hub", "neighbours_relevance"}


def test_without_neighbours_other_siblings_are_left() -> None:
    assert set(EVIDENCE.features) - set(NO_NEIGHBOURS.features) == {"neighbours_relevance"}


def test_without_words_all_other_evidence_is_left() -> None:
    assert set(EVIDENCE.features) - set(NO_WORDS.features) == {"words_relevance"}
    assert [schema.name for schema in SCHEMAS.values() if schema.reads_words] == [
        "evidence",
        "no-siblings",
        "no-neighbours",
    ]


def test_citations_are_what_both_of_them_leave() -> None:
    assert set(CITATIONS.features) == set(NO_SIBLINGS.features) & set(NO_WORDS.features)


def test_every_feature_set_that_can_be_named_exists() -> None:
    assert set(SCHEMAS) == set(FEATURES)
    assert EVIDENCE.row_per == NO_SIBLINGS.row_per == "url"
    assert PAPER.row_per == NO_SITE.row_per == "edge"


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_what_is_put_in_by_name_comes_out_by_name(schema: Schema) -> None:
    given = {name: i / 8 for i, name in enumerate(reversed(schema.features))}
    (vector,) = schema.matrix(1, given)
    assert schema.named(vector) == given
    for name, value in given.items():
        assert vector[schema.column(name)] == np.float32(value)


def test_a_missing_or_a_foreign_name_is_refused() -> None:
    full = dict.fromkeys(PAPER.features, 0.0)
    missing = {name: 0.0 for name in PAPER.features if name != "site_known"}
    for wrong in (missing, full | {"colour": 1.0}, missing | {"colour": 1.0}):
        with pytest.raises(KeyError):
            PAPER.matrix(1, wrong)
