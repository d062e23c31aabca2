"""A lesson: what a teacher said about pages, and how far the model agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tres.offline.web import Web
from tres.relevance.model import THRESHOLD
from tres.runs.labelling import Candidate
from tres.runs.teacher.chat_client import Message
from tres.runs.teacher.question import Verdict, question
from tres.runs.teacher.teacher import NoVerdict, Teacher
from tres.settings.topic_file import TopicConfig
from tres.store.judgements import TEACHER, Judgement, append_judgement
from tres.topic.topic_terms import topic_terms
from tres.web.page import Page


@dataclass(frozen=True, slots=True)
class Judged:
    """A page, the teacher's verdict, and the model's probability if there is a model."""

    page: Page
    verdict: Verdict
    probability: float | None = None

    @property
    def disagreement(self) -> float:
        """How far the model is from the teacher, if they are on two sides; else 0."""
        if self.probability is None or self.verdict.relevant == (self.probability >= THRESHOLD):
            return 0.0
        return abs(self.verdict.relevant - self.probability)


@dataclass(slots=True)
class Lesson:
    """All pages that a teacher was asked about."""

    judged: list[Judged] = field(default_factory=list)
    unreadable: int = 0
    """Answers without a verdict."""
    unanswered: Counter[str] = field(default_factory=Counter)
    """Questions without an answer, by reason."""

    @property
    def asked(self) -> int:
        """How many pages the teacher was asked about."""
        return len(self.judged) + self.unreadable + self.unanswered.total()

    def add_failure(self, answer: NoVerdict) -> None:
        """Count a page that was not judged."""
        if answer.unreadable:
            self.unreadable += 1
        else:
            self.unanswered[answer.why] += 1

    def disagreements(self) -> list[Judged]:
        """Return the pages on which model and teacher disagree, the farthest apart first."""
        differing = [each for each in self.judged if each.disagreement]
        return sorted(differing, key=lambda each: -each.disagreement)


def teach(
    teacher: Teacher,
    config: TopicConfig,
    pages: Iterable[Page],
    lesson: Lesson,
    probabilities: Mapping[str, float] | None = None,
) -> Iterator[Judged | NoVerdict]:
    """Ask about pages; yield each answer once the lesson has it.

    `probabilities` are those of the model, by URL.
    """
    terms, asked, chances = topic_terms(config.topic), list[Page](), probabilities or {}

    def questions() -> Iterator[list[Message]]:
        for page in pages:
            asked.append(page)
            yield question(config, page, terms)

    for place, answer in enumerate(teacher.answers(questions())):
        if isinstance(answer, Verdict):
            page = asked[place]
            lesson.judged.append(Judged(page, answer, chances.get(page.url)))
            yield lesson.judged[-1]
        else:
            lesson.add_failure(answer)
            yield answer


def teach_run(
    teacher: Teacher,
    config: TopicConfig,
    run: Path,
    web: Web,
    candidates: Iterable[Candidate],
    lesson: Lesson,
) -> Iterator[Judged | NoVerdict]:
    """Ask about pages of a run; each verdict is a judgement of the run before it is yielded."""
    shown = {each.url: each for each in candidates}
    chances = {url: each.probability for url, each in shown.items()}
    outcomes = ((url, web.fetch(url)) for url in shown)
    pages = (replace(page, url=url) for url, page in outcomes if isinstance(page, Page))
    for answer in teach(teacher, config, pages, lesson, chances):
        if isinstance(answer, Judged):
            append_judgement(run, _judgement(answer, shown[answer.page.url]))
        yield answer


def _judgement(judged: Judged, candidate: Candidate) -> Judgement:
    return Judgement(
        candidate.url,
        judged.verdict.relevant,
        candidate.step,
        round(candidate.probability, 6),
        TEACHER,
        judged.verdict.reason,
    )
