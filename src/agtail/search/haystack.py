"""What is searched of an event, and the one line that stands for a tool's input."""

from __future__ import annotations

from typing import Any, NamedTuple

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


class Parts(NamedTuple):
    """The pieces of a haystack, in their order; empty ones are left out of it.

    Attributes:
        text: the event's text.
        call: tool name, summary and arguments, with blanks between.
        arguments: the input as compact JSON, the end of ``call``.
        result: the text of the result.
        more: details of the result; command and record of a hook or an unknown record.
    """

    text: str
    call: str
    arguments: str
    result: str
    more: tuple[str, ...]


def haystack(event: Event) -> str:
    """Return the text that a pattern is looked for in.

    Joined by newlines, what is empty left out: the event's text; for a tool call its name,
    summary and input as compact JSON, with blanks between; the text of the result; the strings
    in the result's details; for hooks and unknown records the hook's command and the strings of
    the record. Nothing else: no role, model, title or folder.
    """
    return join(parts_of(event))


def join(parts: Parts) -> str:
    """Put a haystack together."""
    whole = (parts.text, parts.call, parts.result, *parts.more)
    return "\n".join(filter(None, whole))


def parts_of(event: Event) -> Parts:
    """Take an event apart into what is searched of it."""
    call = arguments = ""
    if event.kind == "tool_use":
        arguments = "" if event.input is None else _compact(event.input)
        call = " ".join(filter(None, (event.tool, summarize(event), arguments)))
    more: list[str] = []
    result = event.result
    if result is not None and result.detail is not None:
        more.extend(strings_of(result.detail))
    if event.kind in _RAW_KINDS and not event.bookkeeping:
        more.append(event.command or "")
        more.extend(strings_of(event.raw))
    text = result.text if result is not None else ""
    return Parts(event.text or "", call, arguments, text, tuple(more))


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
