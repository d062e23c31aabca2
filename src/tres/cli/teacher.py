"""`tres label --ask`: a language model judges pages, and what came of it is shown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from tres.cli.console import file_name, messages
from tres.cli.options import COUNT, PATH, Command
from tres.cli.teacher_report import format_disagreements, format_examples, format_lesson
from tres.errors import TeacherError, printable
from tres.offline import JsonlArchive, Web, open_web
from tres.runs.labelling import candidates
from tres.runs.teacher.chat_client import ChatClient
from tres.runs.teacher.endpoint import USUAL_KEY, Endpoint, key_for
from tres.runs.teacher.lesson import Judged, Lesson, teach, teach_run
from tres.runs.teacher.teacher import NoVerdict, Spent, Teacher
from tres.runs.teacher.topic_pages import (
    archive_pages,
    live_pages,
    prepare_examples,
    write_examples,
)
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.judgements import JUDGEMENTS
from tres.store.model_versions import newest_model
from tres.store.teacher_cache import TeacherCache
from tres.topic.topic_terms import topic_terms
from tres.web.page import Page

PRICE = click.FloatRange(min=0)
FOR_TOPICS = ("--pages", "--out", "--overwrite")
"""Options that only make sense before a crawl."""
TEACHER = (
    *("--model", "--calls", "--parallel", "--timeout", "--key-env", "--price-in", "--price-out"),
    *("--description", *FOR_TOPICS),
)
"""Options that only make sense with --ask."""
UNDESCRIBED = (
    "note: topic.description is empty; a sentence there, or in --description, tells the teacher "
    "what you want"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who is asked, and how: the options of the command line."""

    ask: str | None
    model: str
    calls: int
    parallel: int
    timeout: float
    key_env: str | None
    price_in: float | None
    price_out: float | None
    description: str | None
    pages: Path | None
    out: Path | None
    overwrite: bool

    @property
    def prices(self) -> tuple[float, float] | None:
        """The price of a million tokens, in and out; None if neither is known."""
        if self.price_in is None and self.price_out is None:
            return None
        return self.price_in or 0.0, self.price_out or 0.0

    @contextmanager
    def teacher(self, directory: Path) -> Iterator[Teacher]:
        """Yield the teacher, whose answers are kept in a directory."""
        endpoint = Endpoint.parse(self.ask or "")
        key = key_for(endpoint, self.key_env, os.environ)
        client = ChatClient(endpoint, self.model, key, self.timeout)
        with TeacherCache(directory) as cache:
            yield Teacher(client, cache, self.calls, self.parallel)


OPTIONS = (
    click.option("--ask", metavar="URL", help="Ask the language model at this address to judge."),
    click.option("--model", metavar="NAME", default="", help="Name of the language model to ask."),
    click.option("--calls", type=COUNT, default=100, show_default=True, metavar="N",
                 help="Make at most N calls, one for each page."),
    click.option("--parallel", type=click.IntRange(1, 64), default=4, show_default=True,
                 metavar="N", help="Make N calls at once."),
    click.option("--timeout", type=click.FloatRange(0, 3600, min_open=True), default=120.0,
                 show_default=True, metavar="SECONDS", help="Wait this long for an answer."),
    click.option("--key-env", metavar="VARIABLE",
                 help=f"Take the key from this environment variable.  [default: {USUAL_KEY}]"),
    click.option("--price-in", type=PRICE, metavar="PRICE",
                 help="Price of a million prompt tokens, to show the cost."),
    click.option("--price-out", type=PRICE, metavar="PRICE",
                 help="Price of a million completion tokens, to show the cost."),
    click.option("--description", metavar="TEXT",
                 help="Say what the topic is.  [default: topic.description]"),
    click.option("--pages", type=PATH, metavar="FILE",
                 help="Of a topic: judge these pages (.jsonl), not the seeds and pages near them."),
    click.option("--out", type=PATH, metavar="DIR",
                 help="Of a topic: write the examples here.  [default: examples/NAME]"),
    click.option("--overwrite", is_flag=True,
                 help="Of a topic: replace examples that are already in DIR."),
)  # fmt: skip


def teacher_options(command: Command) -> Command:
    """Add the options about a teacher to a command."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def ask_about_run(run: Path, web: Web, config: TopicConfig, asking: Asking) -> int:
    """Have a teacher judge the pages of a run that are most worth it; return how many it did."""
    screen, lesson, config = messages(), Lesson(), config.override(description=asking.description)
    _note_description(config)
    with asking.teacher(run) as teacher:
        with screen.status("choosing pages"):
            worth = candidates(run, web, newest_model(run), topic_terms(config.topic))
            chosen = worth[: asking.calls]
        told = teach_run(teacher, config, run, web, chosen, lesson)
        _listen(screen, told, lesson, teacher.spent, len(chosen), asking)
    click.echo("\n".join(format_disagreements(lesson, run / JUDGEMENTS)))
    return len(lesson.judged)


def ask_about_topic(topic: Path, web: str | None, asking: Asking) -> None:
    """Have a teacher judge pages before a crawl; write its verdicts as examples."""
    config = load_topic(topic).override(description=asking.description)
    out = asking.out or Path("examples", file_name(config.name))
    prepare_examples(out, asking.overwrite)
    screen, lesson = messages(), Lesson()
    _note_description(config)
    with asking.teacher(out) as teacher:
        pages = _pages_of_topic(screen, config, web, out, asking)[: asking.calls]
        told = teach(teacher, config, pages, lesson)
        _listen(screen, told, lesson, teacher.spent, len(pages), asking)
    write_examples(out, lesson.judged, asking.model)
    click.echo("\n".join(format_examples(topic, config, out, lesson)))


def _note_description(config: TopicConfig) -> None:
    if not config.topic.description:
        click.echo(UNDESCRIBED, err=True)


def _pages_of_topic(
    screen: Console, config: TopicConfig, web: str | None, out: Path, asking: Asking
) -> list[Page]:
    with screen.status("choosing pages") as status:
        if asking.pages is not None:
            return archive_pages(config, JsonlArchive(asking.pages))
        if web is not None:
            return archive_pages(config, open_web(web))

        def on_page(count: int) -> None:
            status.update(f"fetching the seeds and pages near them: {count} of {asking.calls}")

        return live_pages(config, out, asking.calls, on_page)


def _listen(
    screen: Console,
    told: Iterable[Judged | NoVerdict],
    lesson: Lesson,
    spent: Spent,
    pages: int,
    asking: Asking,
) -> None:
    """Take all answers, and report on them; an interrupt ends the asking early."""
    with screen.status("asking the teacher") as status:
        try:
            for _ in told:
                status.update(f"asking {printable(asking.model)}: {lesson.asked} of {pages} pages")
        except KeyboardInterrupt:
            screen.print("stopped; the answers so far are kept")
        except TeacherError as problem:
            click.echo("\n".join(format_lesson(lesson, spent, asking.model, asking.prices)))
            raise TeacherError(
                f"{problem.message}; the answers so far are kept; run the command again to go on"
            ) from None
    click.echo("\n".join(format_lesson(lesson, spent, asking.model, asking.prices)))
