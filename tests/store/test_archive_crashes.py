"""The raw archive under SIGKILL, without space on disk, and with several processes at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "killed_keeper.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["killed_at_every_call", "without_space", "killed_at_random", "read_while_written"]
)
def test_nothing_that_was_kept_is_lost(way: str, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, str(PROGRAM), str(tmp_path), way],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not result.returncode, result.stderr[-3000:]
    assert result.stdout
