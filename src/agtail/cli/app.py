"""The command line's frame: the group of commands, and how a run ends."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Final

import click

from agtail import __version__
from agtail.cli.options import Settings, global_options, settle, warn
from agtail.errors import AgtailError, UsageError

FAILED: Final = 1
MISUSED: Final = 2
COMPLETE_VARIABLE: Final = "_AGTAIL_COMPLETE"

_COMMANDS: Final = {
    "grep": "agtail.cli.grep",
    "list": "agtail.cli.listing",
    "show": "agtail.cli.show",
    "stats": "agtail.cli.stats",
    "agents": "agtail.cli.agents",
    "index": "agtail.cli.index",
    "forget": "agtail.cli.forget",
    "doctor": "agtail.cli.doctor",
    "completion": "agtail.cli.completion",
}


class LazyGroup(click.Group):
    """A group that loads a command's module when the command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands, the most used first."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command."""
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(_COMMANDS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command


@click.group(
    name="agtail",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="The general options are accepted before or after the command.",
)
@click.version_option(__version__, prog_name="agtail", message="%(prog)s %(version)s")
@click.pass_context
@global_options
def app(context: click.Context, settings: Settings) -> None:
    """Search what coding agents did on this machine, and read it again.

    Sessions of coding agents are found where these keep them. Nothing is ever
    written there.
    """
    context.obj = settings


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code.

    A question that is wrong in itself gives 2, a failure on the way 1, each with one line on
    standard error. What a success gives is the command's affair.
    """
    instruction = os.environ.get(COMPLETE_VARIABLE)
    if instruction:
        from click.shell_completion import shell_complete  # noqa: PLC0415 - start-up time

        return shell_complete(app, {}, "agtail", COMPLETE_VARIABLE, instruction)
    try:
        with app.make_context("agtail", arguments) as context:
            code = app.invoke(context)
            settle()
    except click.exceptions.Exit as finished:
        return finished.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        return MISUSED
    except click.ClickException as error:
        warn(_sentence(error))
        return MISUSED
    except UsageError as error:
        warn(str(error))
        return MISUSED
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except (AgtailError, OSError) as error:
        warn(str(error))
        return FAILED
    except Exception as error:
        if type(error).__module__ != "sqlite3":  # not imported here: most runs do without
            raise
        warn(f"the store: {error} (agtail index verify says more; --no-store does without it)")
        return FAILED
    return int(code or 0)


def _sentence(error: click.ClickException) -> str:
    """Put a complaint of the argument parser on one line, with where to read on."""
    message = error.format_message().strip().rstrip(".").replace("\n", " ")
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "agtail"
    return f"{message[:1].lower()}{message[1:]} ({path} --help says more)"
