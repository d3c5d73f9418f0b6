"""Runs in a real pseudo-terminal: colours, widths, encodings, and text that would do harm."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
from pathlib import Path

import pytest

from agtail.cli.terminal import cells

ROOTS = ["--claude-dir", "claude/projects", "--codex-dir", "codex/sessions"]
COLOUR = re.compile(r"\x1b\[[0-9;]+m")

pytestmark = pytest.mark.usefixtures("home")


def seen(*arguments: str, width: int = 80, **variables: str) -> bytes:
    """Run agtail in a terminal of that width and return all that it would show."""
    process, terminal = pty.fork()
    if process == 0:
        environment = {**os.environ, **variables}
        environment.pop("COLUMNS", None)
        os.execve(sys.executable, [sys.executable, "-m", "agtail", *arguments], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    shown = bytearray()
    while True:
        ready, _, _ = select.select([terminal], [], [], 30)
        assert ready, "no output for 30 seconds"
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side has closed
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    os.waitpid(process, 0)
    return bytes(shown).replace(b"\r\n", b"\n")


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize(
    "command",
    [["list"], ["grep", ""], ["grep", "pears", "-C", "2"], ["show", "wide"], ["stats"]],
)
def test_no_line_is_wider_than_the_terminal(command: list[str], width: int, home: Path) -> None:
    wide = {
        "type": "user",
        "message": {"role": "user", "content": "木🍐é " * 60},
        "cwd": "/木" * 90,
    }
    (home / "claude/projects/-home-dev-odd/wide.jsonl").write_text(json.dumps(wide) + "\n")
    shown = seen(*command, *ROOTS, width=width).decode()
    assert len(shown.splitlines()) > 3
    lines = COLOUR.sub("", shown).splitlines()
    assert max(map(cells, lines)) <= width
    assert command == ["stats"] or any(cells(line) > 80 for line in lines) == (width == 200)


def test_colours_come_and_go() -> None:
    assert seen("grep", "Count the pears", *ROOTS).startswith(b"\x1b[33mclaude:11111111#")
    assert b"\x1b[1;31mthe pears\x1b[0m" in seen("grep", "the pears", *ROOTS)
    assert b"\x1b" not in seen("grep", "pears", *ROOTS, NO_COLOR="1")
    assert b"\x1b" not in seen("grep", "pears", "--no-color", *ROOTS)


def test_control_characters_do_no_harm() -> None:
    shown = COLOUR.sub("", seen("show", "33333334", *ROOTS).decode())
    assert "nul ^@ and esc ^[[31mred" in shown
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)


def test_a_title_cannot_reach_the_terminal(home: Path) -> None:
    evil = {
        "type": "user",
        "message": {"role": "user", "content": "\x1b]0;owned\x07 \x9b2J \u202e gnp.exe"},
        "cwd": "/home/\x1b[2J",
        "gitBranch": "\x1b[5m",
        "version": "\x1b[6m",
    }
    path = home / "claude/projects/-home-dev-odd/evil-\x1b[7m.jsonl"
    path.write_text(json.dumps(evil) + "\n")
    for command in (
        ["list"],
        ["grep", "owned"],
        ["grep", "owned", "-l"],
        ["grep", "owned", "--json"],
        ["show", str(path)],
        ["show", str(path), "--full"],
        ["show", str(path), "--raw"],
        ["show", str(path), "--json"],
        ["show", "evil\x1b[8m"],
    ):
        shown = COLOUR.sub("", seen(*command, *ROOTS).decode())
        assert shown
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown), command


def test_a_terminal_that_is_not_utf8_is_survived() -> None:
    shown = seen("show", "11111111", *ROOTS, PYTHONIOENCODING="cp1252", LC_ALL="C")
    assert b"? Bash" in shown
    assert "Straße".encode("cp1252") in shown
    assert b"Traceback" not in shown


def test_json_is_json_in_a_terminal_too() -> None:
    lines = seen("list", "--json", *ROOTS, width=80).decode().splitlines()
    assert len(lines) > 10
    assert all(json.loads(line)["id"] for line in lines)
