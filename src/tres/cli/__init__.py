"""The command line: one small file per command, no logic of its own."""

from __future__ import annotations

import sys

from tres.distribution import pip_install


def main() -> None:
    """Run a command; if a package is missing, name it and the command that installs it."""
    try:
        from tres.cli.command_group import run_command

        run_command()
    except ModuleNotFoundError as problem:
        package = (problem.name or "tres").partition(".")[0]
        if package == "tres":
            raise
        remedy = f"{pip_install()}; 'tres doctor' checks the rest"
        sys.exit(f"tres: the package {package} is not installed; install it with: {remedy}")
