"""The shapes of Pi fit every record of its corpora and of the sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shapes import Find, check_programs, corpus_misfits, lines, sample_misfits

from agtail import schemas

INVENTED = {"plan_state"}
"""Types that a corpus made up to stand for versions to come."""


def sessions(home: Path) -> Iterator[tuple[str, Any]]:
    for where, record in lines(home / ".pi", "*.jsonl"):
        if record.get("type") not in INVENTED:
            yield where, record


CASES: dict[str, tuple[Find, Any]] = {
    "session": (sessions, schemas.PiEntry),
}

PROGRAM = """
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


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_corpora_fits(case: str) -> None:
    assert corpus_misfits("pi", *CASES[case]) == []


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_sample_fits(case: str) -> None:
    assert sample_misfits(*CASES[case]) == []


@pytest.mark.slow
def test_a_type_checker_understands_a_program_that_uses_them(tmp_path: Path) -> None:
    check_programs(tmp_path, PROGRAM, "name")
