"""What a teacher said, in lines for a terminal; text from pages and from the teacher is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tres.errors import printable
from tres.numbers import format_count, format_percentage
from tres.runs.teacher.lesson import Lesson
from tres.runs.teacher.teacher import Spent
from tres.runs.teacher.topic_pages import OTHER, RELEVANT
from tres.settings.setting import toml
from tres.settings.topic_file import TopicConfig

SHOWN = 20
"""Number of disagreements listed."""
INDENT = 18


def format_lesson(
    lesson: Lesson, spent: Spent, model: str, prices: tuple[float, float] | None
) -> Iterator[str]:
    """Yield what came of the questions, and what they cost."""
    judged = len(lesson.judged)
    yes = sum(each.verdict.relevant for each in lesson.judged)
    yield (
        f"{printable(model)} judged {judged:,} of {format_count(lesson.asked, 'page')}: "
        f"{yes:,} relevant, {judged - yes:,} not"
    )
    if lesson.unreadable:
        yield f"{format_count(lesson.unreadable, 'answer')} without a verdict, asked for twice"
    for why, count in lesson.unanswered.most_common():
        yield f"{format_count(count, 'question')} without an answer: {printable(why)}"
    yield _cost(spent, prices)


def _cost(spent: Spent, prices: tuple[float, float] | None) -> str:
    known = f" ({format_count(spent.known, 'answer was', 'answers were')} known)"
    parts = [f"{format_count(spent.answered, 'answer')} by calls{known if spent.known else ''}"]
    if spent.answered > spent.uncounted:
        parts.append(f"{spent.prompt_tokens:,} tokens in, {spent.completion_tokens:,} out")
    if spent.uncounted:
        parts.append(f"{format_count(spent.uncounted, 'answer')} without a count of tokens")
    if prices is not None:
        price_in, price_out = prices
        cost = spent.prompt_tokens * price_in + spent.completion_tokens * price_out
        parts.append(f"cost {cost / 1e6:,.4f}")
    return "; ".join(parts)


def format_disagreements(lesson: Lesson, kept: Path) -> Iterator[str]:
    """Yield how far the model agrees, and the pages on which it does not."""
    judged, differing = len(lesson.judged), lesson.disagreements()
    if not judged:
        return
    agreeing = judged - len(differing)
    share = format_percentage(agreeing / judged)
    yield f"the model agrees on {agreeing:,} of {format_count(judged, 'page')} ({share})"
    if differing:
        yield "\nmodel  teacher    page"
    for each in differing[:SHOWN]:
        word = "relevant" if each.verdict.relevant else "not"
        yield f" {each.probability:.2f}  {word:9}  {printable(each.page.url)}"
        yield f"{'':{INDENT}}{printable(each.verdict.reason) or '(no reason)'}"
    if len(differing) > SHOWN:
        yield f"and {len(differing) - SHOWN:,} more: {printable(str(kept))}"


def format_examples(topic: Path, config: TopicConfig, out: Path, lesson: Lesson) -> Iterator[str]:
    """Yield where the examples are, and the lines that make a topic file use them."""
    yes = sum(each.verdict.relevant for each in lesson.judged)
    no = len(lesson.judged) - yes
    yield f"relevant: {printable(str(out / RELEVANT))} ({yes:,})"
    yield f"other:    {printable(str(out / OTHER))} ({no:,})"
    if not yes or not no:
        yield "a model needs pages of both kinds; make more --calls, or name other seeds"
        return
    training = config.training
    instead = {"labels": training.labels, "load": training.load}
    others = [name for name, value in instead.items() if value]
    place = f"[training] of {printable(str(topic))}"
    yield f"to learn from them, write into {place}{f' instead of {others[0]}' if others else ''}:"
    yield f"positives = {_path_in(topic, out / RELEVANT)}"
    yield f"negatives = {_path_in(topic, out / OTHER)}"


def _path_in(topic: Path, file: Path) -> str:
    """Return a path as a topic file has it: relative to it if it is below, as TOML."""
    base, whole = topic.absolute().parent, file.absolute()
    return toml(whole.relative_to(base) if whole.is_relative_to(base) else whole)
