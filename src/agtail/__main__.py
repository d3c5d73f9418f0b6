"""The ``agtail`` command: answers ``--version`` at once and hands everything else to the CLI."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from agtail import __version__

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of the signal, as shells count."""


GARBAGE = 50_000
"""Objects made between two collections: Python's 700 cost a short command a tenth of its time."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code.

    Nothing but this module is loaded for ``--version``. A reader that closed the pipe ends the
    run quietly with 0, since what it wanted it has got; Ctrl-C ends it with 130.
    """
    gc.set_threshold(GARBAGE)
    words = list(sys.argv[1:] if arguments is None else arguments)
    _prepare_streams()
    try:
        if words == ["--version"]:
            sys.stdout.write(f"agtail {__version__}\n")
            code = 0
        else:
            from agtail.cli.app import run  # noqa: PLC0415 - start-up time

            code = run(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is still buffered would raise again when the interpreter shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _prepare_streams() -> None:
    """Write UTF-8 to files and pipes; on a terminal keep its encoding, whatever it cannot show.

    Transcripts hold characters of every script, and a line that cannot be printed must not end
    the program.
    """
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if stream.isatty():
            reconfigure(errors="replace")
        else:
            reconfigure(encoding="utf-8", errors="replace", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
