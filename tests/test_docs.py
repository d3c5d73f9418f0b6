"""The reference of the command line is what the program says: every command, every option.

Run this file as a program to write the help texts into the page anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from agtail.cli.app import app

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "cli.md"
BLOCK = re.compile(r"<!-- help: (?P<path>[a-z ]+) -->\n```text\n(?P<help>.*?)```\n", re.DOTALL)


def commands() -> Iterator[tuple[str, click.Context]]:
    """Yield every command line that has a help text, and its context."""
    root = click.Context(app, info_name="agtail", terminal_width=100, **app.context_settings)
    yield "agtail", root
    yield from below(root)


def below(context: click.Context) -> Iterator[tuple[str, click.Context]]:
    """Yield the commands of a group, each followed by those of its own."""
    group = context.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context, terminal_width=100)
        yield inner.command_path, inner
        yield from below(inner)


def written(page: str) -> str:
    """Return the page with the help texts of today."""
    help_texts = {path: context.get_help() for path, context in commands()}
    return BLOCK.sub(
        lambda match: (
            f"<!-- help: {match['path']} -->\n```text\n{help_texts[match['path']]}\n```\n"
        ),
        page,
    )


def test_the_page_holds_the_help_of_every_command() -> None:
    page = PAGE.read_text()
    assert [match["path"] for match in BLOCK.finditer(page)] == [path for path, _ in commands()]
    assert page == written(page), "run python tests/test_docs.py"


@pytest.mark.parametrize(("path", "context"), list(commands()))
def test_every_option_is_described(path: str, context: click.Context) -> None:
    help_text = context.get_help()
    for parameter in context.command.get_params(context):
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{path} {parameter.name}"
            for flag in (*parameter.opts, *parameter.secondary_opts):
                assert flag in help_text
    assert context.command.help


def test_links_between_pages_lead_somewhere() -> None:
    for name in ("cli.md", "differences.md"):
        for target in re.findall(r"\]\(([a-z/-]+\.md)", (DOCS / name).read_text()):
            assert (DOCS / target).exists(), f"{name} → {target}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
