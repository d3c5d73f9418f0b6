from __future__ import annotations

import os
from pathlib import Path

import pytest
from claude_home import Session, write, write_lines

from agtail import History
from agtail.errors import AmbiguousSessionError, SessionNotFoundError, UnknownAgentError


def _home(tmp_path: Path, *names: str) -> Path:
    for day, name in enumerate(names, start=1):
        session = Session(name)
        session.user(f"prompt of {name}", timestamp=f"2026-05-{day:02d}T10:00:00.000Z")
        session.say("answer", timestamp=f"2026-05-{day:02d}T10:00:01.000Z")
        write(tmp_path, session)
    return tmp_path


def _history(home: Path, warnings: list[str] | None = None) -> History:
    return History(
        home=home,
        env={},
        agents=["claude-code"],
        warn=None if warnings is None else warnings.append,
    )


def test_sessions_are_newest_end_first(tmp_path: Path) -> None:
    history = _history(_home(tmp_path, "old", "mid", "new"))
    assert [session.id for session in history.sessions()] == ["new", "mid", "old"]
    assert [unit.id for unit in history.units()] == ["new", "mid", "old"]


@pytest.mark.parametrize("reference", ["abc-1", "abc", "claude-code:abc-1", "claude-code:ab"])
def test_session_by_id_or_unique_prefix(tmp_path: Path, reference: str) -> None:
    history = _history(_home(tmp_path, "abc-1", "xyz-1"))
    assert history.session(reference).session.id == "abc-1"


def test_session_by_path(tmp_path: Path) -> None:
    history = _history(_home(tmp_path, "abc-1", "xyz-1"))
    path = tmp_path / ".claude/projects/-home-dev-app/xyz-1.jsonl"
    assert history.session(str(path)).session.id == "xyz-1"


def test_ambiguous_prefix_lists_the_candidates(tmp_path: Path) -> None:
    history = _history(_home(tmp_path, "abc-1", "abc-2"))
    with pytest.raises(AmbiguousSessionError) as caught:
        history.session("abc")
    assert "claude-code:abc-1" in str(caught.value)
    assert "claude-code:abc-2" in str(caught.value)
    assert history.session("abc-2").session.id == "abc-2"


def test_same_id_in_two_projects_is_ambiguous_and_its_path_is_not(tmp_path: Path) -> None:
    session = Session("dup")
    session.user("one")
    write(tmp_path, session)
    other = Session("dup")
    other.user("two")
    for line in other.lines:
        line["uuid"] = "other"
    path = write(tmp_path, other, "-home-dev-else/dup.jsonl")
    history = _history(tmp_path)
    with pytest.raises(AmbiguousSessionError):
        history.session("dup")
    assert history.session(str(path)).events[0].text == "two"


@pytest.mark.parametrize("reference", ["", "claude-code:", "nope", "/no/such/file.jsonl"])
def test_missing_session(tmp_path: Path, reference: str) -> None:
    with pytest.raises(SessionNotFoundError):
        _history(_home(tmp_path, "abc-1")).session(reference)


def test_unknown_agent_names_the_valid_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownAgentError, match="claude-code, codex"):
        History(home=tmp_path, env={}, roots={"clod": "/x"})


def test_missing_home_is_an_empty_history(tmp_path: Path) -> None:
    warnings: list[str] = []
    assert _history(tmp_path / "nowhere", warnings).sessions() == []
    assert warnings == []


def test_file_that_vanishes_after_discovery_costs_one_line(tmp_path: Path) -> None:
    warnings: list[str] = []
    history = _history(_home(tmp_path, "gone", "here"), warnings)
    units = history.units()
    os.unlink(next(unit.path for unit in units if unit.id == "gone"))
    found = {each.session.id: each.session for each in history.transcripts(units)}
    assert found["here"].integrity is None
    health = found["gone"].integrity
    assert health is not None
    assert health.unreadable == "no such file or directory"
    assert len(warnings) == 1
    assert "gone.jsonl" in warnings[0]


def test_root_of_an_agent_can_be_named(tmp_path: Path) -> None:
    _home(tmp_path / "elsewhere", "abc-1")
    history = History(
        home=tmp_path,
        env={},
        roots={"claude-code": tmp_path / "elsewhere" / ".claude" / "projects"},
    )
    assert [session.id for session in history.sessions()] == ["abc-1"]


def test_environment_names_the_configuration_folder(tmp_path: Path) -> None:
    _home(tmp_path / "moved", "abc-1")
    history = History(home=tmp_path, env={"CLAUDE_CONFIG_DIR": str(tmp_path / "moved/.claude")})
    assert [session.id for session in history.sessions()] == ["abc-1"]


def test_collections_of_the_import_store_are_read_and_named(tmp_path: Path) -> None:
    session = Session("far")
    session.user("from a colleague")
    write(tmp_path / "x", session)
    store = tmp_path / "data/agtail/imported/team/claude-code"
    store.mkdir(parents=True)
    (tmp_path / "x/.claude/projects").rename(store / "projects")
    history = History(home=tmp_path, env={"XDG_DATA_HOME": str(tmp_path / "data")})
    (found,) = history.sessions()
    assert (found.id, found.imported, found.imported_from) == ("far", True, "team")


def test_linked_project_is_read_once(tmp_path: Path) -> None:
    _home(tmp_path, "abc-1")
    projects = tmp_path / ".claude/projects"
    (projects / "linked").symlink_to(projects / "-home-dev-app")
    (projects / "-home-dev-app" / "loop").symlink_to(projects)
    assert [session.id for session in _history(tmp_path).sessions()] == ["abc-1"]


def test_empty_file_and_metadata_only_file_are_not_listed(tmp_path: Path) -> None:
    write_lines(tmp_path, "-p/empty.jsonl", [])
    write_lines(tmp_path, "-p/state.jsonl", [{"type": "mode", "mode": "plan", "sessionId": "x"}])
    assert _history(tmp_path).sessions() == []
