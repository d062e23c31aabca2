"""`tres bench`: compare policies on one web."""

from __future__ import annotations

import os
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tres.bench.comparison import prepare_experiment, run_bench
from tres.bench.comparison_report import write_report
from tres.bench.experiment_file import load_experiment
from tres.cli.console import messages
from tres.cli.options import PATH, topic_argument
from tres.errors import printable
from tres.numbers import format_count
from tres.offline import open_web


class RunByDefault(click.Group):
    """`tres bench FILE` means `tres bench run FILE`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command; a word that is not one is an experiment file."""
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


@click.group(cls=RunByDefault)
def bench() -> None:
    """Compare policies on one web, in tables and figures.

    `tres bench FILE --out DIR` is short for `tres bench run FILE --out DIR`. Afterwards
    `tres bench report DIR` writes the tables and figures.

    Example: tres bench sound.toml --out results/sound
    """


@bench.command()
@topic_argument("experiment")
@click.option("--out", required=True, type=PATH, metavar="DIR", help="Write results here.")
@click.option("--workers", type=int, metavar="N", help="Run N processes.  [default: one per core]")
def run(experiment: Path, out: Path, workers: int | None) -> None:
    """Run the comparison that the file EXPERIMENT describes.

    A comparison that was stopped continues where it was.

    Example: tres bench run sound.toml --out results/sound --workers 4
    """
    plan = load_experiment(experiment)
    screen = messages()
    with screen.status(f"opening {printable(plan.web)}") as status:
        web = open_web(plan.web)
        context = prepare_experiment(plan, web, lambda text: status.update(printable(text)))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=screen, transient=True) as bar:
        task = bar.add_task(printable(plan.name))
        records = run_bench(
            context,
            out,
            workers or len(os.sched_getaffinity(0)),
            lambda done, total: bar.update(task, completed=done, total=total),
        )
    click.echo(f"{format_count(len(records), 'crawl')}: {out / 'results.json'}")


@bench.command()
@click.argument("directory", type=PATH)
def report(directory: Path) -> None:
    """Write the tables and figures of the results in DIRECTORY.

    Example: tres bench report results/sound
    """
    for path in write_report(directory):
        click.echo(path)
