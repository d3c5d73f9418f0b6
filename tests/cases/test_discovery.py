"""Public reports about sessions that were missing, doubled, or in the wrong place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from claude_home import Session, read, transcripts, write
from codex_home import Rollout
from codex_home import transcripts as codex_transcripts

from agtail.history import History


def story(session_id: str, text: str = "Look at the orchard", **envelope: object) -> Session:
    session = Session(session_id, **envelope)
    session.user(text)
    session.say("It has 12 trees.")
    return session


def test_the_agents_own_index_is_never_believed(tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/21610: 139 of 654 sessions listed."""
    first = write(tmp_path, story("listed"))
    write(tmp_path, story("forgotten"))
    index = {"version": 1, "entries": [{"sessionId": "listed"}, {"sessionId": "invented"}]}
    (first.parent / "sessions-index.json").write_text(json.dumps(index))
    assert set(transcripts(tmp_path)) == {"listed", "forgotten"}


def _plain(path: Path) -> None:
    """Leave the file as it is."""
    assert path.exists()


def _packed(path: Path) -> None:
    path.with_name(f"{path.name}.zst").write_bytes(zstandard.compress(path.read_bytes()))
    path.unlink()


def _both(path: Path) -> None:
    path.with_name(f"{path.name}.zst").write_bytes(zstandard.compress(path.read_bytes()))


def _archived(path: Path) -> None:
    folder = path.parents[4] / "archived_sessions"
    folder.mkdir()
    path.rename(folder / path.name)


@pytest.mark.parametrize("fate", [_plain, _packed, _both, _archived])
def test_an_idle_rollout_stays_the_same_session(
    tmp_path: Path, fate: Callable[[Path], None]
) -> None:
    """https://github.com/vshulcz/deja-vu/issues/3640: all that was older than a week vanished."""
    rollout = Rollout()
    rollout.user("Look at the orchard")
    rollout.assistant("It has 12 trees.")
    fate(rollout.write(tmp_path))
    (found,) = codex_transcripts(tmp_path).values()
    assert found.session.id == rollout.thread
    assert found.session.messages == 2
    assert found.session.archived is (fate is _archived)


def test_the_folder_is_that_of_the_first_record_that_names_one(tmp_path: Path) -> None:
    """https://github.com/winfunc/opcode/pull/382: ``data-discovery`` became ``data/discovery``."""
    session = Session("s1", cwd=None)
    session.user("Look at the orchard")
    session.envelope["cwd"] = "/home/dev/data-discovery"
    session.say("It has 12 trees.")
    write(tmp_path, session, "-home-dev-data-discovery/s1.jsonl")
    assert transcripts(tmp_path)["s1"].session.cwd == "/home/dev/data-discovery"


def test_a_folder_name_is_never_decoded(tmp_path: Path) -> None:
    """https://github.com/winfunc/opcode/pull/382: without any record of it, it is unknown."""
    write(tmp_path, story("s1", cwd=None), "-home-dev-data-discovery/s1.jsonl")
    assert transcripts(tmp_path)["s1"].session.cwd is None


@pytest.mark.parametrize(
    "folder", ["/home/dev/data_pipeline", "/home/dev/My App (v2.0)", "/home/dev/größe", "D:\\a"]
)
def test_projects_are_found_by_their_real_path(tmp_path: Path, folder: str) -> None:
    """https://github.com/QoderAI/better-harness/issues/73: no sessions for a path with ``_``."""
    slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in folder)
    write(tmp_path, story("s1", cwd=folder), f"{slug}/s1.jsonl")
    write(tmp_path, story("s2", cwd="/home/other"), "-home-other/s2.jsonl")
    history = History(home=tmp_path, env={})
    hits = list(history.search("orchard", cwds=folder))
    assert [hit.session_id for hit in hits] == ["s1"]


def test_linked_projects_are_followed_and_counted_once(tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/46342: linked projects were skipped."""
    real = write(tmp_path / "dotfiles", story("s1")).parent
    projects = tmp_path / ".claude" / "projects"
    projects.mkdir(parents=True)
    (projects / "-home-dev-app").symlink_to(real)
    (projects / "-home-dev-again").symlink_to(real)
    (projects / "-home-dev-loop").symlink_to(projects)
    history = History(home=tmp_path, env={})
    assert [session.id for session in history.sessions()] == ["s1"]


def test_every_subagent_is_found_however_deep(tmp_path: Path) -> None:
    """https://github.com/giulio333/ClaudeLens/issues/86: workflow agents were never read."""
    write(tmp_path, story("parent"))
    for name in (
        "subagents/agent-a1.jsonl",
        "subagents/workflows/wf_1/agent-a2.jsonl",
        "subagents/workflows/wf_1/deeper/agent-a3.jsonl",
    ):
        child = story("parent", isSidechain=True, agentId=Path(name).stem.removeprefix("agent-"))
        write(tmp_path, child, f"-home-dev-app/parent/{name}")
    walked = [
        name
        for _, _, names in os.walk(tmp_path / ".claude")
        for name in names
        if name.endswith(".jsonl")
    ]
    history = History(home=tmp_path, env={})
    assert len(history.units()) == len(walked) == 4
    assert len(history.sessions()) == 4


def test_subagents_belong_to_their_session_and_are_not_sessions(tmp_path: Path) -> None:
    """https://github.com/itlackey/akm/issues/829: 796 of 871 sessions were agent files."""
    write(tmp_path, story("parent"))
    child = story("parent", "Count the bushes", isSidechain=True, agentId="a1")
    write(tmp_path, child, "-home-dev-app/parent/subagents/agent-a1.jsonl")
    found = transcripts(tmp_path)
    assert [each.session.id for each in found.values() if not each.session.is_subagent] == [
        "parent"
    ]
    (subagent,) = [each.session for each in found.values() if each.session.is_subagent]
    assert subagent.parent_id == "parent"
    assert subagent.id.endswith("a1")
    history = History(home=tmp_path, env={})
    assert [hit.session_id for hit in history.search("bushes")] == [subagent.id]


def test_one_unreadable_source_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    """https://github.com/anthropics/claude-code/issues/21610, its kind: nothing goes silently."""
    projects = write(tmp_path, story("good")).parent
    (projects / "folder.jsonl").mkdir()
    (projects / "dangling.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(projects / "pipe.jsonl")
    warnings: list[str] = []
    history = History(home=tmp_path, env={}, warn=warnings.append)
    found = {session.id: session for session in history.sessions()}
    assert set(found) == {"good", "folder", "pipe"}
    for name, reason in (("folder", "is a directory"), ("pipe", "not a regular file")):
        health = found[name].integrity
        assert health is not None
        assert health.unreadable == reason
    assert sorted(line.partition("projects/")[2].partition("/")[2] for line in warnings) == [
        "dangling.jsonl: no such file or directory; skipped",
        "folder.jsonl: is a directory; skipped",
        "pipe.jsonl: not a regular file; skipped",
    ]


def test_names_that_are_not_utf8_do_not_break_the_rest(tmp_path: Path) -> None:
    """https://github.com/simonw/claude-code-transcripts/issues/6, its kind: names are bytes."""
    source = write(tmp_path, story("s1"))
    folder = os.fsencode(source.parent.parent) + b"/caf\xe9"
    os.mkdir(folder)
    os.rename(source, folder + b"/\xff.jsonl")
    write(tmp_path, story("s2"))
    history = History(home=tmp_path, env={})
    sessions = history.sessions()
    assert len(sessions) == 2
    hits = list(history.search("orchard"))
    assert len(hits) == 2
    for hit in hits:
        json.dumps(hit.session_id).encode()


def test_reading_a_session_is_the_same_wherever_it_lies(tmp_path: Path) -> None:
    """https://github.com/vshulcz/deja-vu/issues/3640: a move is no deletion and no new session."""
    session = story("s1")
    here = read(tmp_path / "a", session)
    write(tmp_path / "b", session, "-another-place/s1.jsonl")
    there = transcripts(tmp_path / "b")["s1"]
    assert list(here.events) == list(there.events)
    assert here.session.id == there.session.id
