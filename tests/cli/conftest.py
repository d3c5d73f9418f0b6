"""Builders of sessions and events, and a home with transcripts, for the command line's tests."""

from __future__ import annotations

import io
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agtail.__main__ import main
from agtail.cli.wording import Wording
from agtail.instants import parse_instant
from agtail.model import Event, Kind, Session

GOLDEN = Path(__file__).parent.parent / "golden"
ROOTS = ["--claude-dir", "claude/projects", "--codex-dir", "codex/sessions"]

Build = Callable[..., Event]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def wording() -> Wording:
    """Names of the two agents, times in UTC, a home that no test path lies in."""
    return Wording({"claude-code": "claude", "codex": "codex"}, utc=True, home="/home/someone")


@pytest.fixture
def event() -> Build:
    """Build an event, its instant filled in as the assembler does."""

    def build(
        kind: Kind = "text", ts: str | None = "2026-05-01T08:00:02Z", **fields: object
    ) -> Event:
        return Event(kind=kind, ts=ts, time=parse_instant(ts), **fields)  # type: ignore[arg-type]

    return build


@pytest.fixture
def session() -> Callable[..., Session]:
    """Build a session that ended on May 1st."""

    def build(session_id: str = "11111111-aaaa", **fields: object) -> Session:
        given: dict[str, object] = {
            "agent": "claude-code",
            "path": f"/t/{session_id}.jsonl",
            "cwd": "/work/pears",
            "title": "Count the pears",
            "ended": "2026-05-01T08:00:19Z",
            "messages": 3,
        }
        given |= fields
        ended = given["ended"]
        given["ended_time"] = parse_instant(str(ended)) if ended else None
        return Session(id=session_id, **given)  # type: ignore[arg-type]

    return build


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a copy of the golden input, with the times that it was recorded with, in UTC."""
    shutil.copytree(GOLDEN / "input", tmp_path, dirs_exist_ok=True)
    for name, seconds in json.loads((GOLDEN / "mtimes.json").read_text()).items():
        os.utime(tmp_path / name, (seconds, seconds))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    yield tmp_path
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be at home in an empty folder, where agents can have left something by default."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in (
        *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "NO_COLOR"),
        *("XDG_DATA_HOME", "XDG_CONFIG_HOME"),
    ):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command line in this process: exit code, standard output, standard error.

    The working directory is taken out of what is printed: it is another one every time.
    """
    here = f"{os.getcwd()}/"

    def call(*arguments: str) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        code = main(arguments)
        out, err = capfdbinary.readouterr()
        return code, out.decode().replace(here, ""), err.decode().replace(here, "")

    return call


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal() -> io.StringIO:
    """A stream that says it is a terminal."""
    return Terminal()
