"""What is searched of an event, part by part, and the one-line summary of a call."""

from __future__ import annotations

from typing import Any

import pytest
from search.build import answer, call, transcript

from agtail.model import Event, Result
from agtail.search.haystack import haystack, summarize


@pytest.mark.parametrize(
    ("tool", "arguments", "summary"),
    [
        (
            "Bash",
            {"command": "wc -l a\necho b", "description": "count"},
            "wc -l a echo b   « count",
        ),
        ("Bash", {"command": "ls"}, "ls"),
        ("Bash", {"description": "no command"}, '{"description":"no command"}'),
        ("Edit", {"file_path": "/a", "old_string": "x"}, "/a"),
        ("MultiEdit", {"file_path": "/a"}, "/a"),
        ("Write", {"file_path": "/a", "content": "x"}, "/a"),
        ("Read", {"file_path": "/a"}, "/a"),
        ("NotebookEdit", {"notebook_path": "/a.ipynb"}, "/a.ipynb"),
        ("WebFetch", {"url": "https://a.example", "prompt": "x"}, "https://a.example"),
        ("WebSearch", {"query": "pears"}, "pears"),
        ("exec", {"cmd": ["bash", "-lc", "ls"], "workdir": "/"}, "bash -lc ls"),
        ("exec", {"command": ["echo", "hi"]}, "echo hi"),
        ("exec", {"command": "ls", "cmd": "other"}, "ls"),
        ("shell", {"command": ["echo", 1]}, "echo 1"),
        ("Task", {"subagent_type": "Explore", "description": "find"}, "Explore: find"),
        ("Agent", {"description": "find"}, "?: find"),
        ("Task", {"prompt": "x"}, '{"prompt":"x"}'),
        ("Grep", {"pattern": "é", "n": [1, None, True]}, '{"pattern":"é","n":[1,null,true]}'),
        ("Read", {"file_path": 5}, '{"file_path":5}'),
        ("Read", {}, "{}"),
        ("Odd", "a\nstring", "a string"),
        ("Odd", ["a", 1], '["a",1]'),
        ("Odd", 5, "5"),
        ("Odd", None, ""),
    ],
)
def test_summary(tool: str, arguments: Any, summary: str) -> None:
    assert summarize(call(tool, arguments)) == summary


def test_the_adapters_summary_wins() -> None:
    event = Event(kind="tool_use", tool="Bash", input={"command": "ls"}, summary="better")
    assert summarize(event) == "better"
    assert haystack(event) == 'Bash better {"command":"ls"}'


def test_a_call_is_name_summary_input_then_result_and_details() -> None:
    whole = transcript(
        call("Read", {"file_path": "/é", "limit": 2, "a": {"z": 1, "b": 2}}, "c1"),
        answer("c1", "line one\nline two", {"patch": ["+new", 3], "empty": "", "exit": 0}),
    )
    assert haystack(whole.events[0]) == (
        'Read /é {"file_path":"/é","limit":2,"a":{"z":1,"b":2}}\nline one\nline two\n+new'
    )


def test_input_json_escapes_only_what_json_must() -> None:
    event = call("Odd", {"a": 'x"\\\n\t\x01é漢🙂/'})
    assert haystack(event) == "Odd {0} {0}".format('{"a":"x\\"\\\\\\n\\t\\u0001é漢🙂/"}')


def test_orphan_results_are_searched() -> None:
    whole = transcript(answer("lost", "orphan output"))
    assert whole.events[0].kind == "tool_result"
    assert haystack(whole.events[0]) == "orphan output"


@pytest.mark.parametrize("kind", ["unknown", "hook"])
def test_records_of_hooks_and_unknown_are_searched(kind: Any) -> None:
    event = Event(
        kind=kind,
        text="label",
        command="guard.sh --strict",
        raw={"key": "value", "list": ["one", {"deep": "two"}], "n": 5, "none": None},
    )
    assert haystack(event) == "label\nguard.sh --strict\nvalue\none\ntwo"


def test_bookkeeping_is_searched_by_its_text_alone() -> None:
    raw = {"secret": "inner"}
    assert haystack(Event(kind="system", text="mode", bookkeeping=True, raw=raw)) == "mode"
    assert haystack(Event(kind="unknown", text="mode", bookkeeping=True, raw=raw)) == "mode"
    assert haystack(Event(kind="system", text="notice", raw=raw)) == "notice"


def test_role_model_and_empty_parts_are_left_out() -> None:
    event = Event(kind="text", text="said", role="user", model="opus", result=Result(text=""))
    assert haystack(event) == "said"
    assert haystack(Event(kind="text")) == ""
    assert haystack(Event(kind="tool_use")) == ""
    assert haystack(Event(kind="tool_use", tool="Stop")) == "Stop"
    assert haystack(Event(kind="tool_result", result=Result(text="", detail={"a": "x"}))) == "x"
