"""Where a session of Gemini CLI ran, and which call started a subagent: found beside its file."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from agtail.agents.base import Meta
from agtail.agents.gemini_cli.documents import read_document
from agtail.errors import SourceError
from agtail.lenient import strings_of
from agtail.model import Integrity
from agtail.records import Json, Record, open_source, read_jsonl, read_object

_LISTED = re.compile(r"Workspace Directories:\W*\n\s*- ([^\n]+)")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]")
_LONGEST = 4096


def recorded_directory(project: str) -> str | None:
    """Return the directory that a project's folder belongs to: by its mark, or the registry."""
    try:
        with open_source(os.path.join(project, ".project_root")) as stream:
            marked = stream.read(_LONGEST).decode(errors="replace").strip()
    except (SourceError, OSError):
        marked = ""
    if marked:
        return marked.splitlines()[0]
    base, name = os.path.dirname(os.path.dirname(project)), os.path.basename(project)
    registry = read_object(os.path.join(base, "projects.json")).get("projects")
    known = registry.items() if isinstance(registry, dict) else ()
    return next((path for path, slug in known if slug == name), None)


def context_directory(text: str) -> str | None:
    """Return the first directory that the injected context lists."""
    listed = _LISTED.search(text)
    return listed[1].strip() if listed else None


class Guesses:
    """Directories that came up in a session, to compare with the digest of the right one."""

    def __init__(self) -> None:
        self.digest = ""
        self._tried: set[str] = set()
        self._digests: dict[str, str] = {}

    def note(self, value: object) -> None:
        """Take every absolute path in a value, and what lies above it."""
        for text in strings_of(value):
            if len(text) > _LONGEST or "\n" in text:
                continue
            if text.startswith("/"):
                path: PurePosixPath | PureWindowsPath = PurePosixPath(text)
            elif _WINDOWS.match(text):
                path = PureWindowsPath(text)
            else:
                continue
            for each in map(str, (path, *path.parents)):
                if each in self._tried:
                    break
                self._tried.add(each)
                digest = hashlib.sha256(each.encode(errors="replace")).hexdigest()
                self._digests[digest] = each

    def found(self) -> str | None:
        """Return the one with the right digest."""
        return self._digests.get(self.digest)


def spawner(parent: str, child: str) -> Meta | None:
    """Find the call that started a subagent in its parent's file."""
    try:
        for record in _mentioning(parent, child):
            for call in _calls(record.data):
                if call.get("agentId") == child:
                    given = call.get("args")
                    name = given.get("agent_name") if isinstance(given, dict) else None
                    call_id = call.get("id")
                    return Meta(
                        agent_name=name if isinstance(name, str) else None,
                        spawned_by_tool_use_id=call_id if isinstance(call_id, str) else None,
                    )
    except SourceError:
        pass
    return None


def _mentioning(path: str, text: str) -> Iterator[Record]:
    """Yield the records of a file that has a text in it at all."""
    with open_source(path) as stream:
        if not any(text.encode() in line for line in stream):
            return
    yield from (read_document if path.endswith(".json") else read_jsonl)(path, Integrity())


def _calls(data: Json) -> Iterator[Json]:
    update: Any = data.get("$set")
    listed = (update if isinstance(update, dict) else data).get("messages")
    for message in (data, *(listed if isinstance(listed, list) else ())):
        calls = message.get("toolCalls") if isinstance(message, dict) else None
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                yield call
