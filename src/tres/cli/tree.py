"""`tres tree`: the decision tree of a run, for people and for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from tres.frontier.rules import TreeView
from tres.store.run import read_tree

FORMATS = {
    "rules": "the leaves that wait, best first, each with its rule",
    "text": "the whole tree as an outline",
    "json": "all nodes",
    "dot": "for Graphviz",
}


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="rules",
              show_default=True, help="; ".join(f"{k}: {v}" for k, v in FORMATS.items()) + ".")
def tree(run: Path, form: str) -> None:
    """Show the decision tree that a run has grown.

    Example: tres tree runs/demo-tres --format dot | dot -Tsvg > tree.svg
    """
    view = read_tree(run)
    match form:
        case "rules":
            click.echo(_rules(view))
        case "text":
            click.echo(view.to_text())
        case "json":
            click.echo(view.to_json())
        case _:
            click.echo(view.to_dot())


def _rules(view: TreeView) -> str:
    leaves = sorted(view.leaves, key=lambda leaf: (-leaf.mean_reward, -leaf.experiences))
    lines = ["reward  fetched  waiting  leaf  rule"]
    for leaf in leaves:
        lines.append(
            f"{leaf.mean_reward:6.2f}  {leaf.experiences:7,}  {leaf.rows:7,}  "
            f"{leaf.id:4}  {view.rule(leaf.id)}"
        )
    return "\n".join(lines)
