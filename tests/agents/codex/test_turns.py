"""Turns: how they end, what is taken back, what was copied; and records of no known kind."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from codex_home import OTHER, OWN, Rollout, own, read, texts, transcripts

TESTS = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("events", "ending"),
    [
        ([("task_started", {})], "interrupted"),
        ([("turn_started", {}), ("turn_complete", {})], None),
        ([("task_started", {}), ("turn_aborted", {"reason": "interrupted"})], "interrupted"),
        ([("task_started", {}), ("turn_aborted", {"reason": "review_ended"})], None),
        (
            [
                *[("task_started", {}), ("turn_aborted", {"reason": "interrupted"})],
                *[("task_started", {}), ("task_complete", {})],
            ],
            None,
        ),
        ([("task_complete", {"error": {"message": "reason: max_output_tokens"}})], "limit"),
        ([("task_complete", {"error": {"message": "overloaded"}})], "error"),
        ([("task_started", {}), ("error", {"message": "no"}), ("task_complete", {})], "error"),
        ([("turn_aborted", {"reason": "interrupted"})], "interrupted"),
    ],
)
def test_ending(tmp_path: Path, events: list[tuple[str, Any]], ending: str | None) -> None:
    rollout = Rollout()
    rollout.user("go")
    for kind, payload in events:
        rollout.event(kind, **payload)
    assert read(tmp_path, rollout).session.ending == ending


def test_a_new_prompt_ends_an_interruption_where_turns_have_no_end(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.event("turn_aborted", reason="interrupted")
    rollout.user("go on")
    assert read(tmp_path, rollout).session.ending is None


def test_the_error_of_a_turn_is_shown(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    error = {"message": "out of room", "codex_error_info": "context_window_exceeded"}
    rollout.event("task_complete", error=error)
    event = own(read(tmp_path, rollout), "system")[-1]
    assert (event.text, event.raw) == ("out of room", error)


def test_rolled_back_turns_stay_and_are_marked(tmp_path: Path) -> None:
    rollout = Rollout()
    for prompt in ("first", "second", "third"):
        rollout.event("task_started")
        rollout.user(prompt)
        rollout.assistant(f"on {prompt}")
        rollout.event("task_complete")
    rollout.event("thread_rolled_back", num_turns=2)
    rollout.user("instead")
    rollout.event("thread_rolled_back", num_turns=9)
    transcript = read(tmp_path, rollout)
    rewound = [event.text for event in transcript.events if event.rewound and event.kind == "text"]
    assert rewound == ["second", "on second", "third", "on third"]
    assert transcript.session.branches == 1
    assert transcript.session.messages == 7


def test_a_name_in_the_rollout(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.event("thread_name_updated", thread_name="a better name")
    assert read(tmp_path, rollout).session.title == "a better name"


def fork_without_turn_ids(*, pause: float) -> tuple[Rollout, Rollout]:
    """Make a parent and a copy of it that goes on with the same prompt as the parent did."""
    parent = Rollout(OTHER)
    parent.user("shared")
    parent.assistant("answer")
    fork = Rollout(OWN)
    fork.lines.extend(dict(line, timestamp="2026-05-02T00:00:00.000Z") for line in parent.lines)
    for each, moment in ((parent, None), (fork, f"2026-05-02T00:00:{pause:06.3f}Z")):
        start = len(each.lines)
        each.user("again")
        if moment:
            for line in each.lines[start:]:
                line["timestamp"] = moment
    return parent, fork


@pytest.mark.parametrize(("pause", "copies"), [(5, 2), (0.01, 3)])
def test_a_copy_without_turn_ids_is_told_by_its_parent(
    tmp_path: Path, pause: float, copies: int
) -> None:
    parent, fork = fork_without_turn_ids(pause=pause)
    parent.write(tmp_path)
    fork.write(tmp_path)
    session = transcripts(tmp_path)[OWN].session
    assert (session.fork_of, session.inherited_events) == (OTHER, copies)
    assert session.messages == 3 - copies


def test_a_copy_is_a_session_of_its_own_when_the_original_is_gone(tmp_path: Path) -> None:
    _, fork = fork_without_turn_ids(pause=5)
    transcript = read(tmp_path, fork)
    assert texts(transcript) == ["shared", "answer", "again"]
    assert transcript.session.inherited_events == 0


def test_a_subagent_is_named_after_its_own_task(tmp_path: Path) -> None:
    parent = Rollout(OTHER)
    parent.user("the whole task")
    parent.write(tmp_path)
    child = Rollout(OWN, parent_thread_id=OTHER, subagent_history_start_ordinal=4)
    child.lines.extend(parent.lines)
    for ordinal, line in enumerate(child.lines):
        line["ordinal"] = ordinal
    child.user("a part of it")
    for line in child.lines[4:]:
        line["ordinal"] = 4
    session = read(tmp_path, child).session
    assert (session.title, session.inherited_events, session.messages) == ("a part of it", 1, 1)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "security_risk_score", "payload": {"score": 0.1, "reason": "a long enough one"}},
        {"type": "event_msg", "payload": {"type": "stream_error", "message": "try again soon"}},
        {"type": "event_msg", "payload": {}},
        {"type": "event_msg", "payload": {"type": 7}},
        {"type": "response_item", "payload": {"type": "something_else", "x": [1]}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "New"}}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": None}},
        {"type": "session_meta", "payload": None},
        {"type": ["list"], "payload": {"id": 1}},
        {"payload": "text"},
        {},
    ],
)
def test_unknown_records_are_kept_as_they_are(tmp_path: Path, line: dict[str, Any]) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.lines.append(line)
    (unknown,) = own(read(tmp_path, rollout), "unknown")
    assert unknown.raw == line
    assert unknown.text


ODD = [None, 7, "text", [], {}, [None], [7], {"type": 7}]


@pytest.mark.parametrize("value", ODD, ids=repr)
@pytest.mark.parametrize(
    "kind",
    [
        *("session_meta", "turn_context", "compacted", "world_state", "token_usage_record"),
        *("message", "reasoning", "function_call", "function_call_output", "web_search_call"),
        *("user_message", "agent_message", "token_count", "thread_rolled_back", "task_complete"),
        *("UserMessage", "CommandExecution", "McpToolCall", "Reasoning", "ExitedReviewMode"),
    ],
)
def test_fields_of_an_unexpected_type_cost_nothing_else(
    tmp_path: Path, kind: str, value: Any
) -> None:
    """Whatever the fields hold, the records around are read."""
    keys = (
        *("id", "call_id", "role", "content", "summary", "arguments", "output", "action", "input"),
        *("message", "info", "usage", "error", "num_turns", "images", "git", "source", "result"),
        *("history_base", "model", "cwd", "command", "changes", "summary_text", "review_output"),
        *("internal_chat_message_metadata_passthrough", "response_id", "thread_id", "status"),
    )
    fields = dict.fromkeys(keys, value)
    rollout = Rollout()
    rollout.user("before")
    if kind[0].isupper():
        rollout.event("item_completed", item={**fields, "type": kind})
    elif kind in ("message", "reasoning") or kind.endswith(("_call", "_output")):
        rollout.item(kind, **fields)
    elif kind.endswith(("_meta", "_context", "_state", "_record")) or kind == "compacted":
        rollout.record(kind, **fields)
    else:
        rollout.event(kind, **fields)
    rollout.user("after")
    said = texts(read(tmp_path, rollout), role="user")
    assert said[0] == "before"
    assert said[-1] == "after"


def test_golden_records(tmp_path: Path) -> None:
    """The reference tool lost much of this: orphans, patches, lists, compactions."""
    shutil.copytree(TESTS / "golden" / "input" / "codex", tmp_path / ".codex")
    found = transcripts(tmp_path)
    assert set(found) == {"c1c1c1c1-0001", "c2c2c2c2-0002", "c3c3c3c3-0003"}
    first = found["c1c1c1c1-0001"]
    assert texts(first) == ["Bottle the cider\nplease", "Cider bottled."]
    assert texts(first, "thinking") == ["think cider", "raw think", ""]
    assert texts(first, "unknown") == ["agent_message_delta"]
    answers = {
        event.tool_use_id: event.result.text for event in first.events if event.result is not None
    }
    assert answers == {
        "k1": "Process exited with code 2\nls: no cellar",
        "k2": "hi",
        "k4": "ok",
        "orphan": "orphan output exited with code 0",
    }
    assert first.session.compactions == 1
    assert first.session.ending == "interrupted"
    assert found["c2c2c2c2-0002"].session.models == ["gpt-5.5", "gpt-5.5-mini"]
    assert found["c3c3c3c3-0003"].session.archived
