"""Calls and what came of them, from all the records that tell of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from codex_home import OTHER, OWN, Rollout, own, read, texts, transcripts

from agtail.agents.codex.tools import describe, failed
from agtail.model import Event


def calls(home: Path, rollout: Rollout) -> list[Event]:
    return own(read(home, rollout), "tool_use")


@pytest.mark.parametrize(
    ("arguments", "tool_input"),
    [
        ('{"cmd": "ls"}', {"cmd": "ls"}),
        ("{broken", {"raw": "{broken"}),
        ("[1, 2]", {"value": [1, 2]}),
        ("null", {"value": None}),
        ("", {}),
        ({"already": "parsed"}, {"already": "parsed"}),
        (7, {"value": 7}),
    ],
)
def test_arguments(tmp_path: Path, arguments: Any, tool_input: Any) -> None:
    rollout = Rollout()
    rollout.call("tool", "c1", arguments)
    (call,) = calls(tmp_path, rollout)
    assert (call.tool, call.input) == ("tool", tool_input)


def test_other_kinds_of_calls(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.item("custom_tool_call", name="apply_patch", call_id="c1", input="*** Begin Patch")
    rollout.item("local_shell_call", id="l1", action={"type": "exec", "command": ["pwd"]})
    rollout.item("web_search_call", action={"query": "cider"})
    rollout.item("tool_search_call", call_id="s1", arguments={"query": "mail"})
    rollout.item("tool_search_output", call_id="s1", tools=[{"name": "send_mail"}])
    rollout.item("function_call", call_id="n1", arguments="{}")
    patch, shell, web, search, nameless = calls(tmp_path, rollout)
    assert (patch.tool, patch.input) == ("apply_patch", {"input": "*** Begin Patch"})
    assert (shell.tool, shell.tool_use_id, shell.summary) == ("local_shell", "l1", "pwd")
    assert (web.tool, web.input, web.result) == ("web_search", {"query": "cider"}, None)
    assert search.result is not None
    assert "send_mail" in search.result.text
    assert nameless.tool == ""


@pytest.mark.parametrize(
    ("output", "text", "is_error"),
    [
        ("plain", "plain", False),
        ('{"output":"inner","metadata":{"exit_code":0}}', "inner", False),
        ('{"output":"inner","metadata":{"exit_code":2}}', "inner", True),
        ('{"output":"cut off', '{"output":"cut off', False),
        ({"content": "inner", "success": True}, "inner", False),
        ({"content": [{"text": "a"}, {"text": "b"}], "success": False}, "a\nb", True),
        ({"other": 1}, '{"other":1}', False),
        (["bare", {"type": "x", "n": 1}], 'bare\n{"type":"x","n":1}', False),
        (None, "", False),
        (12, "12", False),
    ],
)
def test_outputs(tmp_path: Path, output: Any, text: str, *, is_error: bool) -> None:
    rollout = Rollout()
    rollout.call("tool", "c1")
    rollout.output("c1", output)
    (call,) = calls(tmp_path, rollout)
    assert call.result is not None
    assert (call.result.text, call.result.is_error) == (text, is_error)


def test_an_output_without_a_call_is_kept(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.output("lost", "what the lost call said")
    (orphan,) = own(read(tmp_path, rollout), "tool_result")
    assert orphan.result is not None
    assert orphan.result.text == "what the lost call said"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Process exited with code 2\nls: no cellar", True),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx", False),
        ("Wall time: 0.0 seconds\nOutput:\nExit code: 3\nWall time: 0 seconds", True),
        ("Chunk ID: 1\nWall time: 0.1 seconds\nProcess running with session ID 4\nOutput:", False),
        ("a log\nProcess exited with code 9", False),
        ("apply_patch verification failed: no such file", True),
        ("error: no", True),
        ("no error: fine", False),
        ("unsupported call: update_plan", True),
        ("Command blocked by PreToolUse hook: policy", True),
        ("aborted by user after 4.0s", True),
        ("Wall time: 4.9 seconds\naborted by user", True),
        ("", False),
    ],
)
def test_failure_as_the_text_tells(text: str, *, error: bool) -> None:
    assert failed(text) is error


def test_events_complete_the_result_in_either_order(tmp_path: Path) -> None:
    rollout = Rollout()
    for call in ("before", "after"):
        rollout.call("exec_command", call, '{"cmd": "make"}')
    item: dict[str, Any] = {
        "exit_code": 2,
        "status": "failed",
        "aggregated_output": "make: no rule",
    }
    rollout.completed("CommandExecution", id="before", command=["bash", "-lc", "make"], **item)
    rollout.output("before", "Output:\nmake: no rule")
    rollout.output("after", "Process running with session ID 4")
    rollout.event("exec_command_end", call_id="after", **item)
    for event in calls(tmp_path, rollout):
        assert event.result is not None
        assert event.result.is_error is True
        assert event.result.detail["exit_code"] == 2
    late = own(transcripts(tmp_path)[OWN], "tool_use")[1].result
    assert late is not None
    assert late.text == "Process running with session ID 4"
    assert late.detail["aggregated_output"] == "make: no rule"


def test_an_event_is_the_answer_when_there_is_no_other(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.call("exec_command", "c1", '{"cmd": "make"}')
    rollout.completed("CommandExecution", id="c1", exit_code=-1, aggregated_output="half")
    rollout.item("web_search_call", id="w1", action={"query": "x"})
    rollout.completed("WebSearch", id="w1", query="x")
    command, search = calls(tmp_path, rollout)
    assert command.result is not None
    assert (command.result.text, command.result.is_error) == ("half", True)
    assert search.result is None


@pytest.mark.parametrize(
    "event",
    [
        {"type": "mcp_tool_call_end", "result": {"Err": "no such city"}},
        {"type": "mcp_tool_call_end", "result": {"Ok": {"isError": True}}},
        {"type": "patch_apply_end", "success": False, "stderr": "no such city"},
        {"type": "collab_spawn_end", "status": "failed"},
    ],
)
def test_failure_as_an_event_tells(tmp_path: Path, event: dict[str, Any]) -> None:
    rollout = Rollout()
    rollout.call("forecast", "c1", namespace="mcp__weather")
    rollout.event(event.pop("type"), call_id="c1", **event)
    rollout.output("c1", "sunny")
    (call,) = calls(tmp_path, rollout)
    assert call.result is not None
    assert call.result.is_error is True
    assert call.result.detail["namespace"] == "mcp__weather"
    assert call.summary == "mcp__weather.forecast {}"


def test_calls_that_only_events_tell_of(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.item("custom_tool_call", name="exec", call_id="script", input="await shell('ls')")
    listed = {"content": [{"type": "text", "text": "sunny"}]}
    rollout.completed(
        "McpToolCall",
        id="i1",
        server="weather",
        tool="forecast",
        arguments={"city": "Oslo"},
        result=listed,
    )
    rollout.completed("FileChange", id="i2", changes={"a.py": {"type": "add", "content": "x = 1"}})
    rollout.item("custom_tool_call_output", call_id="script", output="done")
    script, hidden, patch = calls(tmp_path, rollout)
    assert (script.tool, hidden.tool, patch.tool) == ("exec", "forecast", "apply_patch")
    assert hidden.input == {"arguments": {"city": "Oslo"}}
    assert hidden.result is not None
    assert (hidden.result.text, hidden.result.is_error) == ("sunny", False)
    assert patch.summary == "a.py"


def test_commands_of_the_human_are_no_calls(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user(
        "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>", shown=False
    )
    rollout.completed(
        "CommandExecution", id="x", command=["bash", "-lc", "ls"], source="user_shell"
    )
    rollout.user("hello")
    transcript = read(tmp_path, rollout)
    assert transcript.session.tools == {}
    assert "item_completed · ls" in texts(transcript, "system")


def test_the_parent_of_a_review_repeats_its_child(tmp_path: Path) -> None:
    parent = Rollout(OWN)
    told: dict[str, Any] = {"id": "c1", "command": ["git", "diff"], "aggregated_output": "+x"}
    parent.completed("UserMessage", OTHER, id="u", content=[{"type": "text", "text": "Review"}])
    parent.completed("CommandExecution", OTHER, **told)
    assert read(tmp_path, parent).session.tools == {"exec_command": 1}
    child = Rollout(OTHER, parent_thread_id=OWN, source={"subagent": "review"})
    child.user("Review")
    child.call("exec_command", "c1", '{"cmd": "git diff"}')
    child.write(tmp_path)
    found = transcripts(tmp_path)
    assert found[OWN].session.tools == {}
    assert found[OTHER].session.tools == {"exec_command": 1}
    assert found[OWN].session.messages == 1


@pytest.mark.parametrize(
    ("tool", "tool_input", "line"),
    [
        ("exec_command", {"cmd": "ls -la"}, "ls -la"),
        ("shell", {"command": ["bash", "-lc", "ls | wc"]}, "ls | wc"),
        ("shell", {"command": ["/usr/bin/zsh", "-c", "ls"]}, "ls"),
        ("shell", {"command": ["echo", "hi", 1]}, "echo hi 1"),
        ("apply_patch", {"input": "*** Add File: a.py\n+x\n*** Update File: b.py"}, "a.py, b.py"),
        (
            "shell",
            {"command": ["apply_patch", "*** Begin Patch\n*** Delete File: c.py"]},
            "apply_patch c.py",
        ),
        ("exec_command", {"cmd": "apply_patch <<'E'\n*** Add File: d.py"}, "apply_patch d.py"),
        ("update_plan", {"plan": []}, None),
        ("shell", {"command": 7}, None),
        ("shell", "text", None),
    ],
)
def test_one_line_for_a_call(tool: str, tool_input: object, line: str | None) -> None:
    assert describe(tool, tool_input) == line
