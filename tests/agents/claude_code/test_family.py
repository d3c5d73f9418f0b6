"""Subagents, forks, resumed copies, rewinds and endings."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from claude_home import Session, read, transcripts, write, write_lines

from agtail.agents.claude_code.tree import Tree


def _conversation(session_id: str = "s1") -> Session:
    session = Session(session_id)
    session.user("first prompt")
    session.say("first answer", message_id="m1", usage={"input_tokens": 5, "output_tokens": 7})
    session.state("last-prompt", lastPrompt="first prompt")
    session.user("second prompt")
    session.say("second answer", message_id="m2", usage={"input_tokens": 1, "output_tokens": 1})
    return session


def _fork(original: Session, session_id: str, records: int) -> Session:
    """Copy the first chain records into a new session, as --fork-session does."""
    fork = Session(session_id)
    chain = [line for line in original.lines if "uuid" in line][:records]
    fork.lines = [{**copy.deepcopy(line), "sessionId": session_id} for line in chain]
    fork.parent = fork.lines[-1]["uuid"]
    fork.count = original.count
    return fork


def test_fork_marks_copies_and_charges_them_once(tmp_path: Path) -> None:
    original = _conversation()
    fork = _fork(original, "s2", 2)
    fork.user("another way")
    fork.say("another answer", message_id="m9", usage={"input_tokens": 2, "output_tokens": 3})
    write(tmp_path, original)
    write(tmp_path, fork)
    found = transcripts(tmp_path)
    forked = found["s2"]
    assert forked.session.fork_of == "s1"
    assert [event.inherited for event in forked.events] == [True, True, False, False]
    assert forked.session.inherited_events == 2
    assert forked.session.usage is not None
    assert forked.session.usage.input_tokens == 2
    own = found["s1"].session
    assert own.fork_of is None
    assert own.usage is not None
    assert own.usage.input_tokens == 6
    assert own.inherited_events == 0


def test_copy_without_its_owner_is_the_event_itself(tmp_path: Path) -> None:
    fork = _fork(_conversation(), "s2", 4)
    fork.user("another way")
    found = read(tmp_path, fork)
    assert not any(event.inherited for event in found.events)
    assert found.session.usage is not None
    assert found.session.usage.input_tokens == 6


def test_branch_names_its_origin_even_when_that_is_gone(tmp_path: Path) -> None:
    branch = _fork(_conversation(), "s2", 2)
    for line in branch.lines:
        line["forkedFrom"] = {"sessionId": "s1", "messageUuid": line["uuid"]}
    branch.user("more")
    assert read(tmp_path, branch).session.fork_of == "s1"


def test_old_resume_copies_with_new_times_belong_to_the_older_file(tmp_path: Path) -> None:
    original = _conversation("zz")
    resumed = _fork(original, "aa", 4)
    for line in resumed.lines:
        line["timestamp"] = "2026-06-01T00:00:00.000Z"
    resumed.user("later")
    write(tmp_path, original)
    write(tmp_path, resumed)
    found = transcripts(tmp_path)
    assert found["aa"].session.fork_of == "zz"
    assert found["zz"].session.fork_of is None


def test_copies_are_told_by_message_id_when_record_ids_are_new(tmp_path: Path) -> None:
    original = _conversation()
    resumed = _fork(original, "s2", 4)
    for number, line in enumerate(resumed.lines):
        line["uuid"] = f"s2-new-{number}"
        line["timestamp"] = "2026-06-01T00:00:00.000Z"
    write(tmp_path, original)
    write(tmp_path, resumed)
    found = transcripts(tmp_path)["s2"]
    assert found.session.usage is None
    assert [event.inherited for event in found.events if event.role == "assistant"] == [True, True]


def test_fork_of_a_fork_belongs_to_the_nearer_one(tmp_path: Path) -> None:
    first = _conversation("s1")
    second = _fork(first, "s2", 4)
    second.user("in the second")
    second.state("last-prompt", lastPrompt="in the second")
    second.say("answer in the second")
    third = _fork(second, "s3", 6)
    third.user("in the third")
    for session in (first, second, third):
        write(tmp_path, session)
    found = transcripts(tmp_path)
    assert found["s2"].session.fork_of == "s1"
    assert found["s3"].session.fork_of == "s2"
    assert [event.text for event in found["s3"].events if not event.inherited] == ["in the third"]


def _subagent(parent: str, agent_id: str = "a1b2c3") -> list[dict[str, object]]:
    child = Session(parent, isSidechain=True, agentId=agent_id)
    child.user("count the files")
    child.say("three")
    return child.lines


@pytest.mark.parametrize("inner", ["", "workflows/wf_1/"])
def test_subagent_belongs_to_the_folder_above_subagents(tmp_path: Path, inner: str) -> None:
    session = Session()
    session.user("delegate")
    write(tmp_path, session)
    name = f"-home-dev-app/s1/subagents/{inner}agent-a1b2c3"
    path = write_lines(tmp_path, f"{name}.jsonl", _subagent("s1"))
    path.with_suffix(".meta.json").write_text(
        json.dumps(
            {
                "agentType": "Explore",
                "description": "Count the files",
                "toolUseId": "t9",
                "parentAgentId": "outer",
            }
        )
    )
    child = transcripts(tmp_path)["a1b2c3"].session
    assert (child.parent_id, child.is_subagent) == ("s1", True)
    assert (child.agent_name, child.title) == ("Explore", "Count the files")
    assert (child.spawned_by_tool_use_id, child.parent_agent_id) == ("t9", "outer")


def test_subagent_without_sidecar_is_found_in_the_parents_result(tmp_path: Path) -> None:
    session = Session()
    session.user("delegate")
    session.call("Task", "t9", subagent_type="general-purpose", description="Count", prompt="count")
    session.result("t9", "three", toolUseResult={"status": "completed", "agentId": "a1b2c3"})
    write(tmp_path, session)
    write_lines(tmp_path, "-home-dev-app/agent-a1b2c3.jsonl", _subagent("s1"))
    child = transcripts(tmp_path)["a1b2c3"].session
    assert (child.parent_id, child.agent_name, child.title) == ("s1", "general-purpose", "Count")
    assert child.spawned_by_tool_use_id == "t9"


def test_warm_up_that_nobody_asked_for_is_not_listed(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    write(tmp_path, session)
    warm_up = Session("s1", isSidechain=True, agentId="beef0001")
    warm_up.say("Ready.")
    write_lines(tmp_path, "-home-dev-app/agent-beef0001.jsonl", warm_up.lines)
    assert set(transcripts(tmp_path)) == {"s1"}


def test_in_file_subagent_of_old_versions_is_a_session_of_its_own(tmp_path: Path) -> None:
    session = Session(version="1.0.88", entrypoint=None)
    session.user("delegate")
    session.call("Task", "t9", prompt="count the files")
    main = session.parent
    session.parent = None
    session.user("count the files", isSidechain=True)
    session.add(
        "assistant",
        isSidechain=True,
        message={
            "role": "assistant",
            "id": "m5",
            "content": [{"type": "text", "text": "three"}],
            "usage": {"input_tokens": 3, "output_tokens": 2},
        },
    )
    session.parent = main
    session.result("t9", "three")
    found = (write(tmp_path, session), transcripts(tmp_path))[1]
    child = found["s1#t9"]
    assert child.session.parent_id == "s1"
    assert child.session.cwd == "/home/dev/app"
    assert [event.text for event in child.events] == ["count the files", "three"]
    assert all(event.sidechain for event in child.events)
    assert child.session.usage is not None
    assert found["s1"].session.usage is None
    assert [event.kind for event in found["s1"].events] == ["text", "tool_use"]


def test_rewound_turn_stays_and_is_marked(tmp_path: Path) -> None:
    session = Session()
    session.user("first")
    session.say("answer")
    branch_point = session.parent
    session.user("a wrong turn")
    session.say("wrong answer")
    session.parent = branch_point
    session.user("a better turn")
    session.say("better answer")
    found = read(tmp_path, session)
    assert found.session.branches == 1
    assert [event.text for event in found.events if event.rewound] == [
        "a wrong turn",
        "wrong answer",
    ]
    assert found.session.messages == 6


def test_parallel_results_are_not_a_rewind(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    session.call("Read", "t1", file_path="/a")
    first = session.parent
    session.call("Read", "t2", file_path="/b")
    second = session.parent
    session.parent = first
    session.result("t1", "a")
    session.parent = second
    session.result("t2", "b")
    session.say("done")
    found = read(tmp_path, session)
    assert found.session.branches == 0
    assert not any(event.rewound for event in found.events)


def test_record_with_lost_parent_hangs_under_the_one_before() -> None:
    tree = Tree()
    tree.add("a", None, 1, prompt=True)
    tree.add("b", "a", 2, prompt=False)
    tree.add("c", "lost", 3, prompt=True)
    assert tree.abandoned() == (frozenset(), 0)


def test_edited_prompts_are_a_branch_each() -> None:
    tree = Tree()
    tree.add("root", None, 1, prompt=True)
    for line, uuid in enumerate(("x", "y", "z"), start=2):
        tree.add(uuid, "root", line, prompt=True)
    assert tree.abandoned() == (frozenset({2, 3}), 2)


def test_compaction_is_counted_once_whether_or_not_a_boundary_stands_before(
    tmp_path: Path,
) -> None:
    new = Session("new")
    new.user("go")
    new.add("system", subtype="compact_boundary", content="Conversation compacted", parentUuid=None)
    new.user("This session is being continued …", isCompactSummary=True)
    old = Session("old", version="1.0.88")
    old.user("go")
    old.user("This session is being continued …", isCompactSummary=True)
    assert read(tmp_path, new).session.compactions == 1
    assert read(tmp_path, old).session.compactions == 1


def _ended(tmp_path: Path, session: Session) -> str | None:
    return read(tmp_path, session).session.ending


def test_endings(tmp_path: Path) -> None:
    well = _conversation("well")
    assert _ended(tmp_path, well) is None
    unanswered = _conversation("unanswered")
    unanswered.user("and now?")
    assert _ended(tmp_path, unanswered) == "interrupted"
    escaped = _conversation("escaped")
    escaped.user([{"type": "text", "text": "[Request interrupted by user]"}])
    assert _ended(tmp_path, escaped) == "interrupted"
    escaped.user("go on")
    escaped.say("gladly")
    assert _ended(tmp_path, escaped) is None
    killed = _conversation("killed")
    killed.call("Bash", "t1", command="sleep 99")
    assert _ended(tmp_path, killed) == "interrupted"
    capped = _conversation("capped")
    capped.say("on and on", stop_reason="max_tokens")
    assert _ended(tmp_path, capped) == "limit"
    refused = _conversation("refused")
    entry = refused.say("API Error: flagged", model="<synthetic>", stop_reason="refusal")
    entry["isApiErrorMessage"] = True
    assert _ended(tmp_path, refused) is None


def test_open_turn_of_a_session_that_may_be_running_is_no_ending(tmp_path: Path) -> None:
    from datetime import UTC, datetime  # noqa: PLC0415

    session = Session()
    session.user("go", timestamp=datetime.now(UTC).isoformat())
    assert _ended(tmp_path, session) is None
