"""The published shapes are true: every record of the corpora fits, and type checkers use them."""

from __future__ import annotations

import importlib
import json
import sqlite3
import subprocess
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agtail import schemas
from agtail.sample import sample_home

CORPORA = Path(__file__).parents[1] / "corpora"

MODULES = {
    "agtail.agents.claude_code.schema": "Claude",
    "agtail.agents.codex.schema": "Codex",
    "agtail.agents.gemini_cli.schema": "Gemini",
    "agtail.agents.pi.schema": "Pi",
    "agtail.agents.omp.schema": "Omp",
}
"""Modules of shapes, and how their names begin."""


def misfits(value: Any, shape: Any, where: str = "") -> list[str]:
    """Say how a decoded value differs from a type: wrong types, missing keys, unknown keys."""
    origin, arguments = typing.get_origin(shape), typing.get_args(shape)
    if shape in (object, Any):
        return []
    if typing.is_typeddict(shape):
        return _dict_misfits(value, shape, where)
    if origin in (types.UnionType, typing.Union):
        return _union_misfits(value, arguments, where)
    if origin is typing.Literal:
        return [] if value in arguments else [f"{where}: {value!r} is none of {arguments}"]
    if origin in (typing.Required, typing.NotRequired):
        return misfits(value, arguments[0], where)
    if origin is list:
        if not isinstance(value, list):
            return [f"{where}: {type(value).__name__} for a list"]
        return [fault for item in value for fault in misfits(item, arguments[0], f"{where}[]")]
    if origin is dict:
        if not isinstance(value, dict):
            return [f"{where}: {type(value).__name__} for an object"]
        return [
            fault
            for key, item in value.items()
            for fault in misfits(item, arguments[1], f"{where}.{key}")
        ]
    return _plain_misfits(value, shape, where)


def _dict_misfits(value: Any, shape: Any, where: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{where}: {type(value).__name__} for {shape.__name__}"]
    hints = typing.get_type_hints(shape)
    faults = [f"{where}.{key}: missing" for key in shape.__required_keys__ if key not in value]
    for key, item in value.items():
        if key not in hints:
            faults.append(f"{where}.{key}: not described by {shape.__name__}")
        else:
            faults.extend(misfits(item, hints[key], f"{where}.{key}"))
    return faults


def _union_misfits(value: Any, members: tuple[Any, ...], where: str) -> list[str]:
    """Return the faults against the member that fits best: the one with the fewest."""
    return min((misfits(value, member, where) for member in members), key=len)


def _plain_misfits(value: Any, shape: Any, where: str) -> list[str]:
    wanted = type(None) if shape is None else shape
    if wanted is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = type(value) is wanted
    return [] if fits else [f"{where}: {type(value).__name__} for {shape}"]


def lines(folder: Path, pattern: str) -> Iterator[tuple[str, Any]]:
    for path in sorted(folder.rglob(pattern)):
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            try:
                yield f"{path.relative_to(folder)}:{number}", json.loads(line)
            except ValueError:  # damaged on purpose, or the end of the file
                continue


INVENTED = {"brand-new-record", "plan_state"}
"""Types that a corpus made up to stand for versions to come."""


def claude_sessions(home: Path) -> Iterator[tuple[str, Any]]:
    yield from lines(home, "agent-*.jsonl")
    yield from lines(home, "projects/*/*-*-*-*-*.jsonl")


def codex_rollouts(home: Path) -> Iterator[tuple[str, Any]]:
    return (found for found in lines(home, "rollout-*.jsonl") if "payload" in found[1])


def codex_bare_rollouts(home: Path) -> Iterator[tuple[str, Any]]:
    return (found for found in lines(home, "rollout-*.jsonl") if "payload" not in found[1])


def gemini_sessions(home: Path) -> Iterator[tuple[str, Any]]:
    return lines(home, "tmp/*/chats/**/*.jsonl")


def gemini_documents(home: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(home.glob("tmp/*/chats/*.json")):
        yield path.name, json.loads(path.read_text("utf-8"))


def gemini_prompts(home: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(home.glob("tmp/*/logs.json")):
        for number, entry in enumerate(json.loads(path.read_text("utf-8"))):
            yield f"{path.name}:{number}", entry


def omp_sessions(home: Path) -> Iterator[tuple[str, Any]]:
    return lines(home, "*.jsonl")


def pi_sessions(home: Path) -> Iterator[tuple[str, Any]]:
    return lines(home, "*.jsonl")


CASES: dict[str, tuple[str, Callable[[Path], Iterator[tuple[str, Any]]], Any]] = {
    "claude session": (".claude", claude_sessions, schemas.ClaudeSessionEntry),
    "claude history": (
        ".claude",
        lambda home: lines(home, "history.jsonl"),
        schemas.ClaudeHistoryEntry,
    ),
    "codex rollout": (".codex", codex_rollouts, schemas.CodexRolloutLine),
    "codex bare rollout": (".codex", codex_bare_rollouts, schemas.CodexBareLine),
    "codex history": (
        ".codex",
        lambda home: lines(home, "history.jsonl"),
        schemas.CodexHistoryEntry,
    ),
    "gemini session": (".gemini", gemini_sessions, schemas.GeminiConversationRecord),
    "gemini document": (".gemini", gemini_documents, schemas.GeminiConversation),
    "gemini prompts": (".gemini", gemini_prompts, schemas.GeminiLogEntry),
    "omp session": (".omp", omp_sessions, schemas.OmpEntry),
    "pi session": (".pi", pi_sessions, schemas.PiEntry),
    "codex names": (
        ".codex",
        lambda home: lines(home, "session_index.jsonl"),
        schemas.CodexSessionIndexEntry,
    ),
}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"ts": "1"}, ".ts: str for <class 'int'>"),
        ({"ts": True}, ".ts: bool for <class 'int'>"),
        ({"extra": 1}, ".extra: not described by CodexHistoryEntry"),
    ],
)
def test_the_comparison_sees_what_does_not_fit(change: dict[str, object], fault: str) -> None:
    entry = {"session_id": "a", "ts": 1, "text": "b"}
    assert misfits(entry, schemas.CodexHistoryEntry) == []
    assert misfits({**entry, **change}, schemas.CodexHistoryEntry) == [fault]
    assert misfits({"text": "b", "ts": 1}, schemas.CodexHistoryEntry) == [".session_id: missing"]


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_corpora_fits(case: str) -> None:
    folder, find, shape = CASES[case]
    faults, records = set[str](), 0
    for home in sorted(CORPORA.glob(f"*/*/{folder}")):
        for where, record in find(home):
            if isinstance(record, dict) and record.get("type") not in INVENTED:
                records += 1
                faults.update(f"{where}{fault}" for fault in misfits(record, shape))
    assert records
    assert sorted(faults)[:20] == []


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_sample_fits(case: str) -> None:
    folder, find, shape = CASES[case]
    found = find(sample_home() / folder)
    assert [f"{where}{fault}" for where, record in found for fault in misfits(record, shape)] == []


def test_the_rows_of_the_codex_index_fit() -> None:
    rows = 0
    for path in (CORPORA / "codex").rglob("state_*.sqlite"):
        connection = sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)
        connection.row_factory = sqlite3.Row
        for row in connection.execute("SELECT * FROM threads"):
            assert misfits(dict(row), schemas.CodexThread) == []
            rows += 1
        connection.close()
    assert rows


@pytest.mark.parametrize("name", MODULES)
def test_all_shapes_are_published(name: str) -> None:
    module = importlib.import_module(name)
    own = {
        key
        for key, value in vars(module).items()
        if key.startswith(MODULES[name])
        and (getattr(value, "__module__", name) == name or typing.get_args(value))
    }
    assert len(own) > 10
    assert {key for key in own if getattr(schemas, key, None) is getattr(module, key)} == own


CLAUDE_PROGRAM = """
import json
from agtail.schemas import ClaudeSessionEntry

def commands(line: str) -> list[str]:
    entry: ClaudeSessionEntry = json.loads(line)
    if entry["type"] != "assistant":
        return []
    names = []
    for block in entry["message"]["content"]:
        if block["type"] == "tool_use":
            names.append(block["name"])
    return names
"""

CODEX_PROGRAM = """
import json
from agtail.schemas import CodexHistoryEntry, CodexRolloutLine

def calls(line: str) -> list[str]:
    entry: CodexRolloutLine = json.loads(line)
    if entry["type"] == "response_item":
        item = entry["payload"]
        if item["type"] == "function_call":
            return [item["name"]]
    return []

def prompt(line: str) -> tuple[str, int]:
    entry: CodexHistoryEntry = json.loads(line)
    return entry["text"], entry["ts"]
"""


PI_PROGRAM = """
import json
from agtail.schemas import PiEntry

def calls(line: str) -> list[str]:
    entry: PiEntry = json.loads(line)
    if entry["type"] == "message":
        message = entry["message"]
        if message["role"] == "assistant":
            blocks = message["content"] or []
            return [block["name"] for block in blocks if block["type"] == "toolCall"]
    return []
"""

PROGRAMS = {"claude": CLAUDE_PROGRAM, "codex": CODEX_PROGRAM, "pi": PI_PROGRAM}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
@pytest.mark.parametrize("mistake", [False, True])
def test_a_type_checker_understands_programs_that_use_them(
    tmp_path: Path, program: str, *, mistake: bool
) -> None:
    """The sample program passes, and one that misspells a field does not."""
    text = program.replace('["name"]', '["nmae"]').replace('["text"]', '["txet"]')
    path = tmp_path / "program.py"
    path.write_text(text if mistake else program)
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}/cache", str(path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == mistake, result.stdout
    assert ("has no key" in result.stdout) == mistake
