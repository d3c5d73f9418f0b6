"""Raw transcripts are kept before the agent deletes them, and shown when it has."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from claude_home import Session, write

from agtail.errors import SettingsError, SourceError
from agtail.history import History


def _home(tmp_path: Path) -> dict[str, Path]:
    paths = {}
    for day, name in ((3, "newer"), (1, "older")):
        session = Session(name)
        session.user(f"prompt of {name}", timestamp=f"2026-05-0{day}T10:00:00.000Z")
        session.say("answer", timestamp=f"2026-05-0{day}T10:00:01.000Z")
        paths[name] = write(tmp_path, session)
    return paths


def _history(tmp_path: Path, warnings: list[str] | None = None) -> History:
    history = History(
        home=tmp_path,
        env={},
        agents=["claude-code"],
        store=True,
        warn=None if warnings is None else warnings.append,
    )
    history.refresh()
    return history


def test_deleted_transcript_is_shown_byte_for_byte(tmp_path: Path) -> None:
    paths = _home(tmp_path)
    before = paths["older"].read_bytes()
    history = _history(tmp_path)
    assert history.raw.keep() == 0
    paths["older"].unlink()
    history.refresh()
    found = history.session("older")
    assert found.session.source_gone
    with history.raw.open("claude-code", found.session.path) as stream:
        assert stream.read() == before
    src = found.events[1].src
    assert src is not None
    assert src.offset is not None
    assert src.length is not None
    record = history.raw.read("claude-code", found.session.path, src.offset, src.length)
    assert record == before.splitlines()[1]


def test_command_line_shows_what_only_the_archive_has(tmp_path: Path) -> None:
    paths = _home(tmp_path)
    before = paths["older"].read_bytes()

    def run(*arguments: str) -> bytes:
        return subprocess.run(
            [sys.executable, "-m", "agtail", *arguments],
            env={"HOME": str(tmp_path), "PATH": ""},
            capture_output=True,
            check=True,
        ).stdout

    run("list")  # which keeps some when it is done
    paths["older"].unlink()
    assert run("show", "older", "--raw") == before
    assert b"prompt of older" in run("grep", "prompt of older")


def test_without_a_copy_the_file_is_missed(tmp_path: Path) -> None:
    paths = _home(tmp_path)
    history = _history(tmp_path)
    paths["older"].unlink()
    with pytest.raises(SourceError, match="no such file"):
        history.raw.open("claude-code", str(paths["older"]))


def test_what_time_does_not_allow_is_kept_another_time(tmp_path: Path) -> None:
    paths = _home(tmp_path)
    history = _history(tmp_path)
    assert history.raw.keep(0.0) >= 1
    assert history.raw.keep() == 0
    for path in paths.values():
        path.unlink()
        history.raw.open("claude-code", str(path)).close()


def test_running_session_is_left_alone(tmp_path: Path) -> None:
    session = Session("live")
    session.user("go", timestamp=datetime.now(UTC).isoformat())
    path = write(tmp_path, session)
    history = _history(tmp_path)
    assert history.raw.keep() == 0
    path.unlink()
    with pytest.raises(SourceError):
        history.raw.open("claude-code", str(path))


def test_settings_turn_it_off_and_are_checked(tmp_path: Path) -> None:
    _home(tmp_path)
    config = tmp_path / ".config/agtail/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('archive = "off"\n')
    history = _history(tmp_path)
    assert history.raw.keep() == 0
    assert not (tmp_path / ".local/share/agtail/store/archive").exists()
    config.write_text('archive = "sometimes"\n')
    with pytest.raises(SettingsError, match="sometimes"):
        history.raw.keep()
