"""Columns and names: what grows at its end and never forgets."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tres.mdp.columns import Column
from tres.mdp.names import Names


@given(blocks=st.lists(st.lists(st.integers(-99, 99), max_size=20), max_size=12))
def test_a_column_is_a_list(blocks: list[list[int]]) -> None:
    column, model = Column(np.int32), []
    for block in blocks:
        column.extend(np.array(block, np.int32))
        model += block
        assert column.append(7) == len(model)
        model.append(7)
    assert column.view.tolist() == model
    assert len(column) == len(model)


def test_new_entries_hold_the_fill_value_and_old_ones_stay() -> None:
    column = Column(np.float32, width=2, fill=-1)
    column.append((1, 2))
    column.resize(3)
    assert column.view.tolist() == [[1, 2], [-1, -1], [-1, -1]]
    column.resize(1)  # columns never shrink
    assert len(column) == 3


def test_at_most_a_third_of_a_long_column_is_unused() -> None:
    column = Column(np.int64)
    for i in range(10_000):
        column.append(i)
        if i > 100:
            assert column.nbytes <= 8 * 1.6 * len(column)


@given(words=st.lists(st.text(max_size=2)))
def test_names_are_numbered_in_order_of_discovery(words: list[str]) -> None:
    names = Names()
    given_ids = names.ids(tuple(words))
    known = list(dict.fromkeys(words))
    assert given_ids == [known.index(word) for word in words]
    assert [names[i] for i in range(len(names))] == known
    assert all(word in names for word in words)
    assert "longer" not in names


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_grows_and_is_written_through_its_view(copied: Callable[[Column], Column]) -> None:
    column = Column(np.int32, fill=7)
    column.resize(3)
    other = copied(column)
    other.view[0] = 1
    other.resize(40)
    assert other.view[[0, 1, 39]].tolist() == [1, 7, 7]
    assert column.view.tolist() == [7, 7, 7]
