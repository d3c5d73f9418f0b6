"""The kit itself: patterns, findings, and that no elision outlives its reason."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from pathlib import Path

import pytest
from conformance.kit import (
    CORPORA,
    NOT_IN_CORPORA,
    Elision,
    Kept,
    elisions,
    losses,
    scenarios,
    source_files,
    source_record,
    source_records,
    strings,
)

from agtail.agents import agent_ids


@pytest.mark.parametrize("agent", agent_ids())
def test_every_agent_has_a_corpus(agent: str) -> None:
    mine = [scenario for scenario in scenarios() if scenario.agent == agent]
    assert mine
    assert {scenario.name for scenario in mine} == {
        path.name for path in (CORPORA / agent).iterdir()
    }
    assert all(source_files(scenario) for scenario in mine)


@pytest.mark.parametrize("agent", agent_ids())
def test_every_elision_has_a_reason_and_is_needed(agent: str) -> None:
    used = frozenset[str]().union(
        *(losses(scenario).used for scenario in scenarios() if scenario.agent == agent)
    )
    table = elisions(agent)
    assert [each.pattern for each in table if len(each.reason) < 8] == []
    stale = [
        each.pattern
        for each in table
        if each.pattern not in used and not each.reason.endswith(NOT_IN_CORPORA)
    ]
    assert stale == []


@pytest.mark.parametrize(
    ("pattern", "place", "covered"),
    [
        ("message.id", "message.id", True),
        ("message.id", "message.id.x", False),
        ("message.*.id", "message.0.id", True),
        ("message.*.id", "message.id", False),
        ("**.id", "id", True),
        ("**.id", "message.0.id", True),
        ("**.id", "message.0.idea", False),
        ("message.**", "message", True),
        ("message.**", "message.a.b", True),
        ("message.**.text", "message.a.b.text", True),
        ("user:message.id", "message.id", True),
        ("assistant:message.id", "message.id", False),
        ("user/deep:**", "message.id", True),
        ("user/plain:**", "message.id", True),
        ("user/other:**", "message.id", False),
    ],
)
def test_patterns_cover_what_they_say(pattern: str, place: str, covered: bool) -> None:  # noqa: FBT001
    record = {"type": "user", "subtype": "plain", "payload": {"type": "deep"}}
    assert Elision(pattern, "").covers(record, tuple(place.split("."))) is covered


def test_strings_come_with_their_places() -> None:
    record = {"a": [{"b": "x"}, "y"], "c": 1, "d": {"e.f": "z"}}
    assert list(strings(record)) == [
        (("a", "0", "b"), "x"),
        (("a", "1"), "y"),
        (("d", "e.f"), "z"),
    ]


def test_a_string_counts_as_kept_by_text_by_parts_or_by_digest() -> None:
    payload = base64.b64encode(bytes(range(256))).decode()
    digest = hashlib.sha256(bytes(range(256))).hexdigest()
    held = Kept("the quick brown fox\x00says hello to the dog", frozenset({digest}))
    assert held.holds("quick brown fox")
    assert held.holds("  quick brown fox\n")
    assert held.holds("too short")
    assert held.holds('{"a": ["quick brown fox", "hello to the dog"]}')
    assert held.holds(payload)
    assert held.holds(f"quick brown fox data:image/png;base64,{payload} hello to the dog")
    assert not held.holds("the lazy brown fox")
    assert not held.holds("brown fox says hello")
    assert not held.holds('{"a": ["quick brown fox", "a loss of words"]}')
    assert not held.holds(base64.b64encode(b"another payload").decode())
    assert not held.holds(f"data:image/png;base64,{payload} and a loss of words")


def test_records_are_read_without_any_help() -> None:
    assert source_record(b'\x00\x00{"a":"\xff\x01"}\r') == {"a": "\ufffd\x01"}
    assert source_record(b"[1]") is None
    assert source_record(b'{"a"') is None


def test_rows_are_records_of_their_table(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x.db")
    connection.execute("CREATE TABLE part (id, type, data, raw)")
    connection.execute("""INSERT INTO part VALUES ('a', 'tool', '{"type": "deep"}', X'FF00')""")
    connection.commit()
    connection.close()
    [(number, record)] = source_records(tmp_path / "x.db")
    assert number == 1
    assert record == {
        "type": "part",
        "id": "a",
        "subtype": "tool",
        "data": {"type": "deep"},
        "raw": None,
    }
    assert Elision("part/deep:data.*", "").covers(record, ("data", "type"))
    assert [path.name for path in tmp_path.iterdir()] == ["x.db"]
