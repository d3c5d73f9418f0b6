"""The shapes of Codex fit every record of its corpora and of the sample."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shapes import Find, check_programs, corpus_misfits, lines, sample_misfits

from agtail import schemas


def rollouts(home: Path, *, bare: bool) -> Iterator[tuple[str, Any]]:
    for where, record in lines(home / ".codex", "rollout-*.jsonl"):
        if isinstance(record, dict) and bare != ("payload" in record):
            yield where, record


def threads(home: Path) -> Iterator[tuple[str, Any]]:
    for path in home.rglob("state_*.sqlite"):
        connection = sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)
        connection.row_factory = sqlite3.Row
        for row in connection.execute("SELECT * FROM threads"):
            yield f"{path.name}: {row['id']}", dict(row)
        connection.close()


CASES: dict[str, tuple[Find, Any]] = {
    "rollout": (lambda home: rollouts(home, bare=False), schemas.CodexRolloutLine),
    "bare rollout": (lambda home: rollouts(home, bare=True), schemas.CodexBareLine),
    "history": (lambda home: lines(home / ".codex", "history.jsonl"), schemas.CodexHistoryEntry),
    "names": (
        lambda home: lines(home / ".codex", "session_index.jsonl"),
        schemas.CodexSessionIndexEntry,
    ),
    "threads": (threads, schemas.CodexThread),
}

PROGRAM = """
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


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_corpora_fits(case: str) -> None:
    assert corpus_misfits("codex", *CASES[case]) == []


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_sample_fits(case: str) -> None:
    assert sample_misfits(*CASES[case]) == []


@pytest.mark.slow
def test_a_type_checker_understands_a_program_that_uses_them(tmp_path: Path) -> None:
    check_programs(tmp_path, PROGRAM, "name")
