from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from claude_home import Session, read, transcripts, write, write_lines

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_result_is_folded_into_its_call(tmp_path: Path) -> None:
    session = Session()
    session.user("list")
    session.call("Bash", "t1", command="ls")
    session.result("t1", "app.py", is_error=False)
    events = read(tmp_path, session).events
    assert [event.kind for event in events] == ["text", "tool_use"]
    call = events[1]
    assert call.result is not None
    assert (call.result.text, call.result.is_error) == ("app.py", False)


def test_result_without_call_is_kept(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    session.result("gone", "what the lost call said")
    event = read(tmp_path, session).events[1]
    assert event.kind == "tool_result"
    assert event.result is not None
    assert event.result.text == "what the lost call said"


def test_missing_error_flag_means_success_and_its_signs_mean_failure(tmp_path: Path) -> None:
    session = Session()
    answers: list[tuple[str, dict[str, Any]]] = [
        ("fine", {}),
        ("no", {"is_error": True}),
        ("<tool_use_error>no such file</tool_use_error>", {}),
        ("denied", {"toolUseResult": "Error: permission denied by the user"}),
    ]
    for number, (content, fields) in enumerate(answers):
        session.call("Read", f"t{number}", file_path="/x")
        session.result(f"t{number}", content, **fields)
    events = read(tmp_path, session).events
    failed = [event.result.is_error for event in events if event.result]
    assert failed == [False, True, True, True]


def test_nested_result_blocks_are_joined_and_images_cut(tmp_path: Path) -> None:
    session = Session()
    session.call("Read", "t1", file_path="logo.png")
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
    }
    session.result("t1", [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}, image])
    event = read(tmp_path, session).events[0]
    assert event.result is not None
    assert event.result.text == "one\ntwo"
    assert [(blob.media_type, blob.size) for blob in event.images] == [("image/png", 70)]


def test_out_of_line_output_is_read_from_its_file(tmp_path: Path) -> None:
    session = Session()
    session.call("Bash", "t1", command="cat big.log")
    session.result(
        "t1",
        "<persisted-output>\nOutput too large (90 KB). Full output saved to: "
        "/home/dev/.claude/projects/-home-dev-app/s1/tool-results/b1.txt\n\nPreview:\nfirst line",
    )
    folder = tmp_path / ".claude/projects/-home-dev-app/s1/tool-results"
    folder.mkdir(parents=True)
    (folder / "b1.txt").write_text("first line\nneedle at the end")
    event = read(tmp_path, session).events[0]
    assert event.result is not None
    assert event.result.text.endswith("needle at the end")


def test_out_of_line_output_never_leaves_the_session_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("not yours")
    session = Session()
    session.call("Bash", "t1", command="x")
    session.result("t1", f"<persisted-output>\nsaved to: ../../../../{tmp_path.name}/secret.txt\n")
    event = read(tmp_path, session).events[0]
    assert event.result is not None
    assert "not yours" not in event.result.text


def test_structured_result_keeps_only_what_text_and_input_lack(tmp_path: Path) -> None:
    session = Session()
    session.call("Edit", "t1", file_path="/a", old_string="x = 1", new_string="x = 2")
    session.result(
        "t1",
        "The file /a has been updated",
        toolUseResult={
            "filePath": "/a",
            "oldString": "x = 1",
            "newString": "x = 2",
            "originalFile": "import os\nx = 1\n",
            "userModified": False,
        },
    )
    event = read(tmp_path, session).events[0]
    assert event.result is not None
    assert event.result.detail == {"userModified": False}
    assert event.result.before == "import os\nx = 1\n"


def test_file_behind_line_numbers_is_not_kept_twice(tmp_path: Path) -> None:
    session = Session()
    session.call("Read", "t1", file_path="/a")
    session.result(
        "t1",
        "1\timport os\n2\tprint(os)",
        toolUseResult={"type": "text", "file": {"content": "import os\nprint(os)", "numLines": 2}},
    )
    event = read(tmp_path, session).events[0]
    assert event.result is not None
    assert event.result.detail == {"type": "text", "file": {"numLines": 2}}


def test_server_tool_pairs_inside_the_message(tmp_path: Path) -> None:
    session = Session()
    session.answer([{"type": "server_tool_use", "id": "w1", "name": "web_search", "input": {}}])
    session.answer(
        [
            {
                "type": "web_search_tool_result",
                "tool_use_id": "w1",
                "content": [
                    {"type": "web_search_result", "title": "Tides", "url": "https://t.invalid"}
                ],
            }
        ]
    )
    events = read(tmp_path, session).events
    assert len(events) == 1
    assert events[0].result is not None
    assert events[0].result.text == "Tides https://t.invalid"


def test_unknown_block_and_record_are_kept_whole(tmp_path: Path) -> None:
    session = Session()
    session.answer([{"type": "hologram", "payload": "see me"}])
    session.state("brand-new-record", payload={"text": "find me"})
    session.say("done")
    block, record, _ = read(tmp_path, session).events
    assert (block.kind, block.text) == ("unknown", "block · hologram")
    assert block.raw == {"type": "hologram", "payload": "see me"}
    assert (record.kind, record.text) == ("unknown", "brand-new-record")
    assert record.raw["payload"] == {"text": "find me"}


def test_redacted_and_empty_thoughts_are_thoughts(tmp_path: Path) -> None:
    session = Session()
    session.answer([{"type": "thinking", "thinking": "look first", "signature": "x"}])
    session.answer([{"type": "redacted_thinking", "data": "RU5D"}])
    events = read(tmp_path, session).events
    assert [(event.kind, event.text) for event in events] == [
        ("thinking", "look first"),
        ("thinking", ""),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "<local-command-caveat>Caveat: x</local-command-caveat>",
        "<command-name>/clear</command-name>\n<command-args></command-args>",
        "<command-message>audit</command-message>\n<command-name>/audit</command-name>",
        "<local-command-stdout>Goodbye!</local-command-stdout>",
        "<bash-input>git status</bash-input>",
        "<bash-stdout> M app.py</bash-stdout><bash-stderr></bash-stderr>",
        "<task-notification>\n<task-id>a1</task-id></task-notification>",
        "<system-reminder>\nThe user named this session\n</system-reminder>",
        "Caveat: The messages below were generated by the user while running local commands. X",
        [{"type": "text", "text": "[Request interrupted by user for tool use]"}],
    ],
)
def test_text_put_there_by_the_program_is_system(tmp_path: Path, content: object) -> None:
    session = Session()
    session.user("a real prompt")
    session.say("an answer")
    session.user(content)
    found = read(tmp_path, session)
    assert found.events[2].kind == "system"
    assert found.session.title == "a real prompt"
    assert found.session.messages == 2


def test_prompt_with_a_reminder_woven_in_is_human_and_titled_without(tmp_path: Path) -> None:
    session = Session()
    session.user("<system-reminder>\nbe careful\n</system-reminder>\nRename the module")
    found = read(tmp_path, session)
    assert (found.events[0].kind, found.events[0].role) == ("text", "user")
    assert found.session.title == "Rename the module"


def test_prompt_queued_in_mid_turn_is_the_humans(tmp_path: Path) -> None:
    session = Session()
    session.user("start")
    session.attach(type="queued_command", prompt="also the tests", commandMode="prompt")
    session.attach(
        type="queued_command",
        prompt="<task-notification>done</task-notification>",
        commandMode="task-notification",
        origin={"kind": "task-notification"},
    )
    events = read(tmp_path, session).events
    assert [(event.kind, event.role) for event in events] == [
        ("text", "user"),
        ("text", "user"),
        ("system", "system"),
    ]


def test_queued_prompt_shows_only_when_it_never_arrived(tmp_path: Path) -> None:
    session = Session()
    session.state("queue-operation", operation="enqueue", content="arrives", timestamp="2026-05-01")
    session.user("arrives")
    session.state("queue-operation", operation="enqueue", content="is lost", timestamp="2026-05-01")
    texts = [event.text for event in read(tmp_path, session).events]
    assert texts == ["arrives", "queued, never sent: is lost"]


def test_api_failure_is_system_and_no_model(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    entry = session.say("API Error: 500 Internal server error", model="<synthetic>")
    entry["isApiErrorMessage"] = True
    found = read(tmp_path, session)
    assert found.events[1].kind == "system"
    assert found.session.models == []
    assert found.session.ending == "error"


def test_repeated_state_is_kept_once_and_changes_are_kept(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    for mode in ("normal", "normal", "plan", "normal"):
        session.state("mode", mode=mode)
    modes = [event.text for event in read(tmp_path, session).events if event.bookkeeping]
    assert modes == ["mode: normal", "mode: plan", "mode: normal"]


def test_name_by_the_human_beats_the_agents_and_can_be_taken_back(tmp_path: Path) -> None:
    session = Session()
    session.user("first prompt")
    session.state("ai-title", aiTitle="A generated title")
    session.state("custom-title", customTitle="My name")
    assert read(tmp_path, session).session.title == "My name"
    session.state("custom-title", customTitle="")
    assert read(tmp_path, session).session.title == "A generated title"


def test_summary_titles_only_the_session_whose_leaf_it_names(tmp_path: Path) -> None:
    other = Session("other")
    other.state("summary", summary="About something else", leafUuid="not-here")
    other.user("what I typed")
    assert read(tmp_path, other).session.title == "what I typed"
    own = Session("own")
    own.state("summary", summary="About this", leafUuid="own-0001")
    own.user("what I typed")
    assert read(tmp_path, own).session.title == "About this"


def test_title_falls_back_to_a_slash_command(tmp_path: Path) -> None:
    session = Session()
    session.user("<local-command-caveat>Caveat</local-command-caveat>", isMeta=True)
    session.user("<command-name>/prune</command-name><command-args>all</command-args>")
    session.say("Pruned.")
    assert read(tmp_path, session).session.title == "/prune all"


def test_plan_session_is_named_by_the_plan(tmp_path: Path) -> None:
    session = Session()
    session.user("Implement the following plan:\n\n# Split the parser\n\n1. …")
    assert read(tmp_path, session).session.title == "Split the parser"


@pytest.mark.parametrize(
    ("envelope", "fields", "expected"),
    [
        ({"entrypoint": "sdk-cli"}, {}, (True, "sdk-cli")),
        ({"entrypoint": "sdk-py"}, {}, (True, "sdk-py")),
        ({"entrypoint": "cli"}, {"promptSource": "sdk"}, (True, "cli")),
        ({"entrypoint": "cli"}, {}, (False, "cli")),
        ({"entrypoint": "claude-desktop"}, {}, (False, "claude-desktop")),
        ({"entrypoint": None, "version": "2.1.5"}, {}, (False, None)),
        ({"entrypoint": None, "version": "1.0.88"}, {}, (None, None)),
    ],
)
def test_launcher(
    tmp_path: Path,
    envelope: dict[str, Any],
    fields: dict[str, Any],
    expected: tuple[bool | None, str | None],
) -> None:
    session = Session(**envelope)
    session.user("go", **fields)
    session.say("ok")
    found = read(tmp_path, session).session
    assert (found.programmatic, found.origin) == expected


def test_queue_record_first_means_headless_in_old_versions(tmp_path: Path) -> None:
    session = Session(entrypoint=None, version="2.0.42")
    session.state("queue-operation", operation="dequeue", timestamp="2026-05-01T10:00:00Z")
    session.user("go")
    session.say("ok")
    assert read(tmp_path, session).session.programmatic is True


def test_kept_records_without_message_and_odd_types_never_fail(tmp_path: Path) -> None:
    odd = [
        "{}",
        '{"type": null}',
        '{"type": {"a": 1}}',
        '{"type": "user"}',
        '{"type": "user", "message": 5}',
        '{"type": "assistant", "message": {"content": null}}',
        '{"type": "attachment"}',
        '{"type": "attachment", "attachment": {"type": 7}}',
        '{"type": "system", "content": [1, {"a": 2}]}',
    ]
    session = Session()
    session.user("real")
    write_lines(tmp_path, "-p/s1.jsonl", [*session.lines, *odd])
    found = transcripts(tmp_path)["s1"]
    assert found.session.integrity is None
    assert found.session.title == "real"


def test_usage_is_counted_once_a_response_with_the_last_and_largest(tmp_path: Path) -> None:
    session = Session()
    session.user("go")
    for text, output in (("a", 9), ("b", 9), ("c", 159)):
        session.say(text, message_id="m1", usage={"input_tokens": 4, "output_tokens": output})
    found = read(tmp_path, session)
    assert found.session.usage is not None
    assert (found.session.usage.input_tokens, found.session.usage.output_tokens) == (4, 159)
    assert [event.usage is not None for event in found.events] == [False, True, False, False]


def test_thought_carries_usage_only_when_nothing_else_can(tmp_path: Path) -> None:
    session = Session()
    usage = {"input_tokens": 1, "output_tokens": 2}
    session.answer([{"type": "thinking", "thinking": "hm"}], "m1", usage=usage)
    session.say("yes", message_id="m1", usage=usage)
    session.answer([{"type": "thinking", "thinking": "alone"}], "m2", usage=usage)
    events = read(tmp_path, session).events
    assert [event.usage is not None for event in events] == [False, True, True]


def test_cache_writes_keep_their_durations(tmp_path: Path) -> None:
    session = Session()
    session.say(
        "x",
        message_id="m1",
        usage={
            "input_tokens": 1,
            "output_tokens": 1,
            "cache_creation_input_tokens": 30,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        },
    )
    usage = read(tmp_path, session).session.usage
    assert usage is not None
    assert (
        usage.cache_creation_tokens,
        usage.cache_creation_5m_tokens,
        usage.cache_creation_1h_tokens,
    ) == (30, 10, 20)


def test_sidecar_title_and_archive_mark(tmp_path: Path) -> None:
    session = Session()
    session.user("prompt")
    path = write(tmp_path, session)
    folder = path.with_suffix("")
    folder.mkdir()
    (folder / "custom-title.json").write_text('{"customTitle": "Named aside"}')
    (folder / "archived.json").write_text('{"archived": true}')
    found = transcripts(tmp_path)["s1"].session
    assert (found.title, found.archived) == ("Named aside", True)
    (folder / "custom-title.json").write_text("{broken")
    assert transcripts(tmp_path)["s1"].session.title == "prompt"


def test_desktop_register_gives_title_and_archive_mark(tmp_path: Path) -> None:
    session = Session()
    session.user("prompt")
    write(tmp_path, session)
    folder = tmp_path / "Library/Application Support/Claude/claude-code-sessions/a/b"
    folder.mkdir(parents=True)
    (folder / "local_1.json").write_text(
        '{"cliSessionId": "s1", "title": "From the desktop", "isArchived": true}'
    )
    found = transcripts(tmp_path)["s1"].session
    assert (found.title, found.archived) == ("From the desktop", True)
