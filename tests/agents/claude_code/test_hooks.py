from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_home import Session, read

from agtail.agents.claude_code.hooks import hook_attachment, stop_summary


@pytest.mark.parametrize(
    ("attachment", "text"),
    [
        ({"type": "hook_success", "command": "/x/guard.sh --a", "durationMs": 7}, "guard.sh (7ms)"),
        ({"type": "hook_success", "command": "/x/guard.sh", "durationMs": "8"}, "guard.sh (8ms)"),
        ({"type": "hook_success", "command": "lint --all"}, "lint --all"),
        ({"type": "hook_success", "hookName": "PostToolUse:Edit"}, "Edit"),
        (
            {"type": "hook_non_blocking_error", "command": "lint", "stderr": "\n lint: gone\nmore"},
            "✗ lint — lint: gone",
        ),
        ({"type": "hook_non_blocking_error", "command": "lint", "exitCode": 3}, "✗ lint — exit 3"),
        (
            {
                "type": "hook_blocking_error",
                "command": "g.py",
                "blockingError": {"blockingError": "no"},
            },
            "✗ g.py — no",
        ),
        ({"type": "hook_cancelled", "hookName": "PostToolUse:Bash"}, "⊘ Bash cancelled"),
        ({"type": "async_hook_response", "hookName": "SessionStart:startup"}, "⤳ async startup"),
        (
            {"type": "hook_additional_context", "content": ["prune in March\nx"]},
            "+context · prune in March",
        ),
        ({"type": "hook_additional_context", "hookName": "A:b", "content": []}, "b · +context"),
        ({"type": "hook_system_message", "hookName": "A:b", "content": "a note"}, "b · a note"),
    ],
)
def test_text_of_a_firing(attachment: dict[str, Any], text: str) -> None:
    assert hook_attachment(attachment).text == text


def test_hook_takes_the_name_of_the_call_that_triggered_it(tmp_path: Path) -> None:
    session = Session()
    session.call("Write", "t1", file_path="/a")
    session.attach(
        type="hook_success", hookEvent="PreToolUse", toolUseID="t1", command="${ROOT}/g.sh"
    )
    hook = read(tmp_path, session).events[1]
    assert (hook.kind, hook.hook_event, hook.tool) == ("hook", "PreToolUse", "Write")
    assert hook.command == "${ROOT}/g.sh"
    assert hook.raw["toolUseID"] == "t1"


def test_hook_before_its_call_takes_the_name_too(tmp_path: Path) -> None:
    session = Session()
    session.attach(type="hook_success", hookEvent="PreToolUse", toolUseID="t1", command="g.sh")
    session.call("Write", "t1", file_path="/a")
    assert read(tmp_path, session).events[0].tool == "Write"


def test_stop_summary() -> None:
    record = {
        "hookInfos": [
            {"command": "/x/a.sh run", "durationMs": 30},
            {"command": "plain", "durationMs": 3},
        ],
        "hookErrors": ["one"],
    }
    assert stop_summary(record).text == "Stop · a.sh, plain (33ms) — 1 error(s)"
    assert stop_summary({"hookInfos": [{}, {}]}).text == "Stop · 2 hook(s)"
    assert stop_summary({"hookInfos": [{"command": "/x/a.sh"}]}).command == "/x/a.sh"
