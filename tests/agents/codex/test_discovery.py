"""Where rollouts are found, which files make one session, and what it is called."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from codex_home import OTHER, OWN, Rollout, read, texts, transcripts

from agtail.agents.base import Surroundings, Unit
from agtail.agents.codex.adapter import Codex
from agtail.errors import SourceError
from agtail.history import History

SEGMENT = "01a22e10-0000-7000-8000-000000000003"


@pytest.fixture
def rollout() -> Rollout:
    lines = Rollout()
    lines.user("Where am I?")
    return lines


def pack(path: Path) -> Path:
    packed = path.with_name(f"{path.name}.zst")
    packed.write_bytes(zstandard.ZstdCompressor().compress(path.read_bytes()))
    return packed


def units(home: Path) -> list[Unit]:
    return History(home=home, env={}, agents=["codex"]).units()


def test_packed_rollouts_are_read(tmp_path: Path, rollout: Rollout) -> None:
    path = rollout.write(tmp_path)
    packed = pack(path)
    path.unlink()
    session = transcripts(tmp_path)[OWN].session
    assert (session.path, session.title) == (str(packed), "Where am I?")


@pytest.mark.parametrize("damage", [None, Path.mkdir, Path.touch])
def test_a_pair_of_plain_and_packed_counts_once(
    tmp_path: Path, rollout: Rollout, damage: Callable[[Path], None] | None
) -> None:
    path = rollout.write(tmp_path)
    packed = pack(path)
    if damage is not None:
        path.unlink()
        damage(path)
    expected = path if damage is None else packed
    assert [unit.path for unit in units(tmp_path)] == [str(expected)]
    assert transcripts(tmp_path)[OWN].session.messages == 1


def test_archived_threads_keep_their_id(tmp_path: Path, rollout: Rollout) -> None:
    rollout.write(tmp_path, "archived_sessions")
    assert transcripts(tmp_path)[OWN].session.archived
    rollout.write(tmp_path)
    assert not transcripts(tmp_path)[OWN].session.archived


def test_other_files_are_no_sessions(tmp_path: Path, rollout: Rollout) -> None:
    rollout.write(tmp_path, name="notes.jsonl")
    rollout.write(tmp_path, name=f"{rollout.name}.lock")
    rollout.write(tmp_path, name=rollout.name.replace(".jsonl", ".json"))
    assert units(tmp_path) == []


def test_the_first_versions_wrote_one_document(tmp_path: Path) -> None:
    path = tmp_path / ".codex/sessions/rollout-2025-05-01-0d3f.json"
    path.parent.mkdir(parents=True)
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    call = {"type": "local_shell_call", "id": "l1", "action": {"type": "exec", "command": ["ls"]}}
    document = {
        "session": {"id": "0d3f", "timestamp": "2025-05-01T00:00:00Z"},
        "items": [said, call],
    }
    path.write_text(json.dumps(document))
    found = transcripts(tmp_path)["0d3f"]
    assert found.session.title == "Hi"
    assert found.session.tools == {"local_shell": 1}
    assert found.session.started == "2025-05-01T00:00:00Z"


def test_codex_home_and_an_explicit_root(tmp_path: Path, rollout: Rollout) -> None:
    rollout.write(tmp_path)
    rollout.thread = OTHER
    rollout.lines[0]["payload"]["id"] = OTHER
    rollout.write(tmp_path, "archived_sessions")
    home = tmp_path / ".codex"
    elsewhere = History(home=tmp_path / "no", env={"CODEX_HOME": str(home)}, agents=["codex"])
    rooted = History(home=tmp_path, env={}, agents=["codex"], roots={"codex": home / "sessions"})
    for history in (elsewhere, rooted):
        assert {each.id: each.archived for each in history.sessions()} == {OWN: False, OTHER: True}


def test_imported_collections(tmp_path: Path, rollout: Rollout) -> None:
    store = tmp_path / ".local/share/agtail/imported/laptop/codex"
    rollout.write(tmp_path, str(store / "sessions"))
    session = transcripts(tmp_path)[OWN].session
    assert (session.imported, session.imported_from) == (True, "laptop")


def test_a_rewind_continues_in_another_file_of_the_same_session(tmp_path: Path) -> None:
    first = Rollout()
    for prompt in ("kept", "given up"):
        first.event("task_started")
        first.user(prompt)
        first.event("task_complete")
    second = Rollout(history_base={"thread_id": OWN, "end_ordinal_exclusive": 5})
    second.event("task_started")
    second.user("instead")
    second.event("task_complete")
    for ordinal, line in enumerate(first.lines):
        line["ordinal"] = ordinal
    for ordinal, line in enumerate(second.lines, 5):
        line["ordinal"] = ordinal
    older = first.write(tmp_path)
    # The name holds local time: after a change of the clock the newer file sorts first.
    newer = second.write(tmp_path, name=f"rollout-2026-05-01T09-00-00-{OWN}_{SEGMENT}.jsonl")
    (unit,) = units(tmp_path)
    assert unit.parts == (str(older), str(newer))
    assert unit.path == str(newer)
    found = transcripts(tmp_path)[OWN]
    assert texts(found) == ["kept", "given up", "instead"]
    assert [event.text for event in found.events if event.rewound and event.kind == "text"] == [
        "given up"
    ]
    assert (found.session.branches, found.session.fork_of) == (1, None)
    assert {event.src.path for event in found.events if event.src} == {str(older), None}


def test_one_unreadable_segment_does_not_hide_the_others(tmp_path: Path, rollout: Rollout) -> None:
    rollout.write(tmp_path)
    broken = rollout.name.replace(".jsonl", f"_{SEGMENT}.jsonl")
    (tmp_path / ".codex/sessions/2026/05/01" / broken).mkdir()
    session = transcripts(tmp_path)[OWN].session
    assert session.messages == 1
    assert session.integrity is not None
    assert session.integrity.unreadable == f"{broken}: is a directory"


def test_the_last_line_of_the_index_names_a_thread(tmp_path: Path, rollout: Rollout) -> None:
    rollout.write(tmp_path)
    before = units(tmp_path)[0].mtime_ns
    index = tmp_path / ".codex/session_index.jsonl"
    names = [("first", "2026-05-01T10:00:00Z"), ("second", "2026-05-02T10:00:00Z")]
    lines = [json.dumps({"id": OWN, "thread_name": n, "updated_at": at}) for n, at in names]
    index.write_text("\n".join(lines), "utf-8")
    assert transcripts(tmp_path)[OWN].session.title == "second"
    (unit,) = units(tmp_path)
    assert unit.mtime_ns == 1_777_716_000_000_000_000 > before
    assert unit.sidecars == ()


def test_a_rename_is_noticed_by_a_history_that_lives_on(tmp_path: Path, rollout: Rollout) -> None:
    rollout.write(tmp_path)
    history = History(home=tmp_path, env={}, agents=["codex"])
    assert [each.title for each in history.sessions()] == ["Where am I?"]
    entry = {"id": OWN, "thread_name": "found", "updated_at": "2026-05-02T10:00:00Z"}
    (tmp_path / ".codex/session_index.jsonl").write_text(json.dumps(entry), "utf-8")
    assert [each.title for each in history.sessions()] == ["found"]


def state(home: Path, generation: int, columns: str, *values: str | int) -> None:
    path = home / ".codex" / f"state_{generation}.sqlite"
    path.parent.mkdir(exist_ok=True)
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE threads ({columns})")
        marks = ", ".join("?" * len(values))
        database.execute(f"INSERT INTO threads VALUES ({marks})", values)
    database.close()


def test_the_newest_state_names_a_thread_with_the_columns_it_has(
    tmp_path: Path, rollout: Rollout
) -> None:
    rollout.write(tmp_path)
    state(tmp_path, 4, "id, title", OWN, "from an older schema")
    assert transcripts(tmp_path)[OWN].session.title == "from an older schema"
    state(tmp_path, 10, "id, name, title, updated_at", OWN, "a human's", "made up", 1_777_716_000)
    assert transcripts(tmp_path)[OWN].session.title == "a human's"
    assert units(tmp_path)[0].mtime_ns == 1_777_716_000_000_000_000


def test_a_damaged_state_costs_one_line(tmp_path: Path, rollout: Rollout) -> None:
    rollout.write(tmp_path)
    (tmp_path / ".codex/state_5.sqlite").write_bytes(b"SQLite format 3\0 but not for long" * 40)
    warnings: list[str] = []
    found = transcripts(tmp_path, warn=warnings.append)
    assert found[OWN].session.title == "Where am I?"
    assert len(warnings) == 1
    assert "state_5.sqlite" in warnings[0]


def test_a_missing_folder_is_no_problem(tmp_path: Path) -> None:
    errors: list[SourceError] = []
    adapter = Codex(Surroundings(home=tmp_path, env={}))
    assert list(adapter.units(adapter.find(errors.append), errors.append)) == []
    assert errors == []
    assert list(adapter.transfer_files()) == []


def test_what_goes_into_an_export(tmp_path: Path, rollout: Rollout) -> None:
    active = rollout.write(tmp_path)
    archived = rollout.write(tmp_path, "archived_sessions", rollout.name.replace(OWN, OTHER))
    index = tmp_path / ".codex/session_index.jsonl"
    index.write_text("", "utf-8")
    adapter = Codex(Surroundings(home=tmp_path, env={}))
    assert sorted(adapter.transfer_files()) == sorted(map(str, (active, archived, index)))
    assert adapter.roots() == [tmp_path / ".codex/sessions", tmp_path / ".codex/archived_sessions"]


def test_units_are_put_in_order_by_their_latest_record(tmp_path: Path, rollout: Rollout) -> None:
    path = rollout.write(tmp_path)
    assert units(tmp_path)[0].touched == 1_777_629_602_000
    path.write_text("{}\n")
    os.utime(path, (1000, 1000))
    assert units(tmp_path)[0].touched == 1_000_000


@pytest.mark.parametrize(
    ("facts", "programmatic"),
    [
        ({"source": "exec"}, True),
        ({"source": "mcp"}, True),
        ({"source": "cli", "originator": "codex_cli_rs"}, False),
        ({"source": {"custom": "x"}, "originator": "codex_sdk_ts"}, True),
        ({"source": {"custom": "x"}, "originator": "Codex Desktop"}, False),
        ({"source": "unknown", "originator": "another"}, None),
        ({}, None),
    ],
)
def test_who_started_it(tmp_path: Path, facts: dict[str, Any], programmatic: object) -> None:
    rollout = Rollout(**facts)
    rollout.user("hello")
    assert read(tmp_path, rollout).session.programmatic is programmatic


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ({"subagent": "review"}, "review"),
        ({"subagent": {"other": "memories"}}, "memories"),
        (
            {"subagent": {"thread_spawn": {"agent_nickname": "Kuhn", "agent_role": "worker"}}},
            "Kuhn",
        ),
        ({"subagent": {"thread_spawn": {"agent_role": "worker"}}}, "worker"),
    ],
)
def test_subagents_have_a_name_and_a_parent(tmp_path: Path, source: object, name: str) -> None:
    rollout = Rollout(source=source, parent_thread_id=OTHER, session_id="the-root")
    rollout.user("look")
    session = read(tmp_path, rollout).session
    assert (session.agent_name, session.is_subagent) == (name, True)
    assert (session.parent_id, session.parent_agent_id) == (OTHER, OTHER)
