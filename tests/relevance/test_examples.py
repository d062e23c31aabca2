"""Examples drawn from labels: which pages count, and how they are drawn."""

from collections import Counter

import numpy as np
import pytest

from tres.errors import TrainingError
from tres.relevance.examples import Examples, Reservoir, examples_from_labels

WEB = [
    ("cat", ("Science/Biology/Mammals",)),
    ("cell", ("Science/Biology",)),
    ("biography", ("Science/Biologyish",)),
    ("atom", ("Science/Physics", "Science")),
    ("tax", ()),
]


def draw(labels, relevant=10, irrelevant=10, seed=1, web=WEB):
    pages = ((content, page_labels, f"{content[0]}.org") for content, page_labels in web)
    return examples_from_labels(pages, labels, relevant, irrelevant, seed)


def test_a_label_means_itself_and_all_below_it():
    examples = draw(["Science/Biology"])

    assert examples.relevant == ("cat", "cell")
    assert examples.irrelevant == ("biography", "atom", "tax")


def test_one_of_several_labels_is_enough_and_a_closing_slash_is_ignored():
    assert draw(["Science/Biology/", "Science/Physics"]).relevant == ("cat", "cell", "atom")


def test_texts_and_labels_go_together():
    examples = Examples.of(("a",), ("b", "c"))

    assert examples.texts == ("a", "b", "c")
    assert examples.labels == (True, False, False)


def test_every_example_knows_its_site():
    examples = draw(["Science/Biology"])

    assert examples.sites == ("c.org", "c.org", "b.org", "a.org", "t.org")


def test_a_subset_takes_weights_and_sites_along():
    examples = Examples(("a", "b", "c"), (True, False, False), (1.0, 2.0, 3.0), ("x", "y", "z"))

    assert examples.subset([2, 0]) == Examples(("c", "a"), (False, True), (3.0, 1.0), ("z", "x"))
    assert Examples.of("a", "bc").subset([1]) == Examples(("b",), (False,))


def test_without_weights_a_text_is_repeated_with_its_site():
    examples = Examples(("a", "b", "c"), (False, True, True), (1.0, 3.0, 1.0), ("x", "y", "z"))

    assert examples.without_weights() == Examples(
        ("b", "b", "b", "c", "a"), (True,) * 4 + (False,), None, ("y", "y", "y", "z", "x")
    )


def test_no_more_examples_than_asked_for_and_none_twice():
    web = [(f"page {number}", ("yes",) if number % 2 else ()) for number in range(200)]

    examples = draw(["yes"], relevant=20, irrelevant=30, web=web)

    assert (len(set(examples.relevant)), len(set(examples.irrelevant))) == (20, 30)


def test_one_seed_one_sample():
    web = [(f"page {number}", ("yes",) if number % 2 else ()) for number in range(200)]

    assert draw(["yes"], seed=5, web=web) == draw(["yes"], seed=5, web=web)
    assert draw(["yes"], seed=5, web=web) != draw(["yes"], seed=6, web=web)


def test_the_sample_is_uniform():
    rng = np.random.default_rng(1)
    kept = Counter()
    for _ in range(2000):
        reservoir = Reservoir(3, rng)
        for text in "abcdefghij":
            reservoir.offer(text)
        kept.update(reservoir.sample)

    assert all(abs(kept[text] - 600) < 100 for text in "abcdefghij")


@pytest.mark.parametrize(
    ("web", "labels", "message"),
    [
        (
            WEB,
            ["Science/Biologie"],
            "no page carries the label 'Science/Biologie'; did you mean 'Science/Biology'?",
        ),
        (
            WEB,
            ["Science", "Sience"],
            "no page carries the label 'Sience'; did you mean 'Science'?",
        ),
        (
            [("cat", ("Zoology",)), ("tax", ("Art",))],
            ["Law"],
            "no page carries the label 'Law'; this web has 'Art', 'Zoology'",
        ),
        (
            [("tax", ())],
            ["Science"],
            "no page of this web carries labels; give example files (training.positives and "
            "training.negatives) instead",
        ),
        (
            [("cat", ("Science",)), ("cell", ("Art", "Science"))],
            ["Science"],
            "2 pages carry the label Science and no other page is left as an irrelevant example; "
            "name a narrower label",
        ),
        (
            [("cat", ("Science",))],
            ["Science"],
            "1 page carries the label Science and no other page is left as an irrelevant example; "
            "name a narrower label",
        ),
    ],
)
def test_labels_that_give_no_examples(web, labels, message):
    with pytest.raises(TrainingError) as caught:
        draw(labels, web=web)

    assert caught.value.exit_code == 2
    assert caught.value.message == message
