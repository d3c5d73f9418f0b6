"""Files that come into being whole: written under another name first."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_SUFFIX = ".draft"
_ABANDONED = 3600.0
"""Seconds without a write after which the writer of a draft is taken to be no more."""
_CHUNK = 1024 * 1024


@contextlib.contextmanager
def draft_in(folder: Path) -> Iterator[IO[bytes]]:
    """Open a new private file in a folder; it is removed, unless it was given its name."""
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=_SUFFIX, dir=folder)
    os.close(descriptor)  # a stream that is opened by name knows it
    try:
        with open(name, "w+b") as draft:
            yield draft
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


def publish(draft: IO[bytes], name: Path) -> None:
    """Give a draft that is on disk its name, in place of a file that has it already."""
    draft.close()
    os.replace(draft.name, name)


def to_disk(stream: IO[bytes]) -> None:
    """Wait until what was written would outlive the loss of power."""
    stream.flush()
    os.fsync(stream.fileno())


def copy_bytes(source: IO[bytes], target: IO[bytes], length: int | None = None) -> None:
    """Copy bytes, all there are or at most ``length``, in bounded memory."""
    left = length
    while data := source.read(_CHUNK if left is None else min(left, _CHUNK)):
        target.write(data)
        if left is not None:
            left -= len(data)


def abandoned_in(folder: Path) -> Iterator[Path]:
    """Yield the drafts in a folder that no living writer can be at."""
    for draft in folder.glob(f".*{_SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            if draft.stat().st_mtime < time.time() - _ABANDONED:
                yield draft
