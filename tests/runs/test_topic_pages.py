"""Which pages a teacher is asked about before there is a model."""

from __future__ import annotations

from tests.support.bees import bees_config

from tres.runs.teacher.topic_pages import SAMPLE, archive_pages, worth_judging
from tres.web.page import Failed, FailureKind, Outcome, Page

CONFIG = bees_config()


def page(site: str, number: int, text: str) -> Page:
    return Page(f"http://{site}.example/{number}", "", text)


SEEDS = [page("seed", number, "anything") for number in range(2)]
RICH = [page("bees", number, "hive and honey") for number in range(4)]
POOR = [page("club", number, "a hive") for number in range(2)]
OTHER = [page(f"other{number}", 0, "trains") for number in range(8)]


def test_seeds_come_first_then_in_turn_pages_with_the_topics_words_and_random_ones() -> None:
    ranked = worth_judging(CONFIG, SEEDS, [*OTHER, *POOR, *RICH, *SEEDS])
    assert ranked[:2] == SEEDS
    by_words = ranked[2:][::2][:4]
    assert by_words[0] == RICH[0]
    assert by_words[1] == POOR[0]  # the best of another site before the second of the same
    assert sorted(ranked, key=lambda each: each.url) == sorted(
        [*SEEDS, *RICH, *POOR, *OTHER], key=lambda each: each.url
    )


def test_the_order_is_the_same_every_time() -> None:
    pages = [*OTHER, *POOR, *RICH]
    assert worth_judging(CONFIG, SEEDS, pages) == worth_judging(CONFIG, SEEDS, pages)


def test_the_words_of_the_description_count_and_pages_without_words_do_not() -> None:
    config = CONFIG.override(description="About the trains.")
    pages = [page("a", 0, "the about"), page("b", 0, "train trains"), page("c", 0, " ... ")]
    assert worth_judging(config, [], pages)[0].url == "http://b.example/0"
    assert len(worth_judging(config, [], pages)) == 2


class LargeWeb:
    """More pages than are looked at, the seed among them."""

    name = "large"

    def __len__(self) -> int:
        return SAMPLE + 500

    def fetch(self, url: str) -> Outcome:
        return Page(url, "", "a seed") if "apiary" in url else Failed(url, FailureKind.NOT_FOUND)

    def pages(self):  # type: ignore[no-untyped-def]
        return (page("large", number, "text") for number in range(len(self)))


def test_of_a_large_archive_a_sample_is_looked_at_and_always_the_seeds() -> None:
    ranked = archive_pages(CONFIG, LargeWeb())
    assert ranked[0].url == CONFIG.topic.seeds[0]
    assert len(ranked) == SAMPLE + 1
