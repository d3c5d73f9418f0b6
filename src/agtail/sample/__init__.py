"""A bundled fictional history, for ``--sample``, the documentation and the tests.

It tells of an invented tide-table service and looks to every adapter like a real home
directory. The files are plain JSON Lines, edited by hand; docs/sample.md says what they hold.
"""

from __future__ import annotations

from pathlib import Path


def sample_home() -> Path:
    """Return the folder that stands for the home directory: it holds ``.claude`` and ``.codex``."""
    return Path(__file__).with_name("home")
