"""A judge by its path: what a name may stand for, how it is made, and what is refused."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.support.reading import html, received

from tres.engines.reading.page_reader import Reading
from tres.engines.reading.reader_plan import ReaderPlan
from tres.engines.reading.reader_pool import ReaderPool
from tres.errors import ConfigError, ModelError
from tres.files.checksummed import signed, verified
from tres.relevance.custom_model import CustomModel
from tres.relevance.installed_judge import RECORD, InstalledJudge
from tres.relevance.model_kinds import load_model
from tres.relevance.training import TopicWords
from tres.settings.sections import LiveSection, TrainingSection
from tres.web.page import Failed, FailureKind
from tres.web.percept import Percept

TOPIC = TopicWords(("Bee", "hive"), ("honey bee",))
WAYS = """
from functools import partial

class Counts:
    def __init__(self, words=("bee",)):
        self.words = words
    def probabilities(self, texts):
        return [float(any(word in text for word in self.words)) for text in texts]

class Asks(Counts):
    def __init__(self, *, topic):
        super().__init__((*topic.keywords, *topic.phrases))

def make(topic, more=()):
    return Counts((*topic.keywords, *more))

part = partial(make, more=("wasp",))
ready = Counts(("ant",))
number = 3
text = "probabilities"
none = lambda: None
needy = lambda words: Counts(words)
broken = lambda: 1 / 0
class Dumb: ...
class Numbered(Counts):
    digest = 7
"""


class Installed:
    """A place for installed packages."""

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place, self.monkeypatch = place, monkeypatch
        monkeypatch.setenv("PYTHONPATH", str(place), prepend=os.pathsep)
        monkeypatch.syspath_prepend(place)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def __call__(self, name: str, text: str) -> None:
        (self.place / f"{name}.py").write_text(text, encoding="utf-8")
        self.monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installed:
    place = tmp_path / "packages"
    place.mkdir()
    install = Installed(place, monkeypatch)
    install("ways", WAYS)
    return install


@pytest.mark.usefixtures("install")
@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Counts", ["bee"]),
        ("Asks", ["Bee", "hive", "honey bee"]),
        ("make", ["Bee", "hive"]),
        ("part", ["Bee", "hive", "wasp"]),
        ("ready", ["ant"]),
    ],
)
def test_a_path_names_a_judge_or_what_makes_one(name: str, known: list[str]) -> None:
    words = ["Bee", "bee", "hive", "honey", "wasp", "ant"]
    answers = InstalledJudge(f"ways:{name}", TOPIC).probabilities(words)
    expected = [float(any(each in word for each in known)) for word in words]
    assert (answers.dtype, answers.tolist()) == (np.float32, expected)


@pytest.mark.usefixtures("install")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("number", "is neither a judge nor a class or function that makes one; give it"),
        ("text", "is neither a judge nor a class or function that makes one; give it"),
        ("none", "has no method probabilities; give it probabilities(texts), as tres.Judge has"),
        ("Dumb", "has no method probabilities; give it"),
        ("needy", "cannot be made: TypeError: <lambda>() missing 1 required positional argument"),
        ("broken", "cannot be made: ZeroDivisionError: division by zero; let it do without"),
        ("Numbered", "has a digest that is no text; make it a text"),
        ("Count", "does not exist: ways has no Count; did you mean ways:Counts?"),
        ("xyz", "does not exist: ways has no xyz; name a judge of the module"),
    ],
)
def test_what_is_no_judge_is_said(name: str, message: str) -> None:
    with pytest.raises(ConfigError) as problem:
        InstalledJudge(f"ways:{name}", TOPIC)
    assert problem.value.message.startswith(f"training.model: ways:{name} {message}")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("[0.5]", "must give one number from 0 to 1 for each text; for 2 it gave an array of"),
        ("[[0.5, 0.5]]", "for 2 it gave an array of shape (1, 2), see its `probabilities`"),
        ("[0.5, 1.5]", "must give one number from 0 to 1"),
        ("[0.5, float('nan')]", "must give one number from 0 to 1"),
        ("0.5", "for 2 it gave an array of shape ()"),
        ("None", "for 2 it gave an array of shape ()"),
        ("(0.5 for text in texts)", "failed: TypeError: "),
        ("['high', 'low']", "failed: ValueError: could not convert string to float"),
        ("1 / 0", "failed: ZeroDivisionError: division by zero; mend it"),
    ],
)
def test_answers_that_are_no_probabilities_are_named(
    install: Installed, answer: str, message: str
) -> None:
    install("wrong", f"class J:\n    def probabilities(self, texts): return {answer}\n")
    with pytest.raises(ModelError) as problem:
        InstalledJudge("wrong:J", TOPIC).probabilities(["one", "two"])
    assert problem.value.message.startswith("the judge wrong:J ")
    assert message in problem.value.message


# Names


def test_a_topic_needs_no_examples_for_it_and_may_have_some() -> None:
    assert TrainingSection(model="never.installed:Judge").own_judge
    assert "never" not in sys.modules  # to read a name imports nothing
    assert TrainingSection(model="never.installed:Judge", labels=("Bees",)).has_examples
    assert not TrainingSection(labels=("Bees",)).own_judge


def test_it_replaces_a_saved_model(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"and training\.model the judge a:B; remove one"):
        TrainingSection(model="a:B", load=tmp_path)


@pytest.mark.parametrize("name", ["", "tf-idf", "a:", ":b", "a..b:C", "../a:b", "a b:c", 3])
def test_what_is_neither_a_name_nor_a_path_is_refused(name: object) -> None:
    with pytest.raises(
        ConfigError, match=r"^training\.model must be one of .*, or package\.module"
    ):
        TrainingSection(model=name, labels=("Bees",))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("never.installed:Judge", "is in the package never, which is not installed; install"),
        ("antigravity:fly", "names antigravity of Python itself; name a judge of yours"),
    ],
)
def test_only_installed_packages_hold_judges(path: str, message: str) -> None:
    with pytest.raises(ConfigError) as problem:
        InstalledJudge(path, TOPIC)
    assert f"training.model: {path} {message}" in problem.value.message
    assert "antigravity" not in sys.modules


# Files


def test_what_makes_it_again_is_saved_and_nothing_else(install: Installed, tmp_path: Path) -> None:
    judge = InstalledJudge("ways:Asks", TOPIC)
    judge.save(tmp_path / "model")
    record = json.loads((tmp_path / "model" / RECORD).read_text())
    assert record["path"] == "ways:Asks"
    assert record["topic"]["keywords"] == ["Bee", "hive"]
    other = InstalledJudge("ways:Asks", TopicWords(("ant",)))
    assert judge.digest != other.digest != InstalledJudge("ways:Counts", TopicWords()).digest
    assert load_model(tmp_path / "model").digest == judge.digest


def test_a_judge_that_has_changed_is_refused(install: Installed, tmp_path: Path) -> None:
    text = (
        "class J:\n    digest = '{}'\n    def probabilities(self, texts): return [0] * len(texts)"
    )
    install("dated", text.format("version 1"))
    InstalledJudge("dated:J", TOPIC).save(tmp_path / "model")
    install("dated", text.format("version 2"))
    with pytest.raises(ModelError) as problem:
        load_model(tmp_path / "model")
    assert problem.value.message == (
        f"{tmp_path / 'model'}: the judge dated:J has changed: its digest was version 1, and is "
        "version 2 now; install it as it was, or start a new run"
    )


def test_a_judge_that_is_gone_is_named(install: Installed, tmp_path: Path) -> None:
    InstalledJudge("ways:Counts", TOPIC).save(tmp_path / "model")
    (install.place / "ways.py").unlink()
    del sys.modules["ways"]
    with pytest.raises(ModelError) as problem:
        load_model(tmp_path / "model")
    expected = f"{tmp_path / 'model'}: training.model: ways:Counts is in the package ways, which is"
    assert problem.value.message.startswith(expected)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"path": "../evil:J", "topic": {}}, "judge.json is damaged (must be one of"),
        ({"path": "ways:Asks", "topic": {"keywords": [1]}}, "judge.json is damaged (Expected"),
        ({"path": "ways:Asks"}, "judge.json is damaged (Object missing required field"),
        ({"path": "ways:Asks", "topic": {"spell": "x"}}, "judge.json is of another version"),
        ({"path": "os:system", "topic": {}}, "training.model: os:system names os of Python"),
        ({"path": "tfidf", "topic": {}}, "training.model: tfidf is not installed here"),
    ],
)
def test_a_record_that_others_have_written_is_checked(
    install: Installed, tmp_path: Path, record: object, message: str
) -> None:
    model = tmp_path / "model"
    InstalledJudge("ways:Asks", TOPIC).save(model)
    rewrite(model, json.dumps(record).encode())
    with pytest.raises(ModelError) as problem:
        load_model(model)
    assert problem.value.message.startswith(f"{model}: {message}")


def rewrite(model: Path, content: bytes) -> None:
    """Replace the record of a judge, with all digests as they should be."""
    from hashlib import sha256

    (model / RECORD).write_bytes(content)
    manifest = verified(json.loads((model / "model.json").read_text()))
    manifest["sha256"][RECORD] = sha256(content).hexdigest()
    (model / "model.json").write_text(json.dumps(signed(manifest)))


def test_a_judge_of_a_program_must_be_given_again(tmp_path: Path) -> None:
    class Mine:
        def probabilities(self, texts):
            return [0.0] * len(texts)

    CustomModel(Mine()).save(tmp_path / "model")
    for code in (True, False):
        with pytest.raises(
            ModelError, match=r"Mine of a program; give it again there: tres\.resume"
        ):
            load_model(tmp_path / "model", code=code)


# In the process that reads pages

BAD = """
import os
class Bad:
    def probabilities(self, texts):
        for text in texts:
            if "spin" in text:
                while True: pass
            if "crash" in text:
                os.abort()
            if "memory" in text:
                bytearray(1 << 31)
            if "print" in text:
                print("to standard output", flush=True)
            if "shape" in text:
                return [[0.5]]
        return [0.9] * len(texts)
"""


def test_it_is_kept_within_the_limits_of_reading(install: Installed, tmp_path: Path) -> None:
    install("bad_judge", BAD)
    InstalledJudge("bad_judge:Bad", TOPIC).save(tmp_path / "model")
    plan = ReaderPlan.with_model(tmp_path / "model", ["bee"], [], LiveSection(), 2026)
    ways = ["good", "spin", "crash", "memory", "shape", "print"]

    async def read() -> list[Reading]:
        pool = ReaderPool(plan, seconds=1.0)
        try:
            return [await pool.read(received(html(way, "a page"))) for way in ways]
        finally:
            await pool.close()

    good, *bad, printed = asyncio.run(read())
    assert isinstance(good.outcome, Percept)
    assert isinstance(printed.outcome, Percept)
    assert good.outcome.relevance == pytest.approx(0.9)
    assert [r.outcome.kind for r in bad if isinstance(r.outcome, Failed)] == (
        [FailureKind.UNREADABLE] * 4
    )
    slow, crashed, full, shaped = (reading.note for reading in bad)
    assert slow == "took too long to read; its site rests"
    assert crashed == full == "broke the process that reads it; its site rests"
    assert shaped.startswith("the judge bad_judge:Bad must give one number from 0 to 1 for each")
