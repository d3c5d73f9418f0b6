"""Gemini CLI: what its corpora do not show."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agtail.agents.base import Retention, Surroundings
from agtail.agents.gemini_cli.adapter import GeminiCli
from agtail.assemble import Transcript
from agtail.history import History
from agtail.model import Event

HEADER = {
    "sessionId": "s1",
    "projectHash": hashlib.sha256(b"/w/pears").hexdigest(),
    "startTime": "2026-05-01T10:00:00.000Z",
    "lastUpdated": "2026-05-01T10:00:00.000Z",
    "kind": "main",
}
CHATS = ".gemini/tmp/pears/chats"
NAME = "session-2026-05-01T10-00-s1.jsonl"


def message(number: int, kind: str, content: object, **fields: Any) -> dict[str, Any]:
    time = f"2026-05-01T10:00:{number:02d}.000Z"
    return {"id": f"m{number}", "timestamp": time, "type": kind, "content": content, **fields}


def user(number: int, text: str, **fields: Any) -> dict[str, Any]:
    return message(number, "user", [{"text": text}], **fields)


def call(identity: str, output: str = "", **fields: Any) -> dict[str, Any]:
    response = {"id": identity, "name": "read_file", "response": {"output": output}}
    return {
        "id": identity,
        "name": "read_file",
        "args": {"file_path": "/w/pears/a.py"},
        "result": [{"functionResponse": response}],
        "status": "success",
        "timestamp": "2026-05-01T10:00:30.000Z",
        **fields,
    }


def write(path: Path, *records: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def read(home: Path, **env: str) -> list[Transcript]:
    return list(History(home=home, env=env, agents=["gemini-cli"]).transcripts())


def one(home: Path, *records: object) -> Transcript:
    write(home / CHATS / NAME, HEADER, *records)
    (found,) = read(home)
    return found


def kinds(transcript: Transcript) -> list[tuple[str, str | None]]:
    return [(event.kind, event.text) for event in transcript.events if not event.bookkeeping]


def of_kind(transcript: Transcript, kind: str) -> list[Event]:
    return [event for event in transcript.events if event.kind == kind]


def adapter(home: Path, **env: str) -> GeminiCli:
    return GeminiCli(Surroundings(home=home, env=env))


def test_the_home_folder_can_be_another(tmp_path: Path) -> None:
    write(tmp_path / "other" / CHATS / NAME, HEADER, user(1, "pears"))
    assert read(tmp_path) == []
    (found,) = read(tmp_path, GEMINI_CLI_HOME=str(tmp_path / "other"))
    assert found.session.title == "pears"


def test_a_sandboxed_agent_writes_elsewhere(tmp_path: Path) -> None:
    write(tmp_path / ".cache" / CHATS / NAME, HEADER, user(1, "pears"))
    assert [each.session.title for each in read(tmp_path)] == ["pears"]


def test_other_files_are_no_sessions(tmp_path: Path) -> None:
    write(tmp_path / ".gemini/tmp/pears/checkpoint-tag.json", {"history": [user(1, "pears")]})
    write(tmp_path / ".gemini/tmp/pears/logs/session-s1.jsonl", HEADER, user(1, "pears"))
    write(tmp_path / CHATS / f"{NAME}.tmp-12", HEADER, user(1, "pears"))
    assert read(tmp_path) == []


def test_a_damaged_file_gives_one_error_and_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path / CHATS / NAME, HEADER, user(1, "pears"))
    (tmp_path / CHATS / "session-2026-05-01T11-00-s2.jsonl").mkdir()
    warnings: list[str] = []
    history = History(home=tmp_path, env={}, agents=["gemini-cli"], warn=warnings.append)
    found = {each.session.id: each.session for each in history.transcripts()}
    assert found.pop("s1").title == "pears"
    ((_, broken),) = found.items()
    assert broken.integrity is not None
    assert broken.integrity.unreadable


def test_a_torn_line_is_counted_and_what_is_glued_to_it_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / CHATS / NAME, HEADER, user(1, "pears"))
    update = json.dumps({"$set": {"summary": "Fruit"}})
    with path.open("a") as file:
        file.write('{"id":"m2","timesta' + update.replace(": ", ":") + "\n")
        file.write(json.dumps(message(3, "gemini", "plums", model="m")) + "\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (found,) = read(tmp_path)
    assert found.session.title == "Fruit"
    assert [event.text for event in of_kind(found, "text")] == ["pears", "plums"]
    assert found.session.integrity is not None
    assert found.session.integrity.dropped == 1


def test_what_is_not_known_is_kept(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        user(1, "pears", mood="bright and sunny"),
        {"type": "hologram", "data": "kept as it is"},
        message(2, "poem", "of another type"),
        message(3, "gemini", [{"executableCode": {"code": "print()"}}, {"text": "plums"}]),
    )
    assert [event.raw for event in of_kind(found, "unknown")] == [
        {"type": "hologram", "data": "kept as it is"},
        message(2, "poem", "of another type"),
        {"executableCode": {"code": "print()"}},
    ]
    assert {"mood": "bright and sunny"} in [event.raw for event in found.events]


def test_a_damaged_document_loses_only_the_damaged_message(tmp_path: Path) -> None:
    messages = [user(1, "pears"), user(2, "plums"), message(3, "gemini", "figs")]
    text = json.dumps({**HEADER, "messages": messages, "summary": "Fruit"}, indent=2)
    path = tmp_path / CHATS / "session-2026-05-01T10-00-s1.json"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace('"plums"', '"plu"ms"'))
    (found,) = read(tmp_path)
    assert [event.text for event in of_kind(found, "text")] == ["pears", "figs"]
    assert found.session.title == "Fruit"
    assert found.session.integrity is not None
    assert (found.session.integrity.dropped, found.session.integrity.truncated) == (1, False)
    path.write_text(text[: text.index('"figs"')])
    (found,) = read(tmp_path)
    assert [event.text for event in of_kind(found, "text")] == ["pears", "plums"]
    assert found.session.integrity is not None
    assert (found.session.integrity.dropped, found.session.integrity.truncated) == (1, True)


def test_a_file_set_aside_belongs_to_its_session(tmp_path: Path) -> None:
    write(tmp_path / CHATS / f"{NAME}.unreadable-1700000000000", HEADER, user(1, "pears"))
    write(tmp_path / CHATS / NAME, HEADER, user(2, "plums"))
    (found,) = read(tmp_path)
    assert [event.text for event in of_kind(found, "text")] == ["plums", "pears"]
    assert found.session.path.endswith(NAME)


def test_tokens_of_tools_are_input_and_cached_ones_are_none(tmp_path: Path) -> None:
    tokens = {"input": 100, "output": 7, "cached": 60, "thoughts": 3, "tool": 5, "total": 115}
    found = one(tmp_path, user(1, "pears"), message(2, "gemini", "figs", tokens=tokens, model="m"))
    usage = found.session.usage
    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens) == (45, 60)
    assert (usage.output_tokens, usage.reasoning_tokens) == (10, 3)


def test_a_cancelled_call_is_an_error_and_a_changed_answer_is_kept(tmp_path: Path) -> None:
    first = message(2, "gemini", "", toolCalls=[call("c1", "one"), call("c2", status="cancelled")])
    later = message(2, "gemini", "", toolCalls=[call("c1", "masked")])
    found = one(tmp_path, user(1, "pears"), first, {"$set": {"messages": [later]}})
    calls = of_kind(found, "tool_use")
    assert [(each.result and each.result.text) for each in calls] == ["one", ""]
    assert [(each.result and each.result.is_error) for each in calls] == [False, True]
    assert [each.result and each.result.text for each in of_kind(found, "tool_result")] == [
        "masked"
    ]


def test_a_call_that_stands_in_the_content_only_is_kept(tmp_path: Path) -> None:
    asked = {"functionCall": {"id": "c9", "name": "glob", "args": {"pattern": "*.py"}}}
    answer = {"functionResponse": {"id": "c9", "name": "glob", "response": {"error": "no such"}}}
    listed = [message(2, "gemini", [asked]), message(3, "user", [answer])]
    found = one(tmp_path, user(1, "pears"), {"$set": {"messages": listed}})
    (used,) = of_kind(found, "tool_use")
    assert used.tool == "glob"
    assert used.result is not None
    assert (used.result.text, used.result.is_error) == ("no such", True)


def test_contents_of_files_are_not_the_humans(tmp_path: Path) -> None:
    files = "\n--- Content from referenced files ---\nsecret sauce\n--- End of content ---"
    found = one(tmp_path, message(1, "user", f"Look at @a.py{files}"))
    assert kinds(found) == [("text", "Look at @a.py\n"), ("system", files.strip())]


def test_a_rewind_to_an_unknown_message_drops_all(tmp_path: Path) -> None:
    found = one(tmp_path, user(1, "pears"), {"$rewindTo": "nowhere"}, user(2, "plums"))
    assert [event.rewound for event in of_kind(found, "text")] == [True, False]
    assert found.session.branches == 1


@pytest.mark.parametrize(
    ("records", "ending"),
    [
        ([user(1, "pears")], "interrupted"),
        ([user(1, "pears"), message(2, "gemini", "figs")], None),
        ([user(1, "pears"), message(2, "gemini", "", toolCalls=[call("c1")])], "interrupted"),
        ([user(1, "pears"), message(2, "error", "[API Error: quota]")], "error"),
        ([user(1, "x"), message(2, "gemini", "y"), message(3, "error", "bad command")], None),
        ([user(1, "x"), message(2, "info", "Request cancelled.")], "interrupted"),
    ],
)
def test_endings(tmp_path: Path, records: list[object], ending: str | None) -> None:
    assert one(tmp_path, *records).session.ending == ending


def test_the_directory_is_found_by_its_digest_or_in_the_registry(tmp_path: Path) -> None:
    asked = message(2, "gemini", "", toolCalls=[call("c1")])
    assert one(tmp_path, user(1, "pears"), asked).session.cwd == "/w/pears"
    registry = tmp_path / ".gemini/projects.json"
    registry.write_text(json.dumps({"projects": {"/w/registered": "pears"}}))
    assert one(tmp_path, user(1, "pears"), asked).session.cwd == "/w/registered"
    (tmp_path / ".gemini/tmp/pears/.project_root").write_text("/w/marked\n")
    assert one(tmp_path, user(1, "pears"), asked).session.cwd == "/w/marked"


def test_a_subagent_with_its_parents_id_has_one_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / CHATS / NAME, HEADER, user(1, "pears"))
    write(tmp_path / CHATS / "s1" / "helper.jsonl", HEADER, user(2, "plums"))
    found = {each.session.id: each.session for each in read(tmp_path)}
    assert found["helper"].parent_id == "s1"
    assert found["s1"].parent_id is None


@pytest.mark.parametrize(
    ("settings", "days"),
    [
        (None, 30.0),
        ({"sessionRetention": {"maxAge": "2w"}}, 14.0),
        ({"sessionRetention": {"maxAge": "12h"}}, 0.5),
        ({"sessionRetention": {"maxAge": "soon"}}, 30.0),
        ({"sessionRetention": {"enabled": False, "maxAge": "2w"}}, None),
    ],
)
def test_retention(tmp_path: Path, settings: object, days: float | None) -> None:
    path = tmp_path / ".gemini/settings.json"
    if settings is not None:
        path.parent.mkdir()
        path.write_text(json.dumps({"general": settings}))
    expected = days and Retention(
        days=days,
        setting="general.sessionRetention.maxAge",
        path=str(path),
        default=days == 30.0,
    )
    assert adapter(tmp_path).retention() == expected


def test_a_folder_that_was_asked_for_is_kept_unless_settings_say_more(tmp_path: Path) -> None:
    copy = GeminiCli(Surroundings(home=tmp_path, env={}, root=tmp_path / "copy/tmp"))
    assert copy.retention() is None
    assert copy.roots() == [tmp_path / "copy/tmp"]


def test_prompts_are_those_of_the_logs(tmp_path: Path) -> None:
    entry = {"sessionId": "s1", "messageId": 0, "type": "user", "message": "/compress"}
    write(
        tmp_path / ".gemini/tmp/pears/logs.json", [{**entry, "timestamp": "1970-01-01T00:00:01Z"}]
    )
    write(tmp_path / ".gemini/tmp/plums/logs.json", "damaged")
    assert list(adapter(tmp_path).prompts()) == [("s1", 1000, "/compress")]


def test_what_stands_beside_a_text_is_kept(tmp_path: Path) -> None:
    part = {"text": "pears", "videoMetadata": {"fps": 24}, "thoughtSignature": "x"}
    found = one(tmp_path, message(1, "user", [part, {"inlineData": {"data": "odd"}}]))
    assert [event.text for event in of_kind(found, "text")] == ["pears"]
    assert [event.raw for event in of_kind(found, "unknown")] == [
        {"videoMetadata": {"fps": 24}},
        {"inlineData": {"data": "odd"}},
    ]


def test_the_styled_screen_of_a_command_is_its_text(tmp_path: Path) -> None:
    screen = [[{"text": "two ", "bold": True}, {"text": "passed   "}], [{"text": "   "}]]
    shown = message(2, "gemini", "", toolCalls=[call("c1", "exit 0", resultDisplay=screen)])
    (used,) = of_kind(one(tmp_path, user(1, "pears"), shown), "tool_use")
    assert used.result is not None
    assert used.result.detail == {"resultDisplay": "two passed"}
