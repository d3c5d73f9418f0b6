"""Which calls spawned subagents: the records of their parents tell."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator
from typing import Any

from agtail.agents.base import text_of
from agtail.errors import SourceError
from agtail.model import Integrity
from agtail.records import Json, read_jsonl


def spawned_by(parents: Iterable[str]) -> dict[str, str]:
    """Return the calls of transcripts that spawned subagents, by the subagent's name.

    The result of a call has the names that were given; until it is there, those asked for count.
    Files that are gone or cannot be read tell nothing.
    """
    calls: dict[str, str] = {}
    for parent in parents:
        try:
            info = os.stat(parent)
            calls.update(_calls(parent, info.st_size, info.st_mtime_ns))
        except (OSError, SourceError):
            continue
    return calls


@functools.lru_cache(maxsize=4)
def _calls(parent: str, _size: int, _mtime_ns: int) -> dict[str, str]:
    """Return the calls of one transcript; all subagents of a session ask for the same one."""
    asked: dict[str, str] = {}
    given: dict[str, str] = {}
    for record in read_jsonl(parent, Integrity()):
        message = record.data.get("message")
        if isinstance(message, dict):
            given.update(_given(message))
            for name, call in _asked(message):
                asked.setdefault(name, call)
    return {**asked, **given}


def _given(message: Json) -> Iterator[tuple[str, str]]:
    details = message.get("details")
    if message.get("role") != "toolResult" or not isinstance(details, dict):
        return
    for key in ("progress", "results"):
        for each in _list(details.get(key)):
            if name := text_of(each, "id"):
                yield name, text_of(message, "toolCallId")


def _asked(message: Json) -> Iterator[tuple[str, str]]:
    if message.get("role") != "assistant":
        return
    for block in _list(message.get("content")):
        if text_of(block, "type") == "toolCall" and text_of(block, "name") == "task":
            arguments = block.get("arguments")
            tasks = arguments.get("tasks") if isinstance(arguments, dict) else None
            for task in _list(tasks):
                if name := text_of(task, "name"):
                    yield name, text_of(block, "id")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
