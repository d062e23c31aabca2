"""A small topic that can be learnt: pages about the sea, and pages about something else."""

import os
from functools import cache

import numpy as np
import pytest

from tres.relevance.custom_model import KIND
from tres.relevance.examples import Examples
from tres.relevance.installed_judge import InstalledJudge
from tres.relevance.model_kinds import train_model
from tres.relevance.training import TopicWords

SEA = "wave tide coral reef fish whale salt shore ship sail harbour current".split()
REST = "engine wheel tax law court stone roof wall paint music violin train".split()
BOTH = "day people long small water year place the and of".split()
SEA_JUDGE = """
class Sea:
    "The share of the topic's words among those that are not filling, and a prior without any."
    digest = "sea 1"

    def __init__(self, *, topic):
        self.words, self.others = set(topic.keywords), set("tax law violin music wall".split())

    def probabilities(self, texts):
        return [self.share(text.lower().split()) for text in texts]

    def share(self, words):
        known = [word in self.words for word in words if word in self.words | self.others]
        return sum(known) / len(known) if known else 0.25
"""


def write_pages(count, own, rng):
    return [
        f"{rng.choice(own)} {rng.choice(BOTH)}\n{' '.join(rng.choice(own + BOTH, 40))}"
        for _ in range(count)
    ]


@pytest.fixture(scope="session")
def pages():
    """Texts and labels: 30 about the sea, 90 about other things."""
    rng = np.random.default_rng(7)
    return write_pages(30, SEA, rng) + write_pages(90, REST, rng), [True] * 30 + [False] * 90


@pytest.fixture(scope="session")
def vectors(tmp_path_factory):
    """A GloVe file in 8 dimensions: words of the sea lie together, and so do the others."""
    directory = tmp_path_factory.mktemp("vectors")
    rng = np.random.default_rng(5)
    towards = {word: 1.0 for word in SEA} | {word: -1.0 for word in REST} | dict.fromkeys(BOTH, 0.0)
    towards |= {"octopus": 1.0, "squid": 1.0, "gearbox": -1.0, "10": 0.0}  # in no page
    lines = [
        f"{word} {' '.join(f'{x:.4f}' for x in side + 0.5 * rng.standard_normal(8))}"
        for word, side in towards.items()
    ]
    (directory / "tiny.txt").write_text("\n".join(lines) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRES_CACHE", str(directory / "cache"))
        yield directory / "tiny.txt"


@pytest.fixture(scope="session")
def train(vectors):
    """Trains a model of any kind; networks are small and read the tiny vectors."""
    from tres.relevance.neural import fit_lstm

    def train(kind, texts, labels, seed=3, keywords=("reef", "whale"), **more):
        topic = TopicWords(tuple(keywords), ("coral reef",), vectors)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fit_lstm, "HIDDEN", 8)
            patch.setattr(fit_lstm, "MIN_STEPS", 100)
            return train_model(kind, Examples(tuple(texts), tuple(labels)), seed, topic, **more)

    return train


@pytest.fixture(scope="session")
def sea_judge(tmp_path_factory):
    """A judge in an installed package, which needs no pages to know the sea."""
    place = tmp_path_factory.mktemp("packages")
    (place / "sea_judge.py").write_text(SEA_JUDGE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)
        patch.syspath_prepend(place)
        yield InstalledJudge("sea_judge:Sea", TopicWords(tuple(SEA), ("coral reef",)))


@pytest.fixture(scope="session")
def trained(train, pages, sea_judge):
    """The model of each kind that the pages teach; each is trained once."""
    return cache(lambda kind: sea_judge if kind == KIND else train(kind, *pages))


@pytest.fixture(scope="session")
def tfidf(trained):
    return trained("tfidf")


@pytest.fixture(scope="session")
def svm(trained):
    return trained("svm")


@pytest.fixture(scope="session")
def bilstm(trained):
    return trained("bilstm")


@pytest.fixture(scope="session")
def kw_bilstm(trained):
    return trained("kw-bilstm")
