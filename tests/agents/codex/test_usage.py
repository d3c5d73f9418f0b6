"""Tokens: each response once, whatever a rollout repeats, copies or leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from codex_home import OTHER, OWN, Rollout, read, transcripts


def spent(rollout: Rollout, home: Path) -> int:
    usage = read(home, rollout).session.usage
    return usage.input_tokens if usage else 0


@pytest.mark.parametrize(
    ("counts", "total"),
    [
        ([(100, 100), (100, 100), (250, 150), (250, 150)], 250),  # each one written twice
        ([(100, 100), (100, 0), (300, 200)], 300),  # an estimate after a compaction
        ([(100, 100), (40, 40), (90, 50)], 190),  # the counter was restarted
        ([(900, 100), (1000, 100)], 200),  # a fork starts at its parent's total
        ([(None, 9), (None, 9)], 18),  # no totals: nothing tells a repetition
        ([(0, 0)], 0),
    ],
)
def test_counts_are_taken_by_how_far_the_total_advanced(
    tmp_path: Path, counts: list[tuple[int | None, int]], total: int
) -> None:
    rollout = Rollout()
    rollout.user("count")
    for cumulative, last in counts:
        rollout.count(cumulative, last)
    assert spent(rollout, tmp_path) == total


def test_cache_is_taken_out_of_the_input(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("count")
    rollout.record(
        "token_usage_record",
        response_id="resp_1",
        usage={
            "input_tokens": 1000,
            "cached_input_tokens": 600,
            "cache_write_input_tokens": 300,
            "output_tokens": 50,
            "reasoning_output_tokens": 20,
        },
    )
    usage = read(tmp_path, rollout).session.usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens) == (100, 600)
    assert (usage.cache_creation_tokens, usage.output_tokens) == (300, 50)
    assert usage.reasoning_tokens == 20


def test_more_cache_than_input_is_not_negative(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("count")
    rollout.count(None, 20, cached_input_tokens=25)
    usage = read(tmp_path, rollout).session.usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens) == (0, 25)


def test_the_record_of_a_response_beats_the_count(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.event("task_started", turn_id="t1")
    rollout.user("an old turn")
    rollout.count(100, 100)
    rollout.event("task_complete", turn_id="t1")
    rollout.event("task_started", turn_id="t2")
    rollout.user("a new one")
    for _ in range(2):
        rollout.record("token_usage_record", response_id="resp_1", usage={"input_tokens": 70})
    rollout.count(170, 70)
    assert spent(rollout, tmp_path) == 170


def test_a_count_before_its_answer_is_charged_to_the_answer(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.record("turn_context", model="gpt-5")
    rollout.user("count")
    rollout.event("agent_message", message="one")
    rollout.count(100, 100)
    rollout.assistant("one")
    rollout.call("shell", "c1")
    rollout.count(300, 200)
    transcript = read(tmp_path, rollout)
    charged = [(e.kind, e.usage.input_tokens) for e in transcript.events if e.usage]
    assert charged == [("text", 100), ("tool_use", 200)]
    assert list(transcript.session.model_usage) == ["gpt-5"]


def test_a_copied_history_is_counted_by_its_owner(tmp_path: Path) -> None:
    parent = Rollout(OTHER)
    parent.event("task_started", turn_id="01a22d00-0000-7000-8000-00000000000a")
    parent.user("the shared beginning")
    parent.assistant("answered")
    parent.count(500, 500)
    fork = Rollout(OWN, forked_from_id=OTHER)
    fork.lines.extend(parent.lines)
    fork.event("task_started", turn_id="01a22e00-0000-7000-8000-00000000000b")
    fork.user("a turn of its own")
    fork.count(700, 200)
    fork.write(tmp_path)
    alone = transcripts(tmp_path)[OWN].session
    assert alone.usage is not None
    assert (alone.usage.input_tokens, alone.inherited_events) == (700, 0)
    parent.write(tmp_path)
    both = transcripts(tmp_path)
    inputs = {key: each.session.usage for key, each in both.items()}
    assert {key: usage.input_tokens for key, usage in inputs.items() if usage} == {
        OTHER: 500,
        OWN: 200,
    }
    assert both[OWN].session.fork_of == OTHER
    assert both[OWN].session.inherited_events == 2
    assert both[OWN].session.messages == 1
