"""What a run was told, and when: the budget and the model that count from each step on.

    history.json    the web, and one segment per budget or model, with its first step
    model/          the newest model; earlier ones are model-1/, model-2/, ...

A crawl is the fold of what it was told and what it found, so a run that keeps this can be
taken up again: the crawl is repeated from its first step, every page judged by the model that
judged it then (segments name models by digest), and goes on from there with the newest.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tres.errors import RunError
from tres.relevance.base import RelevanceModel
from tres.relevance.store import load_model

HISTORY, MODEL = "history.json", "model"
NEXT = "model-next"


@dataclass(frozen=True, slots=True)
class Segment:
    """From this step on: so many pages in all, judged by the model of this digest."""

    from_step: int
    pages: int
    model: str


@dataclass(frozen=True, slots=True)
class History:
    """The web of a run, and its segments in order."""

    web: str
    segments: tuple[Segment, ...]

    def from_now(self, step: int, pages: int, model: str) -> History:
        """The history with another budget or model from `step` on; the same if neither is new."""
        earlier = tuple(segment for segment in self.segments if segment.from_step < step)
        if earlier and (earlier[-1].pages, earlier[-1].model) == (pages, model):
            return History(self.web, earlier)
        return History(self.web, (*earlier, Segment(step, pages, model)))

    def write(self, run: Path) -> None:
        """Keep the history; a reader never sees half of it."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        unfinished = run / f"{HISTORY}.part"
        unfinished.write_text(text + "\n", encoding="utf-8")
        unfinished.replace(run / HISTORY)

    @classmethod
    def read(cls, run: Path) -> History:
        """The history of a run; `RunError` if there is none that can be read."""
        try:
            held = json.loads((run / HISTORY).read_text(encoding="utf-8"))
            segments = tuple(Segment(**segment) for segment in held["segments"])
            if not segments or not isinstance(held["web"], str):
                raise ValueError("it is incomplete")
            return cls(held["web"], segments)
        except FileNotFoundError:
            raise RunError(
                f"{run}: there is no {HISTORY}; name a run that this version of tres has crawled"
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"{run / HISTORY}: damaged ({error}); run the crawl again") from None


def models_of(run: Path, history: History) -> dict[str, RelevanceModel]:
    """The models that the segments name, by digest."""
    wanted = {segment.model for segment in history.segments}
    found: dict[str, RelevanceModel] = {}
    for directory in sorted(run.glob(f"{MODEL}*")):
        if directory.is_dir() and wanted - found.keys():
            model = load_model(directory)
            found[model.digest] = model
    if missing := wanted - found.keys():
        raise RunError(
            f"{run}: the model {min(missing)[:12]} that judged some of its pages is gone; "
            "put its directory back or run the crawl again"
        )
    return found


def replace_model(run: Path, model: RelevanceModel) -> None:
    """Make this the newest model; earlier ones are kept. Killed half-way, nothing is lost."""
    model.save(run / NEXT)
    number = 1
    while (run / f"{MODEL}-{number}").exists():
        number += 1
    if (run / MODEL).exists():
        (run / MODEL).rename(run / f"{MODEL}-{number}")
    (run / NEXT).rename(run / MODEL)
