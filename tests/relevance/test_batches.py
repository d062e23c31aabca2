"""How models answer many texts: each distinct text is read once, a short one once in all."""

import numpy as np

from tres.relevance import batches
from tres.relevance.batches import MAX_CACHED_CHARS, predict_cached, predict_distinct


class Lengths:
    """A model that answers with the length of a text, and keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.append(texts)
        return np.array([len(text) for text in texts], np.float32)


def test_a_text_that_repeats_is_predicted_once_and_chunks_are_small():
    model = Lengths()

    answers = predict_distinct(["a", "bb", "a", "ccc"], model, 2)

    assert answers.tolist() == [1, 2, 1, 3]
    assert model.asked == [["a", "bb"], ["ccc"]]


def test_short_texts_are_cached_between_calls_and_long_ones_are_not():
    model, memory, page = Lengths(), {}, "p" * (MAX_CACHED_CHARS + 1)

    first = predict_cached(["a", page, "bb"], model, 8, memory)
    second = predict_cached(["bb", "ccc", page, "a"], model, 8, memory)

    assert first.tolist() == [1, MAX_CACHED_CHARS + 1, 2]
    assert second.tolist() == [2, 3, MAX_CACHED_CHARS + 1, 1]
    assert second.dtype == np.float32
    assert model.asked == [["a", page, "bb"], ["ccc", page]]


def test_a_full_cache_is_emptied(monkeypatch):
    monkeypatch.setattr(batches, "MAX_CACHED_TEXTS", 2)
    model, memory = Lengths(), {}

    for text in ("a", "bb", "ccc", "a"):
        answers = predict_cached([text], model, 8, memory)

    assert answers.tolist() == [1]
    assert len(memory) <= 3
    assert model.asked == [["a"], ["bb"], ["ccc"], ["a"]]
