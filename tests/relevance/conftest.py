"""A small topic that can be learnt: pages about the sea, and pages about something else."""

import numpy as np
import pytest

from tres.relevance.tfidf import train_tfidf

SEA = "wave tide coral reef fish whale salt shore ship sail harbour current".split()
REST = "engine wheel tax law court stone roof wall paint music violin train".split()
BOTH = "day people long small water year place the and of".split()


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
def model(pages):
    return train_tfidf(*pages, seed=3)
