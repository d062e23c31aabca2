"""The command line: one small file per command, no logic of its own."""

from __future__ import annotations

import sys

import click
from threadpoolctl import threadpool_limits

from tres import __version__
from tres.cli.bench import bench
from tres.cli.crawl import crawl
from tres.cli.dashboard import dashboard
from tres.cli.demo import demo
from tres.cli.export import export
from tres.cli.keywords import keywords
from tres.cli.label import label
from tres.cli.resume import resume
from tres.cli.serve import serve
from tres.cli.train import train
from tres.cli.tree import tree
from tres.cli.vectors import vectors
from tres.errors import TresError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tres")
def commands() -> None:
    """tres, a focused web crawler that learns where to go.

    Give it a topic and a budget of pages; it finds pages and sites about the topic.
    Start with `tres demo`.
    """


for command in (
    *(bench, crawl, dashboard, demo, export, keywords, label, resume, serve, train, tree, vectors),
):
    commands.add_command(command)


def main() -> None:
    """Run a command; what the user can put right is told in one line."""
    try:
        # The learner's matrices are small: threads inside the algebra only disturb each other.
        with threadpool_limits(1):
            commands(prog_name="tres")
    except TresError as error:
        for line in (*error.details, error.message, *getattr(error, "__notes__", ())):
            click.echo(f"tres: {line}", err=True)
        sys.exit(error.exit_code)
