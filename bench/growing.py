"""One long session that is still going on, to measure what a line added to it costs."""

from __future__ import annotations

import json
import random
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

SESSION = "aaaaaaaa-0000-4000-8000-000000000001"
NEEDLE = "quaxolotl needle"


def long_session(home: Path, megabytes: int) -> Path:
    """Write a Claude Code session of so many megabytes that ended a moment ago."""
    dice = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 10))) for _ in range(20_000)]
    path = home / ".claude" / "projects" / "-p" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    moment = datetime.now(UTC) - timedelta(hours=8)
    written = number = 0
    parent: str | None = None
    with path.open("w", encoding="utf-8") as stream:
        while written < megabytes * 1_000_000:
            number += 1
            moment += timedelta(milliseconds=200)
            text = " ".join(dice.choices(words, k=dice.randint(20, 400)))
            entry = _envelope(moment, parent) | _content(number, text)
            parent = str(entry["uuid"])
            written += stream.write(json.dumps(entry) + "\n")
    return path


def add_line(path: Path) -> None:
    """Add one prompt to the session."""
    with path.open("rb") as stream:
        stream.seek(-20_000, 2)
        last = json.loads(stream.read().splitlines()[-1])
    entry = _envelope(datetime.now(UTC), last["uuid"])
    entry |= {"type": "user", "message": {"role": "user", "content": f"a {NEEDLE}"}}
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def _envelope(moment: datetime, parent: str | None) -> dict[str, object]:
    return {
        "parentUuid": parent,
        "uuid": str(uuid.uuid4()),
        "isSidechain": False,
        "sessionId": SESSION,
        "cwd": "/p",
        "version": "2.1.332",
        "entrypoint": "cli",
        "gitBranch": "main",
        "timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _content(number: int, text: str) -> dict[str, object]:
    answer: dict[str, object] = {
        "role": "assistant",
        "model": "claude-opus-5-5",
        "id": f"msg_{number // 3}",
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }
    block: dict[str, object]
    match number % 4:
        case 0:
            return {"type": "user", "message": {"role": "user", "content": text[:300]}}
        case 1:
            block = {"type": "text", "text": text}
            return {"type": "assistant", "message": answer | {"content": [block]}}
        case 2:
            call = f"toolu_{number}"
            block = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": text}}
            return {"type": "assistant", "message": answer | {"content": [block]}}
        case _:
            call = f"toolu_{number - 1}"
            block = {"type": "tool_result", "tool_use_id": call, "content": text}
            return {"type": "user", "message": {"role": "user", "content": [block]}}
