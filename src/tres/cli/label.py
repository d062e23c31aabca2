"""`tres label`: judge pages of a run in the terminal; the model learns from it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from tres.cli.completions import runs
from tres.cli.console import console, messages
from tres.errors import RunError, TrainingError, printable
from tres.offline import Web
from tres.runs.labelling import Candidate, Retrained, candidates, learn_judgements
from tres.settings.topic_file import TopicConfig, load_topic
from tres.store.judgements import Judgement, append_judgement
from tres.store.model_versions import MODEL, newest_model
from tres.store.page_source import web_of
from tres.store.run_directory import config_of
from tres.topic.keyword_forms import keyword_forms

QUESTION = "relevant? [y]es, [n]o, [s]kip, [b]ack, [o]pen in a browser, [q]uit: "
ANSWERS = ("yes", "no", "skip", "back", "open", "quit")
MARK = "bold underline"
"""How the topic's words look."""
INDENT = (0, 0, 0, 2)
"""Blanks above, right, below and left of a paragraph."""


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option(
    "--show",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Pages to show, at most.",
)
@click.option("--web", metavar="WEB", help="The web, if it is no longer where it was.")
def label(run: Path, show: int, web: str | None) -> None:
    """Judge pages of a run, so that its model learns from it.

    Shows pages of which the model is least sure, and pages on which many others were found, each
    with the part that says most about the topic. Answer with one key: y, n, s to skip, b to go
    back, o to open the page in a browser, q to quit. Judgements are kept in RUN/judgements.jsonl,
    and the model is trained anew. A crawl that is running there uses it at once, otherwise
    `tres resume` does.

    Example: tres label runs/biology --show 10
    """
    config = load_topic(config_of(run))
    screen = messages()
    with screen.status("opening the pages of the run"):
        opened = _pages_of(run, web)
        model = newest_model(run)
        pages = candidates(run, opened, model, _terms(config))
    if not _ask(run, pages[:show]):
        click.echo("nothing was judged; the model is as it was")
        return
    try:
        with screen.status("training"):
            result = learn_judgements(run, opened, config)
    except TrainingError as problem:
        raise TrainingError(
            f"{problem.message}; judge more pages (your judgements are kept)"
        ) from None
    except RunError as problem:
        raise RunError(
            f"{problem.message} (your judgements are kept: the next `tres label` learns from all)"
        ) from None
    click.echo(_outcome(run, result))


def _pages_of(run: Path, address: str | None) -> Web:
    opened = web_of(run, address)
    if opened is None:
        raise RunError(f'{run}: kept no pages to look at; crawl with live.keep = "pages"')
    return opened


def _terms(config: TopicConfig) -> list[str]:
    """What is marked for people to see: the topic's words in all their forms, and its phrases."""
    keywords = config.topic.keywords
    forms = keyword_forms(word for word in keywords if len(word.split()) == 1)
    return [*keywords, *forms, *config.topic.phrases]


def _ask(run: Path, pages: list[Candidate]) -> int:
    """Show one page after the other, and back again; the number of pages judged."""
    screen, said = console(), dict[str, bool]()
    place = 0
    while place < len(pages):
        page = pages[place]
        _show(screen, page, f"{place + 1} of {len(pages)}", said.get(page.url))
        match _answer(page):
            case "quit":
                break
            case "back":
                place = max(0, place - 1)
            case "skip":
                place += 1
            case answer:
                said[page.url] = answer == "yes"
                probability = round(page.probability, 6)
                append_judgement(run, Judgement(page.url, said[page.url], page.step, probability))
                place += 1
    return len(said)


def _answer(page: Candidate) -> str:
    """What is to be done with a page, once it has been looked at."""
    while True:
        click.echo(QUESTION, nl=False)
        answer = _key() if sys.stdin.isatty() else _line()
        if answer == "open":
            click.launch(page.url)
        elif answer:
            return answer


def _key() -> str:
    """One key, without Enter; Ctrl-C and Ctrl-D quit, and Enter skips."""
    try:
        key = click.getchar()
    except (KeyboardInterrupt, EOFError):
        key = "q"
    answer = _meant("s" if key in "\r\n" else key)
    click.echo(answer)
    return answer


def _line() -> str:
    """A line from a pipe; its end quits, and an empty line skips."""
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    click.echo()
    return _meant(line.strip() or "s") if line else "quit"


def _meant(typed: str) -> str:
    """The answer that a key or a word stands for; empty if there is none."""
    said = typed.lower()
    return next((word for word in ANSWERS if said in (word, word[0])), "")


def _show(screen: Console, page: Candidate, count: str, said: bool | None) -> None:
    """What pages say is escaped: it never steers the terminal."""
    screen.print(f"\n({count}) {printable(page.title) or '(no title)'}")
    screen.print(f"  {printable(page.url)}", soft_wrap=True)  # in one piece, to be copied
    chance = f"relevant with probability {page.probability:.2f}"
    screen.print(Padding(f"{chance}; step {page.step}, {page.why}", INDENT))
    if said is not None:
        screen.print(Padding(f"you said {'yes' if said else 'no'}", INDENT))
    shown = Text()
    for place, piece in enumerate(page.excerpt.pieces):
        shown.append(printable(piece), MARK if place % 2 else "")
    screen.print(Padding(shown or Text("(no text)"), INDENT))


def _outcome(run: Path, result: Retrained) -> str:
    guesses = f" and {result.guessed:,} guesses" if result.guessed else ""
    trained = f"the model was trained anew with {result.judged:,} judgements{guesses}\n"
    if result.told:
        return f"{trained}the crawl that is going on there has been told, and judges by it soon"
    return (
        f"{trained}"
        f"model: {printable(str(run / MODEL))}\n"
        f"go on with it: tres resume {printable(shlex.quote(str(run)))} --pages N"
    )
