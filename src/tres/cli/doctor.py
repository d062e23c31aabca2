"""`tres doctor`: check what is installed and what is missing."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from tres.cli.console import messages
from tres.cli.health_checks import check_machine, is_healthy, reach_web
from tres.cli.install_checks import Check, State
from tres.errors import printable


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check this machine for everything that tres needs.

    Print one line per item: what was found, and how to fix what is missing. `optional` items are
    needed by some part of tres; if an item that all of it needs is `missing`, the exit code is 1.
    Being offline is not an error.

    Example: tres doctor
    """
    checks: list[Check] = []
    with messages().status("checking") as status:
        for check in check_machine(Path("runs"), reach_web):
            checks.append(check)
            status.update(f"checking ({printable(check.name)})")
    if as_json:
        result = {"ok": is_healthy(checks), "checks": [asdict(check) for check in checks]}
        click.echo(json.dumps(result, indent=2))
    else:
        click.echo("\n".join(map(_format, checks)))
    ctx.exit(0 if is_healthy(checks) else 1)


def _format(check: Check) -> str:
    remedy = "" if check.state is State.OK or not check.remedy else f" -> {check.remedy}"
    return printable(f"{check.state:8}  {check.name:10}  {check.found}{remedy}")
