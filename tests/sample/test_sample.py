"""The bundled history: it is whole, it shows what it promises, and a wheel carries it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from agtail.history import History
from agtail.model import KINDS
from agtail.sample import sample_home

ROOT = Path(__file__).parents[2]

HEALTHZ = "5b1f0c52-6f0e-4c39-9a55-0d6f3f1c7a01"
HELPER = "a4f1c2d97b60e5381"
MIDNIGHT = "92c3e6f4-18b0-4a7d-9d52-6ab0f7e41c88"
REVIEW = "0e9b6f12-77ad-4d0f-b6c3-91a5e4c80d37"
CONSTANTS = "c7a41d90-2b55-4c1e-8a07-3f6e8d21b9e4"
DOWNLOADS = "019de900-4410-79de-9239-7e9a9ecfc361"
ROUNDING = "019d8d64-1e00-7a33-9b52-0c1d2e3f4a5b"
FRENCH = "6f3d9b52-8a40-4c17-9e21-5d0c7b8a1f34"
TABLES = "019db00a-5c38-7d21-8e4f-6a1b2c3d4e5f"
QUESTION = "019cbd83-2330-7c61-a259-03e3277b8de0"


@pytest.fixture(scope="module")
def history() -> History:
    lines: list[str] = []
    sample = History(home=sample_home(), env={}, warn=lines.append)
    sample.sessions()
    assert lines == []
    return sample


def test_sessions_come_newest_first(history: History) -> None:
    sessions = history.sessions()
    assert [session.id for session in sessions[:4]] == [HEALTHZ, HELPER, DOWNLOADS, MIDNIGHT]
    ends = [session.ended_time or 0 for session in sessions]
    assert ends == sorted(ends, reverse=True)


def test_nothing_in_it_is_damaged_or_unknown(history: History) -> None:
    for transcript in history.transcripts():
        assert transcript.session.integrity is None
        assert [event.text for event in transcript.events if event.kind == "unknown"] == []


def test_it_shows_what_there_is_to_show(history: History) -> None:
    sessions = {session.id: session for session in history.sessions()}
    assert sessions[HEALTHZ].title == "Healthz endpoint"
    assert sessions[HELPER].parent_id == HEALTHZ
    assert sessions[HELPER].agent_name == "Explore"
    assert sessions[MIDNIGHT].compactions == 1
    assert sessions[REVIEW].programmatic
    assert sessions[REVIEW].origin == "sdk-cli"
    assert sessions[CONSTANTS].ending == "interrupted"
    assert sessions[DOWNLOADS].title == "Resumable downloads"
    assert sessions[DOWNLOADS].tools == {"exec_command": 7}
    assert sessions[TABLES].title == "Missing May tables"
    assert sessions[ROUNDING].title == "Rounding of tide heights"
    assert sessions[FRENCH].cwd == "/home/dev/projects/tidewise"
    assert sessions[QUESTION].archived
    assert all(session.usage for session in sessions.values())


def test_it_has_every_kind_of_event_that_is_not_a_sign_of_trouble(history: History) -> None:
    kinds = {event.kind for transcript in history.transcripts() for event in transcript.events}
    assert kinds == set(KINDS) - {"unknown", "tool_result"}


def test_hooks_name_the_tool_that_triggered_them(history: History) -> None:
    events = history.session(HEALTHZ).events
    hooks = {(event.hook_event, event.tool) for event in events if event.kind == "hook"}
    assert hooks == {("PreToolUse", "Bash"), ("PostToolUse", "Edit"), ("Stop", None)}


def test_the_picture_that_was_pasted_is_described(history: History) -> None:
    [image] = [image for event in history.session(MIDNIGHT).events for image in event.images]
    assert (image.media_type, image.size) == ("image/png", 73)


def test_the_deletion_is_found(history: History) -> None:
    [hit] = history.search("rm -rf")
    assert (hit.session_id, hit.tool) == (MIDNIGHT, "Bash")


@pytest.mark.slow
def test_a_wheel_carries_all_of_it(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [wheel] = tmp_path.iterdir()
    packed = {
        name.removeprefix("agtail/sample/home/") for name in zipfile.ZipFile(wheel).namelist()
    }
    files = {
        path.relative_to(sample_home()).as_posix()
        for path in sample_home().rglob("*")
        if path.is_file()
    }
    assert len(files) >= 10
    assert files <= packed
