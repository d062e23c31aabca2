"""`tres resume` when the judge is a network: the crawl that was never stopped, without training."""

from __future__ import annotations

from pathlib import Path

import pytest

from tres.relevance.model_kinds import load_model
from tres.relevance.neural import fit_lstm as network

from .conftest import TOPIC, Tres
from .test_crawl import rows_of


@pytest.fixture(params=["bilstm", "kw-bilstm"])
def neural(request: pytest.FixtureRequest, topic: Path, vectors: Path) -> Path:
    """A topic whose model is a network."""
    text = TOPIC.replace("[topic]", f'[topic]\nvectors = "{vectors}"')
    topic.write_text(text.replace("[training]", f'[training]\nmodel = "{request.param}"'))
    return topic


def test_a_crawl_judged_by_a_network_goes_on_byte_for_byte(
    tres: Tres, neural: Path, archive: Path, tmp_path: Path
) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    for run, pages in ((stopped, 12), (whole, 30)):
        outcome = tres("crawl", neural, "--web", archive, "--run", run, "--pages", pages)
        assert outcome.code == 0, outcome.err
    before = load_model(stopped / "model").digest
    outcome = tres("resume", stopped, "--pages", 30)
    assert outcome.code == 0, outcome.err
    assert len(rows_of(stopped)) == 30
    assert (stopped / "pages.csv").read_bytes() == (whole / "pages.csv").read_bytes()
    assert load_model(stopped / "model").digest == before


def test_it_needs_neither_training_nor_word_vectors(
    tres: Tres,
    neural: Path,
    archive: Path,
    tmp_path: Path,
    vectors: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = tmp_path / "run"
    assert tres("crawl", neural, "--web", archive, "--run", run, "--pages", 8).code == 0
    vectors.write_text("not a file of vectors")
    monkeypatch.setenv("TRES_CACHE", str(tmp_path / "empty"))
    monkeypatch.delattr(network, "fit")
    outcome = tres("resume", run, "--pages", 20)
    assert outcome.code == 0, outcome.err
    assert len(rows_of(run)) == 20
