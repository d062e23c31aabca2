"""The examples of a model without labels: what is written is what is read."""

from pathlib import Path

import pytest

from tres.relevance.examples import Examples
from tres.store.guessed_examples import read_guesses, write_guesses


@pytest.mark.parametrize("sites", [None, ("a.org", "b.org")])
def test_examples_come_back_as_they_were(tmp_path: Path, sites: tuple[str, ...] | None) -> None:
    guesses = Examples(("reef\n\u2028tide", "wall"), (True, False), (3.0, 1.0), sites)

    write_guesses(tmp_path, guesses)

    assert read_guesses(tmp_path) == guesses


def test_a_run_without_examples_has_none(tmp_path: Path) -> None:
    assert read_guesses(tmp_path) is None
