"""`tres completion`: the script that teaches a shell to complete commands, options and values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = {
    "bash": ("~/.bashrc", 'eval "$(tres completion bash)"'),
    "zsh": ("~/.zshrc", 'eval "$(tres completion zsh)"'),
    "fish": ("~/.config/fish/config.fish", "tres completion fish | source"),
}
"""Where each shell looks when it starts, and the line to write there."""


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes `tres` in a shell.

    It completes commands, options, policies, formats, run directories and topic files. Its
    last lines say how to have it in every shell to come.

    Example: eval "$(tres completion bash)"
    """
    file, line = SHELLS[shell]
    kind = get_completion_class(shell)
    assert kind is not None  # click knows these shells
    click.echo(kind(ctx.find_root().command, {}, "tres", "_TRES_COMPLETE").source().strip())
    click.echo(f"\n# For every {shell} to come, write this line into {file}:\n#   {line}")
