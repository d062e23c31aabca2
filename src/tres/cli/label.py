"""`tres label`: judge pages of a run in the terminal, so that the model learns."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tres.cli.console import console, messages
from tres.cli.judge import describe_changes
from tres.cli.options import moved_web, number_option, run_argument
from tres.errors import RunError, TrainingError, printable
from tres.numbers import format_count
from tres.offline import Web
from tres.runs.labelling import (
    Candidate,
    Retrained,
    candidates,
    learn_judgements,
    untrainable,
)
from tres.runs.rejudge import Rejudged, rejudge_idle_run, update_idle_run
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.judgements import Judgement, append_judgement
from tres.store.model_versions import MODEL, newest_model
from tres.store.page_source import web_of
from tres.store.run_directory import config_of
from tres.topic.keyword_matcher import keyword_forms

QUESTION = "relevant? [y]es, [n]o, [s]kip, [b]ack, [o]pen in a browser, [q]uit: "
ANSWERS = ("yes", "no", "skip", "back", "open", "quit")
MARK = "bold underline"
"""Style of the topic's words."""
INDENT = (0, 0, 0, 2)
"""Blanks above, right, below and left of a paragraph."""


@click.command()
@run_argument
@number_option("--show", 20, "Show at most N pages.")
@moved_web
def label(run: Path, show: int, web: str | None) -> None:
    """Judge pages of a run, so that its model learns.

    Show the pages that the model is least sure about, and pages that link to many others, each
    with the part that says most about the topic. Answer with one key: y, n, s to skip, b to go
    back, o to open the page in a browser, q to quit. Judgements are kept in RUN/judgements.jsonl,
    and the model is trained again. A running crawl uses it at once; otherwise the pages of the run
    are judged again, and `tres resume` goes on with it.

    Example: tres label runs/biology --show 10
    """
    config = load_topic(config_of(run))
    screen = messages()
    with screen.status("opening the pages of the run"):
        opened = _pages_of(run, web)
        model = newest_model(run)
        pages = candidates(run, opened, model, _terms(config))
    if not _ask(run, pages[:show]):
        click.echo("no page was judged; the model has not changed")
        return
    if config.training.own_judge:
        update_idle_run(run)
        click.echo(untrainable(config))
        return
    try:
        with screen.status("training"):
            result = learn_judgements(run, opened, config)
    except TrainingError as problem:
        update_idle_run(run)
        raise TrainingError(
            f"{problem.message}; judge more pages; your judgements are kept"
        ) from None
    except RunError as problem:
        raise RunError(
            f"{problem.message} (your judgements are kept; the next `tres label` learns from them)"
        ) from None
    with screen.status("judging the pages of the run again"):
        rejudged = None if result.sent else rejudge_idle_run(run, opened)
    click.echo(_format_result(run, result, rejudged))


def _pages_of(run: Path, address: str | None) -> Web:
    opened = web_of(run, address)
    if opened is None:
        raise RunError(f'{run}: kept no pages to judge; crawl with live.keep = "pages"')
    return opened


def _terms(config: TopicConfig) -> list[str]:
    """Return the words to highlight: the topic's keywords in all their forms, and its phrases."""
    keywords = config.topic.keywords
    forms = keyword_forms(word for word in keywords if len(word.split()) == 1)
    return [*keywords, *forms, *config.topic.phrases]


def _ask(run: Path, pages: list[Candidate]) -> int:
    """Show the pages one by one; return how many were judged."""
    screen, judged = console(), dict[str, bool]()
    place = 0
    while place < len(pages):
        page = pages[place]
        _show(screen, page, f"{place + 1} of {len(pages)}", judged.get(page.url))
        match _answer(page):
            case "quit":
                break
            case "back":
                place = max(0, place - 1)
            case "skip":
                place += 1
            case answer:
                judged[page.url] = answer == "yes"
                probability = round(page.probability, 6)
                append_judgement(run, Judgement(page.url, judged[page.url], page.step, probability))
                place += 1
    return len(judged)


def _answer(page: Candidate) -> str:
    """Return the answer about a page."""
    while True:
        click.echo(QUESTION, nl=False)
        answer = _read_key() if sys.stdin.isatty() else _read_line()
        if answer == "open":
            click.launch(page.url)
        elif answer:
            return answer


def _read_key() -> str:
    """Read one key, without Enter; Ctrl-C and Ctrl-D quit, and Enter skips."""
    try:
        key = click.getchar()
    except (KeyboardInterrupt, EOFError):
        key = "q"
    answer = _parse_answer("s" if key in "\r\n" else key)
    click.echo(answer)
    return answer


def _read_line() -> str:
    """Read a line from a pipe; its end quits, and an empty line skips."""
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    click.echo()
    return _parse_answer(line.strip() or "s") if line else "quit"


def _parse_answer(typed: str) -> str:
    """Return the answer that a key or a word stands for; empty if there is none."""
    word = typed.lower()
    return next((answer for answer in ANSWERS if word in (answer, answer[0])), "")


def _show(screen: Console, page: Candidate, count: str, judged: bool | None) -> None:
    """Show a page; its text is escaped, so that it cannot control the terminal."""
    screen.print(f"\n({count}) {printable(page.title) or '(no title)'}")
    screen.print(f"  {printable(page.url)}", soft_wrap=True)  # in one piece, to be copied
    chance = f"relevant with probability {page.probability:.2f}"
    screen.print(Padding(f"{chance}; step {page.step}, {page.why}", INDENT))
    if judged is not None:
        screen.print(Padding(f"you said {'yes' if judged else 'no'}", INDENT))
    shown = Text()
    for place, piece in enumerate(page.excerpt.pieces):
        shown.append(printable(piece), MARK if place % 2 else "")
    screen.print(Padding(shown or Text("(no text)"), INDENT))


def _format_result(run: Path, result: Retrained, rejudged: Rejudged | None) -> str:
    judgements = format_count(result.judged, "judgement")
    guesses = f" and {format_count(result.guessed, 'guess', 'guesses')}" if result.guessed else ""
    trained = f"the model was trained again with {judgements}{guesses}\n"
    if result.sent:
        return f"{trained}the running crawl will judge by it from its next pages on"
    changes = "".join(f"{line}\n" for line in describe_changes(rejudged)) if rejudged else ""
    return (
        f"{trained}{changes}"
        f"model: {printable(str(run / MODEL))}\n"
        f"continue with it: tres resume {printable(shlex.quote(str(run)))} --pages N"
    )
