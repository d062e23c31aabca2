"""Damaged archives and models: named, refused with exit code 2, and nothing is started."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import TOPIC, Outcome, Tres


def refused(outcome: Outcome, message: str, run: Path) -> None:
    assert outcome.code == 2
    assert outcome.err == f"tres: {message}\n"
    assert outcome.out == ""
    assert not run.exists()


def broken_line(archive: Path) -> Path:
    lines = archive.read_text().splitlines()
    archive.write_text("\n".join([*lines[:4], "{not json", *lines[5:]]))
    return archive


def without_url(archive: Path) -> Path:
    archive.write_text(json.dumps({"title": "nowhere"}))
    return archive


def cut_short(archive: Path) -> Path:
    packed = archive.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(archive.read_bytes())[:-200])
    return packed


def not_gzip(archive: Path) -> Path:
    return archive.rename(archive.with_suffix(".jsonl.gz"))


def not_a_warc(archive: Path) -> Path:
    return archive.rename(archive.with_suffix(".warc"))


def gone(archive: Path) -> Path:
    archive.unlink()
    return archive


def of_unknown_kind(archive: Path) -> Path:
    return archive.rename(archive.with_suffix(".zip"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (gone, "{web}: no such file; check the path given as the web"),
        (broken_line, "{web}: line 5 is not JSON; correct or remove the line"),
        (without_url, "{web}: line 1 has no `url`; correct or remove the line"),
        (cut_short, "{web}: is cut short; copy or download it again"),
        (not_gzip, "{web}: is not gzip; rename it to web.jsonl or compress it"),
    ],
)
def test_a_damaged_archive_is_refused_by_name(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path,
    damage: Callable[[Path], Path], message: str,
) -> None:  # fmt: skip
    web, run = damage(archive), tmp_path / "run"
    refused(tres("crawl", topic, "--web", web, "--run", run), message.format(web=web), run)


@pytest.mark.parametrize("damage", [not_a_warc, of_unknown_kind])
def test_what_is_no_archive_is_refused(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, damage: Callable[[Path], Path]
) -> None:
    web = damage(archive)
    outcome = tres("crawl", topic, "--web", web, "--run", tmp_path / "run")
    assert outcome.code == 2
    assert outcome.err.startswith(f"tres: {web}: ")
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.fixture
def model(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    """A saved model, and the topic file changed to load it."""
    assert tres("crawl", topic, "--web", archive, "--run", tmp_path / "trained").code == 0
    topic.write_text(TOPIC.replace('labels = ["Nature"]', 'load = "trained/model"'))
    return tmp_path / "trained" / "model"


def test_a_saved_model_that_was_changed_is_refused(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, model: Path
) -> None:
    for file in model.iterdir():
        whole = file.read_bytes()
        file.write_bytes(whole[: len(whole) // 2])
        outcome = tres("crawl", topic, "--web", archive, "--run", tmp_path / "run")
        assert outcome.code == 2
        assert outcome.err.startswith(f"tres: {file}: "), file
        assert outcome.err.count("\n") == 1
        assert not (tmp_path / "run").exists()
        file.write_bytes(whole)
    assert tres("crawl", topic, "--web", archive, "--run", tmp_path / "run").code == 0


def test_a_model_with_a_missing_file_is_refused(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path, model: Path
) -> None:
    for file in list(model.iterdir()):
        whole = file.read_bytes()
        file.unlink()
        outcome = tres("crawl", topic, "--web", archive, "--run", tmp_path / "run")
        assert outcome.code == 2
        assert f"{file}: is missing" in outcome.err
        file.write_bytes(whole)


def test_examples_of_one_class_only_cannot_train_a_model(
    tres: Tres, topic: Path, archive: Path, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in archive.read_text().splitlines()]
    archive.write_text("\n".join(json.dumps(line | {"labels": ["Nature"]}) for line in lines))
    refused(
        tres("crawl", topic, "--web", archive, "--run", tmp_path / "run"),
        "60 pages carry the label Nature and no other page is left as an irrelevant example; "
        "name a narrower label",
        tmp_path / "run",
    )


def test_a_disk_that_cannot_be_written_is_named(
    tres: Tres, topic: Path, archive: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    run = tmp_path / "run"
    for place, remedy in (
        ("tres.runs.open_run.write_config", "free some space or name another --run"),
        ("tres.store.journal.Journal.append", f"free some space, then: tres resume {run}"),
        ("tres.runs.open_run.write_result", f"free some space, then: tres resume {run}"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(place, full)
            outcome = tres("crawl", topic, "--web", archive, "--run", run, "--overwrite")
        assert outcome.code == 2
        assert outcome.err == (
            f"tres: {run}: cannot be written (No space left on device); {remedy}\n"
        )
    assert tres("resume", run).code == 0
    assert (run / "pages.csv").exists()
