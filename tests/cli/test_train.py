"""`tres train`: what it reports, what it saves, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import TOPIC, Tres


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "model"


@pytest.mark.parametrize("model", ["tfidf", "svm", "bilstm", "kw-bilstm"])
def test_every_model_is_judged_saved_and_can_crawl(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, out: Path, vectors: Path, model: str
) -> None:
    change = '[topic]\nvectors = "tiny.txt"'
    topic.write_text(
        TOPIC.replace("[topic]", change).replace("[training]", "[training]\nfolds = 2")
    )
    outcome = tres("train", topic, "--web", archive, "--out", out, "--model", model)
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    assert outcome.out.startswith(f"{model}: 10 relevant and 20 other examples, 2 folds\n")
    assert "macro F1   1.000 ± 0.000" in outcome.out
    training = json.loads((out / "model.json").read_text())["training"]
    assert (training["topic"], training["folds"], training["seed"]) == ("bees", 2, 1)
    assert training["mean"] == {"precision": 1.0, "recall": 1.0, "macro_f1": 1.0}
    assert training["web"] == str(archive)

    loaded = tmp_path / "loaded.toml"
    loaded.write_text(TOPIC.replace('labels = ["Nature"]', 'load = "model"'))
    run = tmp_path / "run"
    assert tres("crawl", loaded, "--web", archive, "--run", run).code == 0
    summary = json.loads((run / "summary.json").read_text())
    assert summary["pages"] == 30
    assert 10 <= summary["relevant"] <= 20


def test_a_crawl_trains_a_neural_model_itself(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, vectors: Path
) -> None:
    change = f'[topic]\nvectors = "{vectors}"'
    topic.write_text(TOPIC.replace("[topic]", change).replace("labels", 'model = "bilstm"\nlabels'))
    for run in ("a", "b"):
        outcome = tres("crawl", topic, "--web", archive, "--run", tmp_path / run)
        assert outcome.code == 0, outcome.err
    a, b = ((tmp_path / run / "pages.csv").read_bytes() for run in "ab")
    assert a == b


def test_the_report_shows_the_curve_the_unsure_and_the_mistakes(
    tres: Tres, topic: Path, archive: Path, out: Path
) -> None:
    pages = [json.loads(line) for line in archive.read_text().splitlines()]
    pages[3] |= {"title": "Liar\x1b[2J\x07", "text": "stock market price bond share " * 5}
    archive.write_text("\n".join(map(json.dumps, pages)))
    topic.write_text(TOPIC.replace("relevant = 10", "relevant = 30"))
    outcome = tres("train", topic, "--web", archive, "--out", out)
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert "probability  pages  mean  actually relevant" in lines
    curve = [line.split() for line in lines if " to " in line and line[0].isdigit()]
    assert sum(int(row[3]) for row in curve) == 40
    worst = lines[lines.index("worst mistakes") + 1]
    assert worst.endswith("relevant  Liar\\x1b[2J\\x07")
    assert len(lines[lines.index("least sure") + 1 : lines.index("worst mistakes") - 1]) == 10
    assert "\x1b" not in outcome.out
    assert lines[-1] == f'model: {out}   (use it with load = "{out}" in [training])'


def test_pages_of_several_sites_are_judged_as_sites_never_seen_too(
    tres: Tres, topic: Path, archive: Path, out: Path
) -> None:
    """On sites where every page has the site's own word, only that word tells what is relevant."""
    pages = [json.loads(line) for line in archive.read_text().splitlines()]
    for number, page in enumerate(pages):
        site = number // 4
        page |= {"url": f"http://site{site}.example/{number}", "title": "", "links": []}
        page |= {"text": f"word{site} " * 9, "labels": ["Nature"] if site % 3 == 0 else []}
    archive.write_text("\n".join(map(json.dumps, pages)))
    topic.write_text(TOPIC.replace("relevant = 10", "relevant = 99").replace("20", "99"))

    outcome = tres("train", topic, "--web", archive, "--out", out)

    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert lines[2:4] == [
        "           sites seen     sites never seen",
        "precision  1.000 ± 0.000  0.000 ± 0.000",
    ]
    assert lines[5].startswith("macro F1   1.000 ± 0.000  0.4")
    training = json.loads((out / "model.json").read_text())["training"]
    assert training["mean"]["recall"] == 1.0
    assert training["sites_never_seen"]["mean"]["recall"] == 0.0


def test_why_there_is_no_figure_on_sites_never_seen(
    tres: Tres, topic: Path, archive: Path, out: Path
) -> None:
    outcome = tres("train", topic, "--web", archive, "--out", out)

    assert "           sites seen\n" in outcome.out
    assert (
        "\n\nThere are no figures for sites never seen: "
        "the relevant examples come from 2 sites, and 5 are needed.\n\n"
    ) in outcome.out
    assert json.loads((out / "model.json").read_text())["training"]["sites_never_seen"] is None


@pytest.mark.parametrize("named", [True, False])
def test_example_files_name_their_sites_by_url(
    tres: Tres, topic: Path, tmp_path: Path, out: Path, named: bool
) -> None:
    for name, word in (("yes", "honey"), ("no", "bond")):
        rows = [
            {"text": f"{word} page", "url": f"HTTP://www.{name}{i}.example/" if named else None}
            for i in range(9)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = 'positives = "yes.jsonl"\nnegatives = "no.jsonl"'
    topic.write_text(TOPIC.replace('labels = ["Nature"]', files))

    outcome = tres("train", topic, "--out", out)

    assert outcome.code == 0, outcome.err
    assert ("sites never seen\n" in outcome.out) is named
    assert ("not every example names its site" in outcome.out) is not named


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("relevant = 10", "relevant = 4"),
         "4 relevant example pages are too few for 5 folds; "
         "give more examples or set training.folds lower"),
        (('labels = ["Nature"]', 'load = "."'),
         "{file}: training.load names a trained model; give examples (labels, or positives "
         "and negatives) to train one"),
        (("relevant = 10", 'model = "magic"'),
         "{file}: training.model must be one of auto, static, transformer, tfidf, svm, "
         "bilstm, kw-bilstm, or package.module:Name, not 'magic'"),
        (("relevant = 10", "folds = 1"),
         "{file}: training.folds must be a whole number from 2 to 50, not 1"),
    ],
)  # fmt: skip
def test_what_the_user_can_put_right_is_told_in_one_line(
    tres: Tres, topic: Path, archive: Path, out: Path, change: tuple[str, str], message: str
) -> None:
    topic.write_text(TOPIC.replace(*change))
    outcome = tres("train", topic, "--web", archive, "--out", out)
    assert outcome == (2, "", f"tres: {message.format(file=topic)}\n")
    assert not out.exists()


def test_a_web_with_one_class_only(tres: Tres, topic: Path, archive: Path, out: Path) -> None:
    pages = [json.loads(line) | {"labels": ["Nature"]} for line in archive.read_text().splitlines()]
    archive.write_text("\n".join(map(json.dumps, pages)))
    assert tres("train", topic, "--web", archive, "--out", out) == (
        2, "", "tres: 60 pages carry the label Nature and no other page is left as an irrelevant "
        "example; name a narrower label\n",
    )  # fmt: skip


def test_without_a_web_labels_give_no_examples(tres: Tres, topic: Path, out: Path) -> None:
    assert tres("train", topic, "--out", out) == (
        2, "", "tres: --web is missing: name the archive whose labels give the examples\n"
    )  # fmt: skip


def test_models_and_other_files_are_not_overwritten_unless_asked(
    tres: Tres, topic: Path, archive: Path, out: Path, tmp_path: Path
) -> None:
    train = ("train", topic, "--web", archive, "--out")
    assert tres(*train, out).code == 0
    before = (out / "model.json").read_bytes()
    assert tres(*train, out, "--seed", 2) == (
        2, "", f"tres: {out}: contains a model already; name another --out, or add --overwrite\n"
    )  # fmt: skip
    assert (out / "model.json").read_bytes() == before
    assert tres(*train, out, "--seed", 2, "--overwrite").code == 0
    assert (out / "model.json").read_bytes() != before
    assert tres(*train, tmp_path, "--overwrite") == (
        2, "", f"tres: {tmp_path}: contains other files; name another --out\n"
    )  # fmt: skip


def test_a_damaged_model_is_refused_before_the_crawl(
    tres: Tres, topic: Path, archive: Path, out: Path, tmp_path: Path
) -> None:
    tres("train", topic, "--web", archive, "--out", out)
    (out / "weights.npz").write_bytes(b"junk")
    topic.write_text(TOPIC.replace('labels = ["Nature"]', 'load = "model"'))
    assert tres("crawl", topic, "--web", archive, "--run", tmp_path / "run") == (
        2, "", f"tres: {out / 'weights.npz'}: is not the file that was saved (its digest differs); "
        "copy the model again or train it anew\n",
    )  # fmt: skip
