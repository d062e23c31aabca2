"""Rules of the tree are those by which pages were chosen."""

from __future__ import annotations

from tres.report.run_reader import RunReader
from tres.runs.restored_session import tree_of


def test_the_features_of_a_page_meet_the_rule_that_is_given_for_it(reader: RunReader, done) -> None:
    """The rule of a page's leaf is that of the tree of then."""
    tree = tree_of(done)
    chosen = [page for page in reader.pages if page.leaf is not None and not page.explored]
    assert len(chosen) > 50
    for page in chosen:
        named = dict(zip(reader.features, page.features, strict=True))
        for feature, low, high in tree._conditions(page.leaf):
            assert low <= named[feature] < high
