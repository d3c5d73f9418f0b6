"""Attachments of Claude Code: hook firings, files, queued prompts, and the agent's own notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agtail.agents.base import TITLE_PROMPT, Item, Title
from agtail.agents.blobs import strip_base64
from agtail.agents.claude_code import text as texts
from agtail.agents.claude_code.hooks import HOOK_ATTACHMENTS, hook_attachment
from agtail.model import Event
from agtail.records import Json

_READABLE = frozenset(
    {
        "file",
        "directory",
        "edited_text_file",
        "edited_image_file",
        "compact_file_reference",
        "plan_file_reference",
        "selected_lines_in_ide",
        "opened_file_in_ide",
        "pdf_reference",
        "mcp_resource",
        "nested_memory",
        "relevant_memories",
        "goal_status",
        "diagnostics",
        "task_status",
        "task_reminder",
        "todo_reminder",
        "todo",
        "structured_output",
        "max_turns_reached",
        "queued_command",
    }
)
"""Content that came from the human's side or the tools: shown and searched as system text."""

_KNOWN = frozenset(
    {
        "agent_listing_delta",
        "agent_mention",
        "async_agent_status",
        "auto_mode",
        "auto_mode_exit",
        "command_permissions",
        "critical_system_reminder",
        "date",
        "date_change",
        "deferred_tools_delta",
        "environment",
        "instructions",
        "invoked_skills",
        "mcp_instructions_delta",
        "memory_update",
        "model",
        "output_style",
        "output_style_change",
        "plan_mode",
        "plan_mode_exit",
        "plan_mode_reentry",
        "prompt_snapshot",
        "remote_session_change",
        "session_context",
        "skill_listing",
        "token_usage",
        "total_tokens_reminder",
        "ultramemory",
        "verify_plan_reminder",
    }
)
"""State that the agent notes for itself; kept whole, hidden unless asked for."""

_PATHS = ("displayPath", "filename", "path", "planFilePath", "uri", "taskId")
_BODIES = ("content", "snippet", "text", "prompt", "description", "status", "memories", "data")


def attachment_event(record: Json, attachment: Json) -> Iterator[Item]:
    """Map one ``attachment`` record."""
    kind = attachment.get("type")
    name = kind if isinstance(kind, str) else ""
    if name in HOOK_ATTACHMENTS or name.startswith("hook_"):
        yield hook_attachment(attachment)
        return
    queued = prompt_of_queue(attachment)
    if queued is not None and _typed(attachment, queued):
        _, images = strip_base64(attachment.get("prompt"))
        if title := texts.title_of(queued):
            yield Title(title, TITLE_PROMPT)
        yield Event(kind="text", role="user", text=queued, images=images)
        return
    raw, images = strip_base64(record)
    label = f"attachment · {name}" if name else "attachment"
    known = name in _READABLE or name in _KNOWN
    yield Event(
        kind="system" if known else "unknown",
        role="system",
        text=_readable(label, attachment) if name in _READABLE else label,
        raw=raw,
        images=images,
        bookkeeping=name in _KNOWN,
    )


def prompt_of_queue(attachment: Json) -> str | None:
    """Return the text of a ``queued_command``: what was typed, or reported, in mid-turn."""
    if attachment.get("type") != "queued_command":
        return None
    return texts.joined(attachment.get("prompt"))


def _typed(attachment: Json, queued: str) -> bool:
    """Whether a human typed it: this is then its only record."""
    origin = attachment.get("origin")
    if isinstance(origin, dict) and origin.get("kind"):
        return bool(origin["kind"] == "human")
    mode = attachment.get("commandMode")
    return mode in (None, "prompt") and not texts.is_injected(queued)


def _readable(label: str, attachment: Json) -> str:
    """Render what a person would want to find again: where it came from, and its text."""
    lines = [label]
    lines.extend(value for key in _PATHS if isinstance(value := attachment.get(key), str))
    lines.extend(filter(None, (_body(attachment.get(key)) for key in _BODIES)))
    return "\n".join(dict.fromkeys(lines))


def _body(value: Any) -> str:
    """Return the text in a body, whose nesting differs by type: a file in a block, a to-do list."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_body, value)))
    if not isinstance(value, dict):
        return ""
    if isinstance(value.get("file"), dict):
        return _body(value["file"])
    parts = (value.get(key) for key in ("subject", "content", "text", "description", "status"))
    return "\n".join(part for part in parts if isinstance(part, str))
