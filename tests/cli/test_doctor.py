"""``agtail doctor``: what is found, what is not and why, and what is about to be lost."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claude_home import Session, write, write_lines
from codex_home import OTHER, Rollout

from agtail.agents.base import Unit
from agtail.assemble import Transcript
from agtail.history import History

Run = Callable[..., tuple[int, str, str]]

DAY = 24 * 3600


def age(path: Path, days: float) -> Path:
    then = time.time() - days * DAY
    os.utime(path, (then, then))
    return path


def session(machine: Path, name: str, days: float = 1) -> Path:
    built = Session(name)
    built.user(f"prompt of {name}")
    built.say("answer")
    return age(write(machine, built), days)


def examined(run: Run, *arguments: str) -> dict[str, Any]:
    code, out, err = run("doctor", "--json", *arguments)
    assert (code, err) == (0, "")
    told: dict[str, Any] = json.loads(out)
    return told


def agent(run: Run, name: str, *arguments: str) -> dict[str, Any]:
    [found] = [each for each in examined(run, *arguments)["agents"] if each["agent"] == name]
    return dict(found)


def typed(machine: Path, *sessions: str | None) -> None:
    lines = [
        {"display": f"prompt {index}", "timestamp": 1_777_000_000_000 + index, "project": "/p"}
        | ({"sessionId": name} if name else {})
        for index, name in enumerate(sessions)
    ]
    path = machine / ".claude/history.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "torn {")


def test_an_empty_machine(run: Run, machine: Path) -> None:
    code, out, err = run("doctor")
    assert (code, err) == (0, "")
    assert "claude    ~/.claude/projects (not there)" in out
    assert "codex     ~/.codex/sessions (not there)" in out
    assert "sessions in" not in out
    assert "deletes" not in out
    assert "store     none yet" in out
    assert list(machine.iterdir()) == []


def test_what_is_counted(run: Run, machine: Path) -> None:
    paths = [session(machine, "one"), session(machine, "two")]
    child = Session("one", isSidechain=True, agentId="a1")
    child.user("dig")
    child.say("dug")
    paths.append(write(machine, child, "-home-dev-app/one/subagents/agent-a1.jsonl"))
    paths.append(write_lines(machine, "-p/empty.jsonl", [{"type": "mode", "mode": "plan"}]))
    broken = Session("broken")
    broken.user("whole")
    broken.say("yes")
    paths.append(
        write_lines(machine, "-p/broken.jsonl", ["{no json", *map(json.dumps, broken.lines)])
    )
    blocked = machine / ".claude/projects/-p/blocked.jsonl"
    blocked.mkdir()
    told = agent(run, "claude-code")
    sizes = sum(path.stat().st_size for path in (*paths, blocked))
    assert (told["sources"], told["bytes"]) == (6, sizes)
    assert (told["sessions"], told["subagents"], told["empty"], told["damaged"]) == (5, 1, 1, 1)
    assert told["unreadable"] == [{"path": str(blocked), "reason": "is a directory"}]
    assert told["roots"] == {
        str(machine / ".claude/projects"): True,
        str(machine / ".config/claude/projects"): False,
    }
    assert not (machine / ".local").exists()
    out = run("doctor")[1]
    assert "5 sessions (1 of them subagents) in 6 transcripts of " in out
    assert "1 without a conversation: not listed" in out
    assert "1 session with parts that are damaged" in out
    assert "~/.claude/projects/-p/blocked.jsonl: is a directory" in out


def test_what_cannot_be_looked_into_is_told(run: Run, machine: Path) -> None:
    session(machine, "one")
    dangling = machine / ".claude/projects/-home-dev-app/lost.jsonl"
    dangling.symlink_to(machine / "nowhere.jsonl")
    told = agent(run, "claude-code")
    assert told["skipped"] == [{"path": str(dangling), "reason": "no such file or directory"}]
    assert "1 passed over" in run("doctor")[1]


def test_many_problems_are_not_all_named(run: Run, machine: Path) -> None:
    session(machine, "one")
    for number in range(7):
        (machine / f".claude/projects/-home-dev-app/b{number}.jsonl").mkdir()
    out = run("doctor")[1]
    assert "7 unreadable" in out
    assert out.count(": is a directory") == 5
    assert "and 2 more" in out


def test_the_store_spares_reading_and_is_left_as_it_is(
    run: Run, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [session(machine, name) for name in ("one", "two", "three", "four")]
    run("index", "refresh")
    paths[0].unlink()
    run("index", "refresh")
    run("forget", "four", "--yes")
    before = agent(run, "claude-code")
    assert (before["sources"], before["sessions"], before["kept"]) == (2, 2, 1)
    assert before["forgotten"] == 1
    store = machine / ".local/share/agtail/store/catalogue.sqlite"
    content = store.read_bytes()

    read: list[str] = []
    real = History.read

    def watched(history: History, unit: Unit) -> list[Transcript]:
        read.append(unit.id)
        return real(history, unit)

    monkeypatch.setattr(History, "read", watched)
    assert agent(run, "claude-code") == before
    assert read == []
    session(machine, "new")
    assert agent(run, "claude-code")["sessions"] == 3
    assert read == ["new"]
    assert store.read_bytes() == content
    out = run("doctor")[1]
    assert "1 session kept whose files are gone" in out
    assert "1 forgotten: left out until they grow" in out
    assert "store     3 sources, 3 sessions in ~/.local/share/agtail/store" in out


def test_what_claude_code_deletes_by_default(run: Run, machine: Path) -> None:
    oldest = session(machine, "old", 40)
    session(machine, "older", 31)
    session(machine, "soon", 25)
    session(machine, "new", 2)
    told = agent(run, "claude-code")["deletion"]
    assert told == {
        "days": 30,
        "setting": "cleanupPeriodDays",
        "path": str(machine / ".claude/settings.json"),
        "default": True,
        "due": 2,
        "soon": 1,
        "oldestTime": oldest.stat().st_mtime_ns // 1_000_000,
    }
    out = run("doctor", "--utc")[1]
    assert "deletes transcripts 30 days after their last change" in out
    assert "(cleanupPeriodDays, its default; ~/.claude/settings.json)" in out
    day = time.strftime("%Y-%m-%d", time.gmtime(oldest.stat().st_mtime))
    assert "next: 2 transcripts at its next start, 1 more within a week" in out
    assert f"the oldest is of {day}" in out


@pytest.mark.parametrize(
    ("written", "days"),
    [
        ('{"cleanupPeriodDays": 365}', 365),
        ('{"cleanupPeriodDays": 0}', 0),
        ('{"cleanupPeriodDays": "many"}', None),
        ('{"cleanupPeriodDays": true}', None),
        ('{"cleanupPeriodDays": -1}', None),
        ("[]", None),
        ("{", None),
    ],
)
def test_the_setting_of_claude_code(
    run: Run, machine: Path, written: str, days: int | None
) -> None:
    session(machine, "old", 40)
    (machine / ".claude/settings.json").write_text(written)
    told = agent(run, "claude-code")["deletion"]
    assert told["days"] == (30 if days is None else days)
    assert told.get("default", False) == (days is None)
    assert told["due"] == int(days != 365)


def test_a_copy_is_not_cleaned_up(run: Run, machine: Path) -> None:
    session(machine, "old", 40)
    (machine / ".claude").rename(machine / "copy")
    folder = f"--claude-dir={machine / 'copy/projects'}"
    assert "deletion" not in agent(run, "claude-code", folder)
    (machine / "copy/settings.json").write_text('{"cleanupPeriodDays": 9}')
    assert agent(run, "claude-code", folder)["deletion"]["days"] == 9


def test_prompts_that_are_left_of_lost_sessions(run: Run, machine: Path) -> None:
    session(machine, "here")
    kept = session(machine, "kept")
    run("index", "refresh")
    kept.unlink()
    run("index", "refresh")
    typed(machine, "here", "kept", "lost", "lost", "also", None)
    told = agent(run, "claude-code")["lost"]
    assert told == {
        "sessions": 2,
        "prompts": 3,
        "firstTime": 1_777_000_000_002,
        "lastTime": 1_777_000_000_004,
    }
    line = "3 prompts left of 2 lost sessions, 2026-04-24 to 2026-04-24"
    assert line in run("doctor", "--utc")[1]


def test_codex_deletes_nothing_and_has_a_list_of_prompts(run: Run, machine: Path) -> None:
    rollout = Rollout()
    rollout.user("juice the pears")
    rollout.assistant("done")
    rollout.write(machine)
    lines = [
        {"session_id": rollout.thread, "ts": 1_777_000_000, "text": "juice the pears"},
        {"session_id": OTHER, "ts": 1_777_000_001, "text": "peel them"},
        {"session_id": OTHER, "ts": None, "text": "again"},
        {"session_id": 7, "text": "?"},
    ]
    history = machine / ".codex/history.jsonl"
    history.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    told = agent(run, "codex")
    assert "deletion" not in told
    assert told["sessions"] == 1
    moment = 1_777_000_001_000
    assert told["lost"] == {
        "sessions": 1,
        "prompts": 2,
        "firstTime": moment,
        "lastTime": moment,
    }


def test_only_some_agents(run: Run, machine: Path) -> None:
    session(machine, "one")
    assert [each["agent"] for each in examined(run, "--agent", "codex")["agents"]] == ["codex"]


@pytest.mark.usefixtures("machine")
def test_the_sample(run: Run) -> None:
    told = examined(run, "--sample")
    assert all(each["sessions"] for each in told["agents"])


def test_settings_that_are_wrong_are_told(run: Run, machine: Path) -> None:
    path = machine / ".config/agtail/config.toml"
    path.parent.mkdir(parents=True)
    path.write_text('archive = "perhaps"\n')
    code, out, err = run("doctor")
    assert (code, err) == (1, "")
    assert f"settings  {path}: archive cannot be 'perhaps'" in out
    code, out, _ = run("doctor", "--json")
    assert code == 1
    assert json.loads(out)["settingsProblem"].startswith(str(path))


def test_a_store_that_is_damaged_is_told_and_left_alone(run: Run, machine: Path) -> None:
    session(machine, "one")
    store = machine / ".local/share/agtail/store/catalogue.sqlite"
    store.parent.mkdir(parents=True)
    store.write_bytes(b"no database" * 1000)
    code, out, _ = run("doctor")
    assert code == 1
    assert "damaged store; agtail index rebuild makes it anew" in out
    assert "1 session in 1 transcript" in out
    assert store.read_bytes() == b"no database" * 1000
    assert run("index", "rebuild")[0] == 0
    assert run("doctor")[0] == 0
