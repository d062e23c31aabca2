"""`tres doctor`: what is here, what is missing, and how to mend it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from tres.cli.console import messages
from tres.cli.health_checks import examine, reach_web, well
from tres.cli.installed import Check, State
from tres.errors import printable


@click.command()
@click.option("--json", "as_json", is_flag=True, help="For programs: one JSON object.")
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check this machine for all that tres needs.

    A line each: what was found, and how to mend what is not well. `optional` things are needed by
    some part of tres; if something is `missing` that all of it needs, the exit code is 1. Being
    offline is no fault.

    Example: tres doctor
    """
    checks: list[Check] = []
    with messages().status("looking") as status:
        for check in examine(Path("runs"), reach_web):
            checks.append(check)
            status.update(f"looking ({printable(check.name)})")
    if as_json:
        told = {"ok": well(checks), "checks": [asdict(check) for check in checks]}
        click.echo(json.dumps(told, indent=2))
    else:
        for check in checks:
            click.echo(_line(check))
    ctx.exit(0 if well(checks) else 1)


def _line(check: Check) -> str:
    mend = "" if check.state is State.OK or not check.remedy else f" -> {check.remedy}"
    return printable(f"{check.state:8}  {check.name:10}  {check.found}{mend}")
