"""`tres tree`: the decision tree of a run, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import click

from tres.cli.options import number_option, run_argument
from tres.frontier.leaf_rules import TreeView
from tres.numbers import format_count
from tres.report.explain.fetched_page import leaf_of
from tres.report.feature_labels import format_condition
from tres.runs.resume_run import tree_of

WIDTH, INDENT = 80, " " * 8
FORMATS = {
    "rules": "the best leaves in words",
    "text": "the whole tree as an outline",
    "json": "all nodes",
    "dot": "a drawing for Graphviz",
}


@click.command()
@run_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="rules",
    show_default=True,
    help="; ".join(f"{k}: {v}" for k, v in FORMATS.items()) + ".",
)
@number_option("--top", 20, "Show N leaves as rules.")
def tree(run: Path, form: str, top: int) -> None:
    """Show the decision tree of a run.

    A leaf holds links of one kind: those that meet all its conditions. The leaves whose pages
    earned the highest mean reward come first.

    Example: tres tree runs/demo-tres --format dot | dot -Tsvg > tree.svg
    """
    view = tree_of(run)
    match form:
        case "rules":
            click.echo(_rules(view, top))
        case "text":
            click.echo(view.to_text())
        case "json":
            click.echo(view.to_json())
        case _:
            click.echo(view.to_dot())


def _rules(view: TreeView, top: int) -> str:
    leaves = sorted(view.leaves, key=lambda leaf: (-leaf.mean_reward, -leaf.experiences))
    lines = ["reward  fetched  waiting   leaf"]
    for leaf in leaves[:top]:
        figures = f"{leaf.mean_reward:6.2f}  {leaf.experiences:7,}  {leaf.rows:7,}  {leaf.id:5}"
        conditions = map(format_condition, leaf_of(view, leaf.id).conditions)
        lines += [figures, *map(_indent, list(conditions) or ["all links"])]
    if (more := len(leaves) - top) > 0:
        hidden = format_count(more, "more leaf", "more leaves")
        lines.append(f"... and {hidden} (--top {len(leaves)})")
    return "\n".join(lines)


def _indent(condition: str) -> str:
    return fill(condition, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT + "  ")
