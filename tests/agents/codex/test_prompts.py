"""Who said what: human, assistant, program; and each text once."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from codex_home import OWN, Rollout, own, read, texts

PIXELS = bytes(range(256)) * 3
PICTURE = f"data:image/png;base64,{base64.b64encode(PIXELS).decode()}"


def test_events_tell_the_human_from_the_program(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("typed by me")
    rollout.user("no tag, but nobody typed it", shown=False)
    transcript = read(tmp_path, rollout)
    assert texts(transcript, role="user") == ["typed by me"]
    assert "no tag, but nobody typed it" in texts(transcript, "system")


def test_without_events_the_opening_tells(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>", shown=False)
    rollout.user("# AGENTS.md instructions for /srv\n\nbe brief", shown=False)
    rollout.user("the prompt stands only here", shown=False)
    transcript = read(tmp_path, rollout)
    assert texts(transcript, role="user") == ["the prompt stands only here"]
    assert transcript.session.title == "the prompt stands only here"


def test_each_turn_is_judged_by_itself(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.event("task_started")
    rollout.user("with an event")
    rollout.event("task_started")
    rollout.user("by a version without", shown=False)
    assert texts(read(tmp_path, rollout)) == ["with an event", "by a version without"]


def test_the_record_itself_has_the_last_word(tmp_path: Path) -> None:
    rollout = Rollout()
    for speaker in ("user", "harness"):
        rollout.item(
            "message",
            role="user",
            content=[{"type": "input_text", "text": f"<skill> by {speaker}"}],
            internal_chat_message_metadata_passthrough={
                "content_item_metadata": [{"provenance": {"type": speaker}}]
            },
        )
    assert texts(read(tmp_path, rollout), role="user") == ["<skill> by user"]


def test_an_editor_wraps_the_request(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("# Context from my IDE setup:\n\na.py\n\n## My request for Codex:\nfix it\n")
    transcript = read(tmp_path, rollout)
    assert texts(transcript) == ["fix it"]
    (context,) = own(transcript, "system")[1:]
    assert context.text is not None
    assert "a.py" in context.text


def test_a_working_directory_that_stands_only_in_the_context(tmp_path: Path) -> None:
    rollout = Rollout(meta=False)
    rollout.lines.append({"id": OWN, "timestamp": "2025-06-01T00:00:00Z", "instructions": None})
    rollout.user(
        "<environment_context>\n  <cwd>/srv/shop</cwd>\n</environment_context>", shown=False
    )
    rollout.user("hello", shown=False)
    assert read(tmp_path, rollout).session.cwd == "/srv/shop"


def test_a_prompt_that_stands_only_in_an_event(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.event("user_message", message="old prompt", images=[PICTURE], local_images=["/a/b.png"])
    rollout.completed("UserMessage", id="u1", content=[{"type": "text", "text": "new prompt"}])
    transcript = read(tmp_path, rollout)
    assert texts(transcript, role="user") == ["old prompt", "new prompt"]
    embedded, named = own(transcript, "text")[0].images
    assert (embedded.media_type, embedded.size) == ("image/png", len(PIXELS))
    assert named.name == "/a/b.png"


def test_payloads_are_cut_out_and_described(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.item(
        "message",
        role="user",
        content=[
            {"type": "input_text", "text": '<image name=[Image #1] path="docs/red.png">'},
            {"type": "input_image", "image_url": PICTURE},
            {"type": "input_text", "text": "</image>"},
            {"type": "input_text", "text": "what is it?"},
            {"type": "input_file", "file_data": PICTURE},
        ],
    )
    rollout.event("user_message", message="what is it?", images=[PICTURE])
    rollout.call("view_image", "c1")
    rollout.output("c1", [{"type": "input_image", "image_url": PICTURE}])
    rollout.item("image_generation_call", id="ig1", result=base64.b64encode(PIXELS).decode())
    rollout.completed("ImageGeneration", id="ig1", result=base64.b64encode(PIXELS).decode())
    rollout.event("something_new", blob=PICTURE)
    transcript = read(tmp_path, rollout)
    prompt, view, made = (
        event for event in transcript.events if event.kind in ("text", "tool_use")
    )
    digest = hashlib.sha256(PIXELS).hexdigest()
    assert prompt.text == "what is it?"
    assert [(image.name, image.sha256) for image in prompt.images] == [("docs/red.png", digest)]
    assert [image.sha256 for image in view.images] == [digest]
    assert [image.sha256 for image in made.images] == [digest]
    assert PICTURE[-400:] not in str(list(transcript.events))


def test_answers_and_thoughts_that_stand_only_in_events(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.event("agent_reasoning", text="thought in an event")
    rollout.event("agent_reasoning_raw_content", text="raw thought")
    rollout.event("agent_reasoning", text="  ")
    rollout.event("agent_message", message="same")
    rollout.event("agent_message", message="same")
    rollout.assistant("same")
    rollout.completed("AgentMessage", id="m1", content=[{"type": "Text", "text": "an item"}])
    rollout.completed("Reasoning", id="r1", summary_text=["in an item"], raw_content=[])
    rollout.completed("Plan", id="p1", text="first this, then that")
    transcript = read(tmp_path, rollout)
    assert texts(transcript, role="assistant") == [
        *("same", "same", "an item", "first this, then that")
    ]
    assert texts(transcript, "thinking") == ["thought in an event", "raw thought", "in an item"]


def test_twins_are_emitted_once(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.completed("Reasoning", id="r1", summary_text=["a", "b"], raw_content=["c"])
    summary = [{"type": "summary_text", "text": text} for text in ("a", "b")]
    content = [{"type": "reasoning_text", "text": "c"}]
    rollout.item("reasoning", id="r2", summary=summary, content=content)
    rollout.completed("AgentMessage", id="m1", content=[{"type": "Text", "text": "other text"}])
    rollout.assistant("text of the item", id="m1")
    transcript = read(tmp_path, rollout)
    assert texts(transcript, "thinking") == ["a\n\nb\n\nc"]
    assert texts(transcript, role="assistant") == ["text of the item"]


def test_compaction_is_one_event(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.event("task_started")
    rollout.assistant("so far: nothing")
    history = [{"type": "message", "role": "user", "content": [{"text": "go"}]}]
    rollout.record("compacted", message="As told:\nso far: nothing", replacement_history=history)
    rollout.item("compaction", encrypted_content="gAAAA")
    rollout.event("context_compacted")
    rollout.event("agent_message", message="Compact task completed")
    transcript = read(tmp_path, rollout)
    assert transcript.session.compactions == 1
    assert texts(transcript, "summary") == ["As told:\nso far: nothing"]
    assert texts(transcript) == ["go"]
    assert "Compact task completed" in texts(transcript, "system")


def test_an_answer_that_ends_like_a_compaction_is_an_answer(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.assistant("done.")
    rollout.record("compacted", message="all is done.")
    assert texts(read(tmp_path, rollout), role="assistant") == ["done."]


def test_a_compaction_without_its_record(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.item("context_compaction", encrypted_content="gAAAA")
    rollout.assistant("a summary that was cut off")
    rollout.lines[-1]["metadata"] = {"compaction_output": True}
    transcript = read(tmp_path, rollout)
    assert transcript.session.compactions == 1
    assert texts(transcript, "summary") == [None, "a summary that was cut off"]


def test_hooks(tmp_path: Path) -> None:
    rollout = Rollout()
    rollout.item(
        "message",
        role="developer",
        content=[{"type": "input_text", "text": "Remember tests.\nAnd more."}],
        internal_chat_message_metadata_passthrough={
            "content_item_kinds": ["hooks.additional_context"]
        },
    )
    rollout.completed("HookPrompt", id="h1", text="Fix the lint first.\nThen go on.")
    transcript = read(tmp_path, _asked(rollout))
    assert texts(transcript, "hook") == [
        "+context · Remember tests.",
        "+context · Fix the lint first.",
    ]
    assert "And more." in str(own(transcript, "hook")[0].raw)


def test_instructions_of_the_program_are_hidden(tmp_path: Path) -> None:
    rollout = Rollout()
    content = [{"type": "input_text", "text": "You are an agent"}]
    rollout.item("message", role="developer", content=content)
    (event,) = own(read(tmp_path, _asked(rollout)), "system")[1:]
    assert (event.text, event.role, event.bookkeeping) == ("You are an agent", "system", True)


@pytest.mark.parametrize("part", [{"type": "input_audio", "audio": "soon"}, "bare", 7, None])
def test_parts_of_another_kind_are_kept(tmp_path: Path, part: Any) -> None:
    rollout = Rollout()
    rollout.item("message", role="user", content=[part, {"type": "input_text", "text": "hello"}])
    transcript = read(tmp_path, rollout)
    assert texts(transcript) == ["hello"]
    (unknown,) = own(transcript, "unknown")
    assert unknown.raw == part


def test_states_are_kept_when_they_change(tmp_path: Path) -> None:
    rollout = Rollout()
    for turn, model in enumerate(["gpt-5", "gpt-5", "gpt-5-mini", "gpt-5-mini", "gpt-5"]):
        rollout.record("turn_context", turn_id=f"t{turn}", model=model)
    transcript = read(tmp_path, _asked(rollout))
    contexts = [event.text for event in transcript.events if event.bookkeeping][1:]
    assert contexts == [f"turn_context · {model}" for model in ("gpt-5", "gpt-5-mini", "gpt-5")]
    assert transcript.session.models == ["gpt-5", "gpt-5-mini"]


def _asked(rollout: Rollout) -> Rollout:
    rollout.user("hello")
    return rollout
