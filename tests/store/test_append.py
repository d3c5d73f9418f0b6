"""A transcript that grows is read on where it ended, and comes out as if it was read at once."""

from __future__ import annotations

import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from claude_home import Session, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agtail.agents.claude_code import reader
from agtail.assemble import Transcript
from agtail.history import History
from agtail.store import append, blocks, refresh
from agtail.store.changes import Change


@pytest.fixture(autouse=True)
def _always_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep checkpoints of the smallest and oldest files, and cut small blocks."""
    monkeypatch.setattr(reader, "WORTH_SPARING", 0)
    monkeypatch.setattr(refresh, "GROWING", 10**15)
    monkeypatch.setattr(blocks, "TEXT", 60)
    monkeypatch.setattr(blocks, "EVENTS", 5)
    monkeypatch.setattr(append, "TEXT", 60)
    monkeypatch.setattr(append, "EVENTS", 5)
    monkeypatch.setattr(append, "STEP", append.STEP)


def _story(seed: int, length: int) -> Session:
    """Make up a session in which everything happens that later records can change."""
    dice = random.Random(seed)
    session = Session()
    session.user("begin")
    calls: list[str] = []
    trail = [session.parent]
    for number in range(length):
        match dice.randrange(12):
            case 0:
                session.user(f"prompt {number}")
            case 1 | 2:
                usage = {"input_tokens": number, "output_tokens": dice.randrange(9)}
                session.say(f"says {number}", message_id=f"m{number // 3}", usage=usage)
            case 3:
                usage = {"input_tokens": 1, "output_tokens": dice.randrange(9)}
                thought = {"type": "thinking", "thinking": f"thinks {number}"}
                session.answer([thought], f"m{number // 3}", usage=usage)
            case 4 | 5:
                session.call("Bash", f"t{number}", command=f"run {number}")
                calls.append(f"t{number}")
            case 6 | 7 if calls:
                call = calls.pop(dice.randrange(len(calls)))
                session.result(call, f"result of {call}", is_error=dice.random() < 0.3)
            case 8:
                call = dice.choice([*calls, f"t{number + 1}"])
                session.attach(type="hook_success", hookEvent="PreToolUse", toolUseID=call)
            case 9:
                session.state("queue-operation", operation="enqueue", content=f"prompt {number}")
                session.state("mode", mode=dice.choice(["plan", "normal"]))
            case 10:
                session.state(
                    dice.choice(["custom-title", "ai-title"]),
                    customTitle=f"name {number}",
                    aiTitle=f"name {number}",
                )
            case _:
                session.parent = dice.choice(trail)  # a rewind, when a prompt follows
        trail.append(session.parent)
    return session


def _line(entry: dict[str, Any]) -> str:
    return f"{json.dumps(entry)}\n"


def _history(home: Path, *, store: bool = False, refresh: bool = True) -> History:
    return History(
        home=home,
        env={"XDG_DATA_HOME": str(home / "data")},
        agents=["claude-code"],
        store=store,
        refresh=refresh,
    )


def _only(found: list[Transcript]) -> Transcript:
    (transcript,) = found
    return transcript


def _assert_same(home: Path) -> None:
    fresh = _only(list(_history(home).transcripts()))
    history = _history(home, store=True, refresh=False)
    store = history.store
    assert store is not None
    stored = _only(list(store.transcripts()))
    assert list(stored.events) == list(fresh.events)
    assert stored.session == fresh.session
    store.close()


def _refresh(home: Path) -> Change:
    history = _history(home, store=True)
    change = history.refresh()
    assert change is not None
    assert history.store is not None
    history.store.close()
    return change


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 10**6),
    length=st.integers(1, 40),
    steps=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    often=st.booleans(),
)
def test_growing_step_by_step_equals_reading_at_once(
    *, seed: int, length: int, steps: list[int], often: bool
) -> None:
    append.STEP = 0 if often else 256 * 1024
    lines = [_line(entry) for entry in _story(seed, length).lines]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        path = write(home, Session())
        done = 1
        path.write_text("".join(lines[:done]))
        _refresh(home)
        for step in steps:
            with path.open("a") as stream:
                stream.writelines(lines[done : done + step])
            done += step
            _refresh(home)
            _assert_same(home)


def test_only_what_was_added_is_read(tmp_path: Path) -> None:
    session = Session()
    session.user("begin")
    session.call("Bash", "t1", command="ls")
    path = write(tmp_path, session)
    assert _refresh(tmp_path).read == 1
    session.result("t1", "app.py")
    with path.open("a") as stream:
        stream.write(_line(session.lines[-1]))
    change = _refresh(tmp_path)
    assert (change.read, change.grown) == (0, 1)
    _assert_same(tmp_path)


def test_torn_line_is_completed_later(tmp_path: Path) -> None:
    session = Session()
    session.user("begin")
    session.say("first")
    session.say("second")
    whole = [_line(entry) for entry in session.lines]
    path = write(tmp_path, Session())
    path.write_text("".join(whole[:2]) + whole[2][:30])
    _refresh(tmp_path)
    path.write_text("".join(whole))
    _refresh(tmp_path)
    _assert_same(tmp_path)


def test_rewritten_file_that_is_longer_is_read_again(tmp_path: Path) -> None:
    first = Session()
    first.user("begin")
    first.say("the old answer")
    path = write(tmp_path, first)
    _refresh(tmp_path)
    other = Session()
    other.user("begin quite differently")
    other.say("a new answer")
    other.say("and more")
    path.write_text("".join(_line(entry) for entry in other.lines))
    change = _refresh(tmp_path)
    assert (change.read, change.grown) == (1, 0)
    _assert_same(tmp_path)


def test_going_back_to_an_abandoned_branch_is_read_again(tmp_path: Path) -> None:
    session = Session()
    session.user("begin")
    fork = session.parent
    session.user("left")
    left = session.parent
    session.parent = fork
    session.user("right")
    path = write(tmp_path, session)
    _refresh(tmp_path)
    session.parent = left
    session.user("left again")
    with path.open("a") as stream:
        stream.write(_line(session.lines[-1]))
    change = _refresh(tmp_path)
    assert (change.read, change.grown) == (1, 0)
    _assert_same(tmp_path)


def test_new_name_beside_the_file_is_read_again(tmp_path: Path) -> None:
    session = Session()
    session.user("begin")
    path = write(tmp_path, session)
    _refresh(tmp_path)
    path.with_suffix("").mkdir()
    (path.with_suffix("") / "custom-title.json").write_text('{"customTitle": "named"}')
    session.say("more")
    with path.open("a") as stream:
        stream.write(_line(session.lines[-1]))
    os.utime(path)
    _refresh(tmp_path)
    _assert_same(tmp_path)
