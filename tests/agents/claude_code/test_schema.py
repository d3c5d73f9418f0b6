"""The shapes of Claude Code fit every record of its corpora and of the sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shapes import Find, check_programs, corpus_misfits, lines, sample_misfits

from agtail import schemas

INVENTED = {"brand-new-record"}
"""Types that a corpus made up to stand for versions to come."""


def sessions(home: Path) -> Iterator[tuple[str, Any]]:
    for pattern in ("agent-*.jsonl", "projects/*/*-*-*-*-*.jsonl"):
        for where, record in lines(home / ".claude", pattern):
            if isinstance(record, dict) and record.get("type") not in INVENTED:
                yield where, record


CASES: dict[str, tuple[Find, Any]] = {
    "session": (sessions, schemas.ClaudeSessionEntry),
    "history": (
        lambda home: lines(home / ".claude", "history.jsonl"),
        schemas.ClaudeHistoryEntry,
    ),
}

PROGRAM = """
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


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_corpora_fits(case: str) -> None:
    assert corpus_misfits("claude-code", *CASES[case]) == []


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_sample_fits(case: str) -> None:
    assert sample_misfits(*CASES[case]) == []


@pytest.mark.slow
def test_a_type_checker_understands_a_program_that_uses_them(tmp_path: Path) -> None:
    check_programs(tmp_path, PROGRAM, "name")
