"""Homes of other systems: the same folders below another home, and paths of another kind."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from agtail.history import History

WINDOWS = "C:\\Users\\dev\\projects\\pears"
MACOS = "/Users/dev/projects/pears"
WSL = "/mnt/c/Users/dev/projects/pears"

CWDS = pytest.mark.parametrize("cwd", [WINDOWS, MACOS, WSL])


def write(path: Path, *records: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def cwds(home: Path, agent: str) -> list[str | None]:
    lines: list[str] = []
    history = History(home=home, env={}, agents=[agent], warn=lines.append)
    found = [session.cwd for session in history.sessions()]
    assert lines == []
    return found


@CWDS
def test_claude_code(tmp_path: Path, cwd: str) -> None:
    folder = "".join(letter if letter.isalnum() else "-" for letter in cwd)
    message = {"role": "user", "content": "How many pears?"}
    write(
        tmp_path / f".claude/projects/{folder}/11111111-2222-4333-8444-555555555555.jsonl",
        {"type": "user", "uuid": "u1", "sessionId": "s", "cwd": cwd, "message": message},
    )
    assert cwds(tmp_path, "claude-code") == [cwd]


@CWDS
def test_codex(tmp_path: Path, cwd: str) -> None:
    name = "rollout-2026-05-01T08-00-00-019de900-4410-79de-9239-7e9a9ecfc361.jsonl"
    said = {"type": "user_message", "message": "How many pears?"}
    write(
        tmp_path / ".codex/sessions/2026/05/01" / name,
        {"type": "session_meta", "payload": {"id": "019de900", "cwd": cwd}},
        {"type": "event_msg", "payload": said},
    )
    assert cwds(tmp_path, "codex") == [cwd]


@CWDS
@pytest.mark.parametrize(("agent", "base"), [("pi", ".pi"), ("omp", ".omp")])
def test_pi_and_omp(tmp_path: Path, cwd: str, agent: str, base: str) -> None:
    folder = f"--{cwd.replace('/', '-').replace(chr(92), '-').replace(':', '-')}--"
    said = [{"type": "text", "text": "How many pears?"}]
    write(
        tmp_path / base / "agent/sessions" / folder / "2026-05-01T08-00-00-000Z_0199.jsonl",
        {"type": "session", "version": 3, "id": "0199", "cwd": cwd},
        {"type": "message", "id": "a", "message": {"role": "user", "content": said}},
    )
    assert cwds(tmp_path, agent) == [cwd]


@CWDS
@pytest.mark.parametrize("rooted", [True, False])
def test_gemini_cli(tmp_path: Path, cwd: str, *, rooted: bool) -> None:
    """Its records have the directory only as a hash; on Windows it is written in small letters."""
    known = cwd.lower() if cwd == WINDOWS else cwd
    base = tmp_path / ".gemini"
    digest = hashlib.sha256(known.encode()).hexdigest()
    write(
        base / "tmp/pears/chats/session-2026-05-01T08-00-6f3d9b52.jsonl",
        {"sessionId": "6f3d9b52", "projectHash": digest, "kind": "main"},
        {"id": "m1", "type": "user", "content": [{"text": "How many pears?"}]},
    )
    if rooted:
        (base / "tmp/pears/.project_root").write_text(known)
    else:
        (base / "projects.json").write_text(json.dumps({"projects": {known: "pears"}}))
    assert cwds(tmp_path, "gemini-cli") == [known]


def test_a_home_of_another_system_that_is_mounted_here(tmp_path: Path) -> None:
    """As ``--dir pi=/mnt/c/Users/dev/.pi/agent/sessions`` has it."""
    root = tmp_path / "mnt/c/Users/dev/.pi/agent/sessions"
    write(
        root / "--C--Users-dev-projects-pears--/2026-05-01T08-00-00-000Z_0199.jsonl",
        {"type": "session", "version": 3, "id": "0199", "cwd": WINDOWS},
        {"type": "message", "id": "a", "message": {"role": "user", "content": "How many?"}},
    )
    history = History(home=tmp_path / "home/dev", env={}, roots={"pi": root})
    assert [session.cwd for session in history.sessions()] == [WINDOWS]
