"""What must not be loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agtail import __version__

HEAVY = {"rich", "re2", "zstandard", "sqlite3", "asyncio"}


PROGRAM = """
import sys
from agtail.__main__ import main
code = main(sys.argv[1:])
sys.stderr.write(" ".join(sys.modules))
sys.exit(code)
"""


def imported(*arguments: str) -> tuple[str, set[str]]:
    """Run a command line; return what it says, and every module that it loaded."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout, set(done.stderr.split())


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["grep", "--help"], ["index", "--help"], ["completion", "bash"]],
)
def test_nothing_heavy_is_loaded_to_say_a_word(arguments: list[str]) -> None:
    out, modules = imported(*arguments)
    assert out
    assert "agtail" in modules
    assert not modules & HEAVY


def test_the_version_needs_no_argument_parser_and_no_model() -> None:
    out, modules = imported("--version")
    assert out == f"agtail {__version__}\n"
    assert not modules & {"click", "msgspec", "agtail.cli.app"}


def test_the_version_is_told_beside_other_options() -> None:
    out, _ = imported("--no-color", "--version")
    assert out == f"agtail {__version__}\n"


def test_a_command_loads_no_other() -> None:
    _, modules = imported("stats", "--help")
    assert "agtail.cli.stats" in modules
    assert not modules & {"agtail.cli.grep", "agtail.cli.show", "agtail.history"}
