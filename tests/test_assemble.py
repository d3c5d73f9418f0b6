from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agtail.agents.base import (
    TITLE_FALLBACK,
    TITLE_GENERATED,
    TITLE_NAMED,
    TITLE_PROMPT,
    TITLE_SUMMARY,
    Abandoned,
    Ended,
    Item,
    Meta,
    Spend,
    Title,
    ToolResult,
    Unit,
    Within,
)
from agtail.assemble import Transcript, assemble, unreadable
from agtail.builder import leftovers, one_line
from agtail.model import Blob, Event, Integrity, Session, Source, Usage, encode

UNIT = Unit(agent="claude-code", id="s1", path="/h/s1.jsonl", size=10, mtime_ns=5_000_000)


def build(*items: Item, unit: Unit = UNIT) -> Transcript:
    return assemble(unit, items, Integrity())[0]


def call(call_id: str = "t1", tool: str = "Bash", **fields: Any) -> Event:
    return Event(kind="tool_use", tool=tool, tool_use_id=call_id, **fields)


def said(text: str, **fields: Any) -> Event:
    return Event(kind="text", role=fields.pop("role", "user"), text=text, **fields)


def test_events_are_numbered_in_order() -> None:
    found = build(said("a"), call(), ToolResult(tool_use_id="t1", text="ok"), said("b"))
    assert [event.seq for event in found.events] == [0, 1, 2]
    assert found.session.event_count == 3


def test_last_result_of_a_call_wins_and_an_earlier_one_is_kept_apart() -> None:
    image = Blob(media_type="image/png", size=1)
    found = build(
        call(images=[image]),
        ToolResult(tool_use_id="t1", text="first"),
        ToolResult(tool_use_id="t1", text="second", is_error=True, images=[image]),
    )
    event, earlier = found.events
    assert event.result is not None
    assert (event.result.text, event.result.is_error) == ("second", True)
    assert len(event.images) == 2
    assert earlier.kind == "tool_result"
    assert earlier.result is not None
    assert earlier.result.text == "first"


def test_result_before_its_call_stays_an_event() -> None:
    found = build(ToolResult(tool_use_id="t1", text="early"), call())
    assert [event.kind for event in found.events] == ["tool_result", "tool_use"]


def test_start_and_end_are_the_extreme_instants_not_the_first_and_last() -> None:
    found = build(
        said("a", ts="2026-05-04T12:00:00+02:00"),
        said("b", ts="2026-05-04T09:00:00Z"),
        said("c", ts="not a date"),
        said("d"),
        said("e", ts="2026-05-04T11:00:00Z"),
        said("f", ts="2026-05-04T10:30:00Z"),
    ).session
    assert (found.started, found.ended) == ("2026-05-04T09:00:00Z", "2026-05-04T11:00:00Z")
    assert found.started_time == 1_777_885_200_000


def test_usage_counts_each_response_once_and_sums_by_model() -> None:
    found = build(
        said("a", role="assistant", message_id="m1"),
        Spend(key="m1", usage=Usage(input_tokens=5, output_tokens=1), model="x"),
        said("b", role="assistant", message_id="m2"),
        Spend(key="m2", usage=Usage(input_tokens=1, output_tokens=1), model="y"),
        Spend(key="m1", usage=Usage(input_tokens=5, output_tokens=9), model="x"),
        Spend(key="m1", usage=Usage(input_tokens=5, output_tokens=2), model="x"),
    )
    assert found.session.usage == Usage(input_tokens=6, output_tokens=10)
    assert found.session.model_usage["x"] == Usage(input_tokens=5, output_tokens=9)
    assert [event.usage and event.usage.output_tokens for event in found.events] == [9, 1]
    assert found.session.models == ["x", "y"]


def test_usage_without_an_event_of_its_own_goes_to_the_one_before() -> None:
    found = build(
        call(),
        Spend(key="r1", usage=Usage(output_tokens=3)),
        Spend(key="r2", usage=Usage(output_tokens=4)),
    )
    assert found.events[0].usage == Usage(output_tokens=7)
    assert found.session.usage == Usage(output_tokens=7)


def test_inherited_usage_is_shown_and_not_counted() -> None:
    found = build(
        said("a", role="assistant", message_id="m1", inherited=True),
        Spend(key="m1", usage=Usage(output_tokens=3), inherited=True),
        call("t1", inherited=True),
        call("t2"),
    )
    assert found.session.usage is None
    assert found.events[0].usage == Usage(output_tokens=3)
    assert found.session.inherited_events == 2
    assert found.session.messages == 0
    assert found.session.tools == {"Bash": 1}


@pytest.mark.parametrize(
    ("items", "title"),
    [
        ([said("typed\nmore")], "typed"),
        ([said("typed"), Title("generated", TITLE_GENERATED)], "generated"),
        ([Title("named", TITLE_NAMED), Title("generated", TITLE_GENERATED)], "named"),
        ([Title("one", TITLE_NAMED), Title("two", TITLE_NAMED)], "two"),
        ([Title("one", TITLE_NAMED), Title("", TITLE_NAMED), said("typed")], "typed"),
        ([Title("sum", TITLE_SUMMARY), said("typed")], "sum"),
        ([said("<tag> typed"), Title("typed", TITLE_PROMPT), Title("b", TITLE_PROMPT)], "typed"),
        ([Title("/a", TITLE_FALLBACK), Title("/b", TITLE_FALLBACK)], "/a"),
        ([Title("/a", TITLE_FALLBACK), said("typed")], "typed"),
        ([said("only the model spoke", role="assistant")], "only the model spoke"),
        ([call()], None),
    ],
)
def test_title(items: list[Item], title: str | None) -> None:
    assert build(*items).session.title == title


def test_title_is_one_line_of_at_most_120_characters() -> None:
    assert one_line("\n \n" + "ä" * 200 + "\nrest") == "ä" * 120


def test_first_fact_holds_and_last_ending_holds() -> None:
    found = build(
        Meta(cwd="/a", git_branch=""),
        Meta(cwd="/b", git_branch="main", model="m"),
        Ended("error"),
        Ended(None),
    ).session
    assert (found.cwd, found.git_branch, found.ending, found.models) == ("/a", "main", None, ["m"])


def test_abandoned_records_are_marked_and_still_count() -> None:
    found = build(
        said("a", src=Source(line=1)),
        said("b", src=Source(line=2)),
        said("c", src=Source(line=2, path="/other")),
        Abandoned(lines=frozenset({2}), branches=1),
    )
    assert [event.rewound for event in found.events] == [False, True, False]
    assert (found.session.branches, found.session.messages) == (1, 3)


def test_session_within_a_unit_is_its_own_with_the_facts_of_the_whole() -> None:
    main, inner = assemble(
        UNIT,
        [
            Meta(cwd="/w", version="1.0"),
            said("main"),
            Within("s1#t1", said("inner", sidechain=True)),
            Within("s1#t1", Spend(key="m", usage=Usage(output_tokens=1))),
        ],
        Integrity(dropped=1),
    )
    assert (inner.session.id, inner.session.parent_id, inner.session.cwd) == ("s1#t1", "s1", "/w")
    assert main.session.usage is None
    assert inner.session.usage == Usage(output_tokens=1)
    assert main.session.integrity == Integrity(dropped=1)
    assert inner.session.integrity is None


def test_empty_sessions_are_those_without_text_thought_or_call() -> None:
    assert build(Event(kind="summary", text="x"), Event(kind="hook", text="y")).empty
    assert not build(Event(kind="thinking", text="")).empty
    assert not build(call()).empty
    assert not unreadable(UNIT, "permission denied").empty


def test_unreadable_source_is_listed_with_its_size() -> None:
    health = unreadable(UNIT, "permission denied").session.integrity
    assert health == Integrity(unreadable="permission denied", size=10)
    assert not health.clean


def test_leftovers_keep_what_neither_text_nor_input_says() -> None:
    detail = {
        "stdout": "hello\n",
        "path": "/a",
        "code": 3,
        "lines": ["hello", "new"],
        "gone": ["hello"],
    }
    assert leftovers(detail, {"file": "/a"}, "hello") == {"code": 3, "lines": ["new"]}
    assert leftovers(None, None, "") is None


def test_absent_is_absent_on_the_wire_and_the_round_trip_is_exact() -> None:
    found = build(said("a", ts="2026-05-04T09:00:00Z", src=Source(line=1, offset=0, length=9)))
    wire = encode(found.session)
    assert b"null" not in wire
    assert b"sourceGone" not in wire
    assert msgspec.json.decode(wire, type=Session) == found.session
    event = found.events[0]
    assert msgspec.json.decode(encode(event), type=Event) == event
    assert encode(Usage(cache_creation_1h_tokens=2)) == b'{"cacheCreation1hTokens":2}'
