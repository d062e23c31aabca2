"""`tres label`: judge pages of a run in the terminal; the model learns from it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from tres.cli.completing import runs
from tres.cli.terminal import messages
from tres.config import load_topic
from tres.errors import RunError, TrainingError, printable
from tres.experiment.label import Candidate, Retrained, candidates, learn_judgements
from tres.store.judgements import Judgement, append_judgement
from tres.store.models import MODEL, newest_model
from tres.store.run import config_of
from tres.store.source import web_of
from tres.webs import Web

ANSWERS = "relevant? [y]es, [n]o, [s]kip, [q]uit: "
WORDS = {"y": "y", "yes": "y", "n": "n", "no": "n", "s": "s", "skip": "s", "": "s"}


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

    Shows pages of which the model is least sure, and pages on which many others were found;
    answer y, n, s or q. Judgements are kept in RUN/judgements.jsonl, and the model is trained
    anew. A crawl that is going on there follows it at once, otherwise `tres resume` does.

    Example: tres label runs/biology --show 10
    """
    config = load_topic(config_of(run))
    screen = messages()
    with screen.status("opening the pages of the run"):
        opened = _pages_of(run, web)
        model = newest_model(run)
        pages = candidates(run, opened, model)
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


def _ask(run: Path, pages: list[Candidate]) -> int:
    """Show one page after the other; the number of judgements."""
    judged = 0
    for number, page in enumerate(pages, start=1):
        click.echo(_shown(page, number, len(pages)))
        answer = _answer()
        if answer == "q":
            break
        if answer in "yn":
            said = Judgement(page.url, answer == "y", page.step, round(page.probability, 6))
            append_judgement(run, said)
            judged += 1
    return judged


def _answer() -> str:
    """y, n, s or q; the end of the input and Ctrl-C mean q."""
    while True:
        click.echo(ANSWERS, nl=False)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            line = ""
        if not line or line.strip().lower() in ("q", "quit"):
            click.echo()
            return "q"
        if (answer := WORDS.get(line.strip().lower())) is not None:
            return answer


def _shown(page: Candidate, number: int, count: int) -> str:
    """What pages say is escaped: it never steers the terminal."""
    return "\n".join(
        (
            f"\n({number} of {count}) {printable(page.title) or '(no title)'}",
            f"  {printable(page.url)}",
            f"  relevant with probability {page.probability:.2f}; step {page.step}, {page.why}",
            f"  {printable(page.snippet) or '(no text)'}",
        )
    )


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
