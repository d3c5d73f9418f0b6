"""The shapes of Gemini CLI fit every record of its corpora and of the sample."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shapes import Find, check_programs, corpus_misfits, lines, sample_misfits

from agtail import schemas


def documents(home: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(home.glob(".gemini/tmp/*/chats/*.json")):
        yield path.name, json.loads(path.read_text("utf-8"))


def prompts(home: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(home.glob(".gemini/tmp/*/logs.json")):
        for number, entry in enumerate(json.loads(path.read_text("utf-8"))):
            yield f"{path.name}:{number}", entry


CASES: dict[str, tuple[Find, Any]] = {
    "session": (
        lambda home: lines(home / ".gemini", "tmp/*/chats/**/*.jsonl"),
        schemas.GeminiConversationRecord,
    ),
    "document": (documents, schemas.GeminiConversation),
    "prompts": (prompts, schemas.GeminiLogEntry),
}

PROGRAM = """
import json
from agtail.schemas import GeminiConversation

def calls(document: str) -> list[str]:
    conversation: GeminiConversation = json.loads(document)
    names = []
    for message in conversation["messages"]:
        if message["type"] == "gemini":
            names += [call["name"] for call in message.get("toolCalls", [])]
    return names
"""


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_corpora_fits(case: str) -> None:
    assert corpus_misfits("gemini-cli", *CASES[case]) == []


@pytest.mark.parametrize("case", CASES)
def test_every_record_of_the_sample_fits(case: str) -> None:
    assert sample_misfits(*CASES[case]) == []


@pytest.mark.slow
def test_a_type_checker_understands_a_program_that_uses_them(tmp_path: Path) -> None:
    check_programs(tmp_path, PROGRAM, "name")
