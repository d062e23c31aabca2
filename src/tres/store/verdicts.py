"""What is relevant in a run: one rule, for everything that is handed to people.

A page is

1. what a person said of it, the last time (`judgements.jsonl`);
2. else what a teacher said, a language model that was asked about it (the same file);
3. else what the newest model says, if the run was judged again (`verdicts.json`);
4. else what the model said when the page was fetched (the journal).

Who was asked knows: the relevance is then 1 or 0, not what a model guesses. The rewards that the
crawl has learnt from are history. The journal keeps them, and they are shown under their own name.

`verdicts.json` is replaced in one piece:

    {"model": "9f2c...", "record": 812, "link": 730311, "probabilities": [0.98, null, ...],
     "checksum": "..."}

The probabilities stand in the order of the steps; null is a page that could not be read again.
Steps have numbers, so the file also names the journal: `link` is the checksum of everything up to
`record`. A crawl that has lost its end and went on differently has other pages under the same
numbers; the verdicts on it do not count, and it can be judged again.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from tres.errors import RunError
from tres.files import opening as files
from tres.files.checksummed import signed, verified
from tres.files.durable import replace_file
from tres.files.fingerprint import Fingerprint, fingerprint
from tres.relevance.model import THRESHOLD
from tres.store.journal_reader import JournalReader
from tres.store.judgements import JUDGEMENTS, Judged, judged_pages

VERDICTS = "verdicts.json"
MODEL = "model"
"""Who judges where neither a person nor a teacher does."""
_MOST_BYTES = 1_000_000_000


class ModelVerdicts(msgspec.Struct, frozen=True):
    """What one model says of the pages of a run, in the order of the steps."""

    model: str
    record: int
    link: int
    probabilities: tuple[float | None, ...]

    def of(self, step: int) -> float | None:
        """Return the probability of the page of a step; None if it is not known."""
        return self.probabilities[step - 1] if step <= len(self.probabilities) else None


class Verdict(NamedTuple):
    """What a page is now, and who says so."""

    relevance: float
    relevant: bool
    judged_by: str


class Verdicts(msgspec.Struct, frozen=True):
    """What was said of the pages of a run since they were fetched."""

    judged: dict[str, Judged]
    newest: ModelVerdicts | None = None

    def __bool__(self) -> bool:
        return bool(self.judged) or self.newest is not None

    def of(self, step: int, url: str, relevance: float, reward: bool) -> Verdict:
        """Return what a page is; it had this relevance and earned this when it was fetched."""
        if (judged := self.judged.get(url)) is not None:
            return Verdict(float(judged.relevant), judged.relevant, judged.by)
        again = None if self.newest is None else self.newest.of(step)
        if again is not None:
            return Verdict(again, again >= THRESHOLD, MODEL)
        return Verdict(relevance, reward, MODEL)


def read_verdicts(run: Path, journal: JournalReader) -> Verdicts:
    """Return what was said of the pages of a run since they were fetched."""
    return Verdicts(judged_pages(run), read_model_verdicts(run, journal))


def read_model_verdicts(run: Path, journal: JournalReader) -> ModelVerdicts | None:
    """Return what the newest model said; None if it was not asked, or about another journal."""
    try:
        values = verified(json.loads(files.content(run / VERDICTS, _MOST_BYTES)), by_hand=False)
        newest = msgspec.convert(values, ModelVerdicts)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        again = f"tres judge {shlex.quote(str(run))}"
        raise RunError(f"{run / VERDICTS}: damaged ({error}); remove it, then: {again}") from None
    same = newest.record <= journal.position and journal.link(newest.record) == newest.link
    return newest if same else None


def write_verdicts(
    run: Path, journal: JournalReader, model: str, probabilities: Sequence[float | None]
) -> None:
    """Keep what a model says of the pages in a journal; it is on disk when this returns."""
    record = journal.position
    newest = ModelVerdicts(model, record, journal.link(record), tuple(probabilities))
    text = json.dumps(signed(msgspec.to_builtins(newest)))
    replace_file(run / VERDICTS, f"{text}\n".encode())


def verdicts_fingerprint(run: Path) -> Fingerprint:
    """Return a value that changes with the verdicts on a run."""
    return fingerprint(run, JUDGEMENTS, VERDICTS)
