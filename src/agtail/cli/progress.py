"""A bar on the terminal for a refresh that takes its time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0
"""Seconds that pass before a bar is worth showing."""


class RefreshBar:
    """Shows bytes read, rate and time left on standard error, when that is a terminal."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __call__(self, done: int, total: int, seconds: float) -> None:
        """Take the state of the work: bytes done, bytes to do, seconds since its start."""
        if self._bar is None:
            if seconds < PATIENCE or done >= total or not sys.stderr.isatty():
                return
            self._start(total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done)
            if done >= total:
                self._bar.stop()
                self._bar = None

    def _start(self, total: int) -> None:
        from rich.console import Console  # noqa: PLC0415 - only for long work
        from rich.progress import (  # noqa: PLC0415 - only for long work
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        self._bar = Progress(
            TextColumn("reading transcripts"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=total)
        self._bar.start()
