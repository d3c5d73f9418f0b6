"""What is searched of an event, and the one line that stands for a tool's input."""

from __future__ import annotations

from typing import Any

import msgspec

from agtail.lenient import strings_of
from agtail.model import Event

_RAW_KINDS = frozenset({"unknown", "hook"})
"""Kinds whose record is searched as well: nothing else of the event holds what it says."""

_SHELLS = frozenset(
    {
        "Bash",
        "bash",
        "exec",
        "exec_command",
        "execute_command",
        "local_shell",
        "run_in_terminal",
        "run_shell_command",
        "run_terminal_cmd",
        "shell",
        "shell_command",
    }
)
_FILES = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Read", "Write"})
_AGENTS = frozenset({"Agent", "Task"})
_FIELD = {"WebFetch": "url", "WebSearch": "query"}


def haystack(event: Event) -> str:
    """Return the text that a pattern is looked for in.

    Joined by newlines, what is empty left out: the event's text; for a tool call its name,
    summary and input as compact JSON, with blanks between; the text of the result; the strings
    in the result's details; for hooks and unknown records the hook's command and the strings of
    the record. Nothing else: no role, model, title or folder.
    """
    parts = [event.text] if event.text else []
    if event.kind == "tool_use":
        parts.append(_call(event))
    result = event.result
    if result is not None:
        parts.append(result.text)
        if result.detail is not None:
            parts.extend(strings_of(result.detail))
    if event.kind in _RAW_KINDS and not event.bookkeeping:
        parts.append(event.command or "")
        parts.extend(strings_of(event.raw))
    return parts[0] if len(parts) == 1 else "\n".join(filter(None, parts))


def summarize(event: Event) -> str:
    """Return one line for a tool call: its command, file, address or question.

    The adapter's own summary when there is one, else the shared rule; compact JSON of the input
    when neither knows better.
    """
    if event.summary:
        return event.summary
    arguments = event.input
    if isinstance(arguments, str):
        return _one_line(arguments)
    if arguments is None:
        return ""
    known = _known_tool(event.tool or "", arguments) if isinstance(arguments, dict) else ""
    return _one_line(known or _compact(arguments))


def _call(event: Event) -> str:
    arguments = "" if event.input is None else _compact(event.input)
    return " ".join(filter(None, (event.tool, summarize(event), arguments)))


def _known_tool(tool: str, arguments: dict[str, Any]) -> str:
    if tool in _SHELLS:
        command = _text(arguments.get("command")) or _text(arguments.get("cmd"))
        described = _text(arguments.get("description"))
        return f"{command}   « {described}" if command and described else command
    if tool in _FILES:
        return _text(arguments.get("file_path")) or _text(arguments.get("notebook_path"))
    if tool in _AGENTS:
        kind = _text(arguments.get("subagent_type")) or "?"
        described = _text(arguments.get("description"))
        return f"{kind}: {described}" if described else ""
    return _text(arguments.get(_FIELD.get(tool, "")))


def _text(value: object) -> str:
    """Return a string, or a list of words as one; anything else is no text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return " ".join(word if isinstance(word, str) else _compact(word) for word in value)
    return ""


def _one_line(text: str) -> str:
    return text.replace("\r\n", " ").replace("\n", " ")


def _compact(value: object) -> str:
    return msgspec.json.encode(value).decode()
