"""`tres tree`: the decision tree of a run, for people and for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from tres.cli.completions import runs
from tres.frontier.leaf_rules import TreeView
from tres.runs.restored_session import tree_of

FORMATS = {
    "rules": "the leaves, best first, each with its rule",
    "text": "the whole tree as an outline",
    "json": "all nodes",
    "dot": "for Graphviz",
}


@click.command()
@click.argument("run", type=click.Path(path_type=Path), shell_complete=runs)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="rules",
    show_default=True,
    help="; ".join(f"{k}: {v}" for k, v in FORMATS.items()) + ".",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Leaves to list as rules.",
)
def tree(run: Path, form: str, top: int) -> None:
    """Show the decision tree that a run has grown.

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
    lines = ["reward  fetched  waiting   leaf  rule"]
    for leaf in leaves[:top]:
        lines.append(
            f"{leaf.mean_reward:6.2f}  {leaf.experiences:7,}  {leaf.rows:7,}  "
            f"{leaf.id:5}  {view.rule(leaf.id)}"
        )
    if len(leaves) > top:
        lines.append(f"... and {len(leaves) - top:,} more leaves (--top {len(leaves)})")
    return "\n".join(lines)
