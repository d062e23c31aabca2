"""One rule says what is relevant: a person, a teacher, the newest model, the model of then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.dashboard import open_run, step

from tres.errors import RunError
from tres.store.journal import JOURNAL, Journal
from tres.store.judgements import (
    Judged,
    Judgement,
    append_judgement,
    read_judgements,
    read_judges,
)
from tres.store.verdicts import (
    ModelVerdicts,
    Verdict,
    Verdicts,
    read_verdicts,
    verdicts_fingerprint,
    write_verdicts,
)

PAGE = "http://a.example/"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with a few pages, which was stopped."""
    with open_run(tmp_path / "run") as opened:
        for _ in range(10):
            step(opened)
    return tmp_path / "run"


@pytest.fixture
def journal(run: Path) -> Iterator[Journal]:
    with Journal.open(run / JOURNAL) as opened:
        yield opened


def write_line(run: Path, **values: object) -> None:
    with (run / "judgements.jsonl").open("a") as file:
        file.write(json.dumps({"url": PAGE, "relevant": True, **values}) + "\n")


class TestTheRule:
    newest = ModelVerdicts("digest", 9, 0, (0.2, None))

    def test_a_page_is_what_the_model_said_when_it_was_fetched(self) -> None:
        assert Verdicts({}).of(1, PAGE, 0.7, True) == Verdict(0.7, True, "model")
        assert not Verdicts({})

    def test_unless_a_newer_model_has_read_it(self) -> None:
        verdicts = Verdicts({}, self.newest)
        assert verdicts.of(1, PAGE, 0.7, True) == Verdict(0.2, False, "model")
        assert verdicts.of(2, PAGE, 0.7, True) == Verdict(0.7, True, "model")  # it was gone
        assert verdicts.of(3, PAGE, 0.7, True) == Verdict(0.7, True, "model")  # it came later

    @pytest.mark.parametrize("by", ["person", "teacher"])
    def test_unless_somebody_was_asked(self, by: str) -> None:
        yes = Verdicts({PAGE: Judged(True, by)}, self.newest)
        assert yes.of(1, PAGE, 0.1, False) == Verdict(1.0, True, by)
        no = Verdicts({PAGE: Judged(False, by)}, self.newest)
        assert no.of(1, PAGE, 0.9, True) == Verdict(0.0, False, by)
        assert no.of(1, "http://other.example/", 0.9, True).judged_by == "model"


class TestJudgements:
    def test_without_a_name_are_those_of_a_person(self, tmp_path: Path) -> None:
        append_judgement(tmp_path, Judgement(PAGE, False, 1, 0.5))
        assert read_judgements(tmp_path) == {PAGE: False}
        assert read_judges(tmp_path) == {PAGE: "person"}

    def test_of_one_judge_the_last_counts(self, tmp_path: Path) -> None:
        for by in ("teacher", "person"):
            write_line(tmp_path, relevant=True, by=by)
            write_line(tmp_path, relevant=False, by=by)
            assert read_judgements(tmp_path) == {PAGE: False}
            assert read_judges(tmp_path) == {PAGE: by}

    @pytest.mark.parametrize("order", [("person", "teacher"), ("teacher", "person")])
    def test_a_teacher_never_overrules_a_person(
        self, tmp_path: Path, order: tuple[str, ...]
    ) -> None:
        for by in order:
            write_line(tmp_path, relevant=by == "person", by=by)
        assert read_judgements(tmp_path) == {PAGE: True}
        assert read_judges(tmp_path) == {PAGE: "person"}

    def test_of_somebody_else_are_damaged(self, tmp_path: Path) -> None:
        write_line(tmp_path, by="the cat")
        with pytest.raises(RunError, match=r"line 1 is damaged; correct or remove the line"):
            read_judgements(tmp_path)


class TestTheVerdictsOfAModel:
    def test_come_back_to_the_last_bit(self, run: Path, journal: Journal) -> None:
        given = [0.1 + 0.2, None, 1e-9]
        write_verdicts(run, journal, "digest", given)
        newest = read_verdicts(run, journal).newest
        assert newest is not None
        assert (newest.model, [newest.of(step) for step in (1, 2, 3, 4)]) == (
            "digest",
            [*given, None],
        )

    def test_are_the_same_file_for_the_same_verdicts(self, run: Path, journal: Journal) -> None:
        write_verdicts(run, journal, "digest", [0.25, None])
        before = (run / "verdicts.json").read_bytes()
        write_verdicts(run, journal, "digest", [0.25, None])
        assert (run / "verdicts.json").read_bytes() == before

    def test_on_another_crawl_do_not_count(
        self, run: Path, journal: Journal, tmp_path: Path
    ) -> None:
        write_verdicts(run, journal, "digest", [0.25])
        with open_run(tmp_path / "other") as opened:
            step(opened, "Another page")
            step(opened)
            (tmp_path / "other" / "verdicts.json").write_bytes((run / "verdicts.json").read_bytes())
            assert not read_verdicts(tmp_path / "other", opened.recorded.journal)  # it is shorter
            for _ in range(30):
                step(opened)
            assert not read_verdicts(tmp_path / "other", opened.recorded.journal)

    def test_still_count_when_the_crawl_has_gone_on(self, tmp_path: Path) -> None:
        with open_run(tmp_path / "run") as opened:
            step(opened)
            write_verdicts(tmp_path / "run", opened.recorded.journal, "digest", [0.25])
            for _ in range(5):
                step(opened)
            assert read_verdicts(tmp_path / "run", opened.recorded.journal)

    @pytest.mark.parametrize(
        "text",
        ["", "{", "[]", '{"model": "a"}', '{"checksum": "00000000"}'],
    )
    def test_are_refused_by_name_if_they_are_damaged(
        self, run: Path, journal: Journal, text: str
    ) -> None:
        (run / "verdicts.json").write_text(text)
        with pytest.raises(RunError, match=rf"verdicts.json: damaged .*then: tres judge {run}"):
            read_verdicts(run, journal)

    def test_with_a_changed_bit_are_damaged(self, run: Path, journal: Journal) -> None:
        write_verdicts(run, journal, "digest", [0.25])
        text = (run / "verdicts.json").read_text()
        (run / "verdicts.json").write_text(text.replace("0.25", "0.75"))
        with pytest.raises(RunError, match="not what was written"):
            read_verdicts(run, journal)


def test_the_fingerprint_changes_with_what_is_said(run: Path, journal: Journal) -> None:
    seen = {verdicts_fingerprint(run)}
    append_judgement(run, Judgement(PAGE, True, 1, 0.5))
    seen.add(verdicts_fingerprint(run))
    write_verdicts(run, journal, "digest", [0.25])
    assert len({*seen, verdicts_fingerprint(run)}) == 3
