"""`tres label`: judge pages of a run in the terminal, so that the model learns."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tres.cli.console import console, messages
from tres.cli.judge import describe_changes
from tres.cli.options import PATH, complete_runs_or_topics, number_option
from tres.cli.teacher import (
    FOR_TOPICS,
    TEACHER,
    Asking,
    ask_about_run,
    ask_about_topic,
    teacher_options,
)
from tres.errors import ConfigError, RunError, TrainingError, printable
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
from tres.topic.topic_terms import topic_terms

QUESTION = "relevant? [y]es, [n]o, [s]kip, [b]ack, [o]pen in a browser, [q]uit: "
ANSWERS = ("yes", "no", "skip", "back", "open", "quit")
MARK = "bold underline"
"""Style of the topic's words."""
INDENT = (0, 0, 0, 2)
"""Blanks above, right, below and left of a paragraph."""


@click.command()
@click.argument("run", metavar="RUN-OR-TOPIC", type=PATH, shell_complete=complete_runs_or_topics)
@number_option("--show", 20, "Show at most N pages.")
@click.option(
    "--web", metavar="WEB", help="Read pages from this web: that of the run, if it has moved."
)
@teacher_options
def label(run: Path, show: int, web: str | None, **options: Any) -> None:
    """Judge pages of a run, so that its model learns.

    Show the pages that the model is least sure about, and pages that link to many others, each
    with the part that says most about the topic. Answer with one key: y, n, s to skip, b to go
    back, o to open the page in a browser, q to quit. Judgements are kept in RUN/judgements.jsonl,
    and the model is trained again. A running crawl uses it at once; otherwise the pages of the run
    are judged again, and `tres resume` goes on with it.

    With --ask, a language model judges the same pages instead of you, on any server that speaks
    the protocol of OpenAI's chat completions. What you judge yourself outranks it. Before a crawl,
    name a topic file: the model judges the topic's seeds and pages near them, or pages of --web or
    --pages, and its verdicts are written as examples for the topic file.

    \b
    Examples: tres label runs/biology --show 10
              tres label runs/biology --ask http://localhost:11434/v1 --model qwen3
              tres label biology.toml --ask http://localhost:11434/v1 --model qwen3
    """
    asking, is_topic = Asking(**options), run.is_file() or run.suffix == ".toml"
    _check_options(_given(click.get_current_context()), run, asking, is_topic)
    if is_topic:
        ask_about_topic(run, web, asking)
        return
    config = load_topic(config_of(run))
    with messages().status("opening the pages of the run"):
        opened = _pages_of(run, web)
    if asking.ask is None:
        judged = _judge_by_hand(run, opened, config, show)
    else:
        judged = ask_about_run(run, opened, config, asking)
    if not judged:
        click.echo("no page was judged; the model has not changed")
        return
    if config.training.own_judge:
        update_idle_run(run)
        click.echo(untrainable(config))
        return
    result = _learn(run, opened, config)
    with messages().status("judging the pages of the run again"):
        rejudged = None if result.sent else rejudge_idle_run(run, opened)
    click.echo(_format_result(run, result, rejudged))


def _given(ctx: click.Context) -> set[str]:
    """Return the options on the command line."""
    return {
        option.opts[0]
        for option in ctx.command.params
        if ctx.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    }


def _check_options(given: set[str], run: Path, asking: Asking, is_topic: bool) -> None:
    """Refuse options that would have no effect."""
    if asking.ask is None:
        if is_topic:
            raise ConfigError(f"{run}: is a topic file; name a run, or who judges by --ask")
        if useless := sorted(given & set(TEACHER)):
            raise ConfigError(f"{useless[0]} goes with --ask; say by --ask who judges")
    elif not asking.model:
        raise ConfigError("--model is missing: name the language model to ask")
    elif "--show" in given:
        raise ConfigError("--show goes without --ask; limit what a model is asked by --calls")
    elif not is_topic and (useless := sorted(given.intersection(FOR_TOPICS))):
        raise ConfigError(f"{useless[0]} goes with a topic file; leave it out, or name a topic")
    elif {"--web", "--pages"} <= given:
        raise ConfigError("--web and --pages both say which pages to judge; leave one out")


def _judge_by_hand(run: Path, web: Web, config: TopicConfig, show: int) -> int:
    """Show the pages most worth judging; return how many were judged."""
    with messages().status("choosing pages"):
        pages = candidates(run, web, newest_model(run), topic_terms(config.topic))
    return _ask(run, pages[:show])


def _learn(run: Path, web: Web, config: TopicConfig) -> Retrained:
    try:
        with messages().status("training"):
            return learn_judgements(run, web, config)
    except TrainingError as problem:
        update_idle_run(run)
        raise TrainingError(
            f"{problem.message}; judge more pages; your judgements are kept"
        ) from None
    except RunError as problem:
        raise RunError(
            f"{problem.message} (your judgements are kept; the next `tres label` learns from them)"
        ) from None


def _pages_of(run: Path, address: str | None) -> Web:
    opened = web_of(run, address)
    if opened is None:
        raise RunError(f'{run}: kept no pages to judge; crawl with live.keep = "pages"')
    return opened


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
    if result.taught:
        judgements += f" ({result.taught:,} by a teacher)"
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
