"""`tres completion`: print the script that lets a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = {
    "bash": ("~/.bashrc", 'eval "$(tres completion bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(tres completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "tres completion fish | source"),
}
"""The file that each shell reads when it starts, and the line to add to it."""


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a shell's completion script for tres.

    It completes commands, options, policies, formats, run directories and topic files. Its
    last lines say how to load it in every new shell.

    Example: eval "$(tres completion bash)"
    """
    file, line = SHELLS[shell]
    kind = get_completion_class(shell)
    assert kind is not None  # click knows these shells
    click.echo(kind(ctx.find_root().command, {}, "tres", "_TRES_COMPLETE").source().strip())
    click.echo(f"\n# To load it in every new {shell}, add this line to {file}:\n#   {line}")
