"""A Codex home written by hand: rollouts line by line, read through History."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from agtail.assemble import Transcript
from agtail.history import History
from agtail.model import Event

OWN = "01a22e00-0000-7000-8000-000000000001"
OTHER = "01a22d00-0000-7000-8000-000000000002"
LONG_AGO = 1_700_000_000


class Rollout:
    """The lines of one rollout; every record is a second later than the one before."""

    def __init__(self, thread: str = OWN, *, meta: bool = True, **facts: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.thread = thread
        if meta:
            self.record("session_meta", id=thread, cwd="/home/dev/app", **facts)

    def record(self, kind: str, /, **payload: Any) -> None:
        moment = f"2026-05-01T10:{len(self.lines) // 60:02}:{len(self.lines) % 60:02}.000Z"
        self.lines.append({"timestamp": moment, "type": kind, "payload": payload})

    def item(self, kind: str, /, **payload: Any) -> None:
        self.record("response_item", **{"type": kind, **payload})

    def event(self, kind: str, /, **payload: Any) -> None:
        self.record("event_msg", **{"type": kind, **payload})

    def completed(self, kind: str, /, thread: str = "", **item: Any) -> None:
        told = {"type": kind, **item}
        self.event("item_completed", thread_id=thread or self.thread, item=told)

    def user(self, text: str, *, shown: bool = True) -> None:
        self.item("message", role="user", content=[{"type": "input_text", "text": text}])
        if shown:
            self.event("user_message", message=text)

    def assistant(self, text: str, **fields: Any) -> None:
        content = [{"type": "output_text", "text": text}]
        self.item("message", role="assistant", content=content, **fields)

    def call(self, name: str, call: str, arguments: str = "{}", **fields: Any) -> None:
        self.item("function_call", name=name, call_id=call, arguments=arguments, **fields)

    def output(self, call: str, output: Any) -> None:
        self.item("function_call_output", call_id=call, output=output)

    def count(self, total: int | None, last: int, **fields: int) -> None:
        """Write a ``token_count`` whose input counters are these."""
        info: dict[str, Any] = {"last_token_usage": {"input_tokens": last, **fields}}
        if total is not None:
            info["total_token_usage"] = {"input_tokens": total, **fields}
        self.event("token_count", info=info)

    @property
    def name(self) -> str:
        return f"rollout-2026-05-01T10-00-00-{self.thread}.jsonl"

    def write(self, home: Path, folder: str = "sessions/2026/05/01", name: str = "") -> Path:
        """Write the file below ``.codex``, and make it old."""
        path = home / ".codex" / folder / (name or self.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = (json.dumps(line, ensure_ascii=False) for line in self.lines)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.utime(path, (LONG_AGO, LONG_AGO))
        return path


def transcripts(home: Path, **options: Any) -> dict[str, Transcript]:
    """Read a home: transcripts by session id."""
    history = History(home=home, env={}, agents=["codex"], **options)
    found = list(history.transcripts())
    by_id = {each.session.id: each for each in found}
    assert len(by_id) == len(found)
    return by_id


def read(home: Path, rollout: Rollout) -> Transcript:
    """Write one rollout and read it back."""
    rollout.write(home)
    return transcripts(home)[rollout.thread]


def texts(transcript: Transcript, kind: str = "text", role: str | None = None) -> list[str | None]:
    """Return the texts of one kind (and role), copies left out."""
    return [event.text for event in own(transcript, kind) if role in (None, event.role)]


def own(transcript: Transcript, kind: str) -> list[Event]:
    """Return the events of one kind that are no copies."""
    return [event for event in transcript.events if event.kind == kind and not event.inherited]
