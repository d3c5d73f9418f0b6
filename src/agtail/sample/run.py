"""What ``make run`` does: agtail over the user's own histories, or over the sample without any."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence

from agtail.__main__ import main
from agtail.agents import agent_ids
from agtail.agents.base import units_of
from agtail.history import History

ARGUMENTS = "AGTAIL_ARGS"
"""The environment variable with the command line, quoted as for a shell."""

TOUR = (
    ("list", "--limit", "5"),
    ("grep", "rm -rf", "--limit", "5"),
)
"""What runs when nothing is asked for."""

PLACES = ("--sample", "--dir", "--claude-dir", "--codex-dir")
"""Options that say themselves where to look."""


def run(line: str) -> int:
    """Run one command line, or the tour for an empty one, and return the exit code."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        sys.stderr.write(f"agtail: cannot read ARGS: {error} in {line!r}\n")
        return 2
    placed = any(word.partition("=")[0] in PLACES for word in words)
    where = [] if placed or has_history() else ["--sample"]
    if where:
        sys.stderr.write("No sessions of any coding agent here: this is the bundled sample.\n")
    if words:
        return main([*where, *words])
    return _tour(where)


def has_history() -> bool:
    """Whether any agent has a session on this machine; stops at the first."""
    history = History()
    return any(
        True for agent in agent_ids() for _ in units_of(history.adapter(agent), lambda _error: None)
    )


def _tour(where: Sequence[str]) -> int:
    for number, words in enumerate(TOUR):
        if number:
            sys.stdout.write("\n")
        command = shlex.join(["agtail", *where, *words])
        sys.stdout.write(f"$ {command}\n")
        code = main([*where, *words])
        if code > 1:  # 1 says that nothing was found, which is an answer
            return code
    return 0


if __name__ == "__main__":
    sys.exit(run(os.environ.get(ARGUMENTS, "")))
