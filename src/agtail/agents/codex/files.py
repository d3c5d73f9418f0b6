"""Names of rollout files: which thread one belongs to, and which segment of it one is."""

from __future__ import annotations

import os
import re

NAME = re.compile(
    r"rollout-.*?(?P<thread>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:_(?P<segment>[0-9a-f-]+))?"
)


def thread_of(path: str) -> str:
    """Return the thread id in a file name, or the name without its ending."""
    stem = os.path.basename(path).removesuffix(".zst").removesuffix(".jsonl").removesuffix(".json")
    named = NAME.fullmatch(stem)
    return named["thread"] if named else stem
