"""``agtail completion``: the script that lets a shell complete agtail's commands and options."""

from __future__ import annotations

import click


@click.command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    r"""Print the completion script of a shell.

    \b
    bash:  eval "$(agtail completion bash)"                          in ~/.bashrc
    zsh:   eval "$(agtail completion zsh)"                           in ~/.zshrc
    fish:  agtail completion fish > ~/.config/fish/completions/agtail.fish
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - start-up time

    from agtail.cli.app import COMPLETE_VARIABLE, app  # noqa: PLC0415 - the app loads this module

    kind = get_completion_class(shell)
    assert kind is not None
    completer = kind(app, {}, "agtail", COMPLETE_VARIABLE)
    # The class for bash would start a shell to ask for its version.
    click.echo(completer.source_template % completer.source_vars())
    return 0
