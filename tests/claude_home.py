"""Small Claude Code homes, written record by record, for tests."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agtail.assemble import Transcript
from agtail.history import History

Entry = dict[str, Any]
STAMP = "2026-05-01T10:00:{:02d}.000Z"
LONG_AGO = 1_700_000_000


class Session:
    """Builds the lines of one transcript: each record hangs under the one before."""

    def __init__(self, session_id: str = "s1", **envelope: Any) -> None:
        self.session_id = session_id
        self.envelope = {"cwd": "/home/dev/app", "version": "2.1.332", "entrypoint": "cli"}
        self.envelope.update(envelope)
        self.lines: list[Entry] = []
        self.count = 0
        self.parent: str | None = None

    def add(self, kind: str, **fields: Any) -> Entry:
        """Add a record of the chain."""
        self.count += 1
        entry = {
            "type": kind,
            "uuid": f"{self.session_id}-{self.count:04d}",
            "parentUuid": self.parent,
            "timestamp": STAMP.format(self.count % 60),
            "sessionId": self.session_id,
            "isSidechain": False,
            **self.envelope,
            **fields,
        }
        self.parent = entry["uuid"]
        self.lines.append(entry)
        return entry

    def state(self, kind: str, **fields: Any) -> Entry:
        """Add a record outside the chain."""
        entry = {"type": kind, "sessionId": self.session_id, **fields}
        self.lines.append(entry)
        return entry

    def user(self, content: Any, **fields: Any) -> Entry:
        """Add a user record."""
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def say(self, text: str, *, message_id: str | None = None, **message: Any) -> Entry:
        """Add an assistant text."""
        return self.answer([{"type": "text", "text": text}], message_id, **message)

    def answer(self, blocks: list[Any], message_id: str | None = None, **message: Any) -> Entry:
        """Add an assistant record with these blocks."""
        fields = {"role": "assistant", "model": "claude-opus-5-5", "content": blocks, **message}
        if message_id is not None:
            fields["id"] = message_id
        return self.add("assistant", message=fields)

    def call(self, name: str, call_id: str, **tool_input: Any) -> Entry:
        """Add a tool call."""
        return self.answer([{"type": "tool_use", "id": call_id, "name": name, "input": tool_input}])

    def result(self, call_id: str, content: Any, **fields: Any) -> Entry:
        """Add a tool result."""
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if "is_error" in fields:
            block["is_error"] = fields.pop("is_error")
        return self.user([block], **fields)

    def attach(self, **attachment: Any) -> Entry:
        """Add an attachment."""
        return self.add("attachment", attachment=attachment)


def write(home: Path, session: Session, name: str | None = None) -> Path:
    """Write a transcript below a home and return its path."""
    return write_lines(home, name or f"-home-dev-app/{session.session_id}.jsonl", session.lines)


def write_lines(home: Path, name: str, lines: Iterable[Mapping[str, Any] | str]) -> Path:
    """Write lines (records, or text as it is) to a file below ``.claude/projects``."""
    path = home / ".claude" / "projects" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def transcripts(home: Path) -> dict[str, Transcript]:
    """Read all Claude Code sessions of a home, by id."""
    history = History(home=home, env={}, agents=["claude-code"])
    return {each.session.id: each for each in history.transcripts()}


def read(home: Path, session: Session) -> Transcript:
    """Write one session and read it back."""
    write(home, session)
    return transcripts(home)[session.session_id]
