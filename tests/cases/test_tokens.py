"""Public reports about tokens that were counted twice, too low, or for no model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_home import Session, read, transcripts, write, write_lines
from codex_home import OTHER, Rollout
from codex_home import read as read_codex
from codex_home import transcripts as codex_transcripts

from agtail.model import Usage


def spent(output: int, **counters: Any) -> dict[str, Any]:
    return {"usage": {"input_tokens": 10, "output_tokens": output, **counters}}


def test_the_last_and_largest_usage_of_a_response_counts(tmp_path: Path) -> None:
    """https://github.com/ccusage/ccusage/issues/901: the first line of each response won."""
    session = Session()
    session.user("Look at the orchard")
    first = session.answer(
        [{"type": "thinking", "thinking": "hm"}], "msg_1", **spent(9), stop_reason=None
    )
    session.answer([{"type": "text", "text": "Looking."}], "msg_1", **spent(9), stop_reason=None)
    tool = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
    session.answer([tool], "msg_1", **spent(159), stop_reason="tool_use")
    found = read(tmp_path, session)
    assert found.session.usage == Usage(input_tokens=10, output_tokens=159)
    assert [event.kind for event in found.events] == ["text", "thinking", "text", "tool_use"]
    assert found.events[1].ts == first["timestamp"]


@pytest.mark.parametrize("copies", [2, 3, 4])
def test_a_gateways_repeated_lines_count_once(tmp_path: Path, copies: int) -> None:
    """https://github.com/ccusage/ccusage/pull/985: no ``requestId``, lines written again."""
    session = Session()
    session.user("Look at the orchard")
    line = session.say("It has 12 trees.", message_id="chatcmpl-7", **spent(50))
    session.lines.extend([line] * (copies - 1))
    assert read(tmp_path, session).session.usage == Usage(input_tokens=10, output_tokens=50)


def test_a_running_total_is_not_added_up(tmp_path: Path) -> None:
    """https://github.com/junhoyeo/tokscale/pull/300: cumulative snapshots were summed."""
    rollout = Rollout()
    rollout.user("count")
    rollout.count(100, 100, cached_input_tokens=40)
    rollout.count(100, 100, cached_input_tokens=40)  # does not advance
    rollout.count(250, 150, cached_input_tokens=40)
    rollout.count(30, 30, cached_input_tokens=0)  # restarted
    usage = read_codex(tmp_path, rollout).session.usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens) == (240, 40)


def test_a_fork_does_not_count_its_parents_tokens_again(tmp_path: Path) -> None:
    """https://github.com/ccusage/ccusage/issues/897: 277M instead of 81M tokens."""
    parent = Rollout(OTHER)
    parent.event("task_started", turn_id="01a22d00-0000-7000-8000-0000000000aa")
    parent.user("count the trees")
    parent.assistant("There are twelve trees in it.")
    parent.count(1000, 1000)
    fork = Rollout(forked_from_id=OTHER)
    fork.lines.extend({**line, "timestamp": "2026-05-01T11:00:00.000Z"} for line in parent.lines)
    fork.event("task_started", turn_id="01a22e00-0000-7000-8000-0000000000bb")
    fork.user("and the bushes")
    fork.count(1300, 300)
    parent.write(tmp_path)
    fork.write(tmp_path)
    found = codex_transcripts(tmp_path)
    totals = {each.session.id: each.session.usage for each in found.values()}
    assert {key: usage and usage.input_tokens for key, usage in totals.items()} == {
        OTHER: 1000,
        fork.thread: 300,
    }


def test_a_forked_claude_session_is_charged_once(tmp_path: Path) -> None:
    """https://github.com/ccusage/ccusage/issues/897, in the form of Claude Code."""
    original = Session("a-original")
    original.user("Look at the orchard")
    original.say("It has 12 trees.", message_id="msg_1", **spent(50))
    write(tmp_path, original)
    copied = [{**line, "sessionId": "b-fork"} for line in original.lines]
    fork = Session("b-fork")
    fork.parent = original.parent
    fork.user("And the bushes?")
    fork.say("Three.", message_id="msg_2", **spent(5))
    write_lines(tmp_path, "-home-dev-app/b-fork.jsonl", [*copied, *fork.lines])
    found = transcripts(tmp_path)
    assert found["a-original"].session.usage == Usage(input_tokens=10, output_tokens=50)
    assert found["b-fork"].session.usage == Usage(input_tokens=10, output_tokens=5)
    assert found["b-fork"].session.fork_of == "a-original"


def test_cache_writes_keep_apart_how_long_they_last(tmp_path: Path) -> None:
    """https://github.com/kenn-io/agentsview/issues/1452: one-hour writes cost more."""
    session = Session()
    session.user("Look")
    split = {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 700}
    session.say(
        "Yes.",
        message_id="msg_1",
        **spent(5, cache_creation_input_tokens=1000, cache_creation=split),
    )
    session.say("Again.", message_id="msg_2", **spent(5, cache_creation_input_tokens=40))
    usage = read(tmp_path, session).session.usage
    assert usage is not None
    assert usage.cache_creation_tokens == 1040
    assert usage.cache_creation_5m_tokens == 300
    assert usage.cache_creation_1h_tokens == 700


def test_what_the_program_made_up_is_no_model(tmp_path: Path) -> None:
    """https://github.com/shaharia-lab/agento/issues/180: ``<synthetic>`` stood in the mix."""
    session = Session()
    session.user("Look")
    session.say("It has 12 trees.", message_id="msg_1", model="k3", **spent(5))
    session.say("No response requested.", model="<synthetic>", **spent(0))
    found = read(tmp_path, session).session
    assert found.models == ["k3"]
    assert set(found.model_usage) == {"k3"}
