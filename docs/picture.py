"""Make ``docs/terminal.svg``: agtail's real output on a terminal, over the bundled sample.

``make docs`` runs this, and a test fails when the picture is out of date. The picture loads
nothing: the fonts that rich's template fetches from the network are taken out of it.
"""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).with_name("terminal.svg")

COMMANDS = (
    "agtail --sample grep 'rm -rf'",
    "agtail --sample show 92c3e6f4#14",
    "agtail --sample list --limit 4",
)

COLUMNS = 104
"""Wide enough for a whole line of the list, narrow enough for a README."""

_FONT_FACE = re.compile(r"\s*@font-face \{\{.*?\n    \}\}", re.DOTALL)


def draw() -> str:
    """Run the commands and return the picture as SVG, the same on every machine."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    for number, command in enumerate(COMMANDS):
        if number:
            console.print()
        console.print(Text.assemble(("$ ", "green"), (command, "bold")))
        for line in on_terminal(command).splitlines():
            console.print(Text.from_ansi(line), no_wrap=True, overflow="crop")
    picture = console.export_svg(
        title="agtail", code_format=_FONT_FACE.sub("", CONSOLE_SVG_FORMAT), unique_id="agtail"
    )
    return "".join(f"{line.rstrip()}\n" for line in picture.splitlines())


def on_terminal(command: str) -> str:
    """Run agtail on a pseudo-terminal and return what it printed, with its colours."""
    _, *arguments = shlex.split(command)
    leader, follower = pty.openpty()
    environment = {
        **{key: value for key, value in os.environ.items() if key != "NO_COLOR"},
        "COLUMNS": str(COLUMNS),
        "HOME": "/home/dev",
        "PYTHONUTF8": "1",
        "TZ": "UTC",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "agtail", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=follower,
        env=environment,
    ) as process:
        os.close(follower)
        output = bytearray()
        # A pseudo-terminal ends with an error, not with an empty read.
        with contextlib.suppress(OSError), open(leader, "rb", buffering=0) as stream:
            while chunk := stream.read(65536):
                output += chunk
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return output.decode().replace("\r\n", "\n")


if __name__ == "__main__":
    PICTURE.write_text(draw(), "utf-8")
