"""Tool results of Claude Code: text, failure, structured leftovers, out-of-line output."""

from __future__ import annotations

import os
import re
from typing import Any

from agtail.agents.base import ToolResult
from agtail.agents.blobs import strip_base64
from agtail.agents.claude_code import text as texts
from agtail.errors import SourceError
from agtail.records import Json, open_source

MAX_OUTPUT = 64 * 1024 * 1024
"""Bytes of an out-of-line output that are read; the agent itself writes far less."""

_SAVED = re.compile(r"saved to:\s*(\S[^\n]*)")
_NUMBERED = re.compile(r"^\s*\d+(?:\t|→)", re.MULTILINE)


def tool_result(block: Json, record: Json, folder: str) -> ToolResult:
    """Map a ``tool_result`` block (or a server tool's result) and the record around it.

    Args:
        block: the content block.
        record: its record, whose ``toolUseResult`` holds the structured form.
        folder: the session's own folder, where ``tool-results/`` lies.
    """
    content, images = strip_base64(block.get("content"))
    text = texts.joined(content)
    if not text and isinstance(content, list | dict) and content:
        text = _listed(content)
    text += _out_of_line(text, folder)
    structured, more = strip_base64(record.get("toolUseResult"))
    failed = (
        block.get("is_error") is True
        or "<tool_use_error>" in text
        or (isinstance(structured, str) and structured.startswith("Error"))
        or (isinstance(content, dict) and str(content.get("type", "")).endswith("_error"))
    )
    seen = {image.sha256 for image in images}
    call = block.get("tool_use_id")
    return ToolResult(
        tool_use_id=call if isinstance(call, str) else "",
        text=text,
        is_error=failed,
        detail=_with_decision(_leftovers(structured, text), record),
        before=_before(structured),
        images=images + [image for image in more if image.sha256 not in seen],
    )


def _listed(content: Any) -> str:
    """Render the entries of a server tool's result: what a person would read of them."""
    entries = content if isinstance(content, list) else [content]
    lines = []
    for entry in entries:
        if isinstance(entry, dict):
            values = [
                value
                for key, value in entry.items()
                if isinstance(value, str) and key not in ("type", "encrypted_content")
            ]
            lines.append(" ".join(values))
    return "\n".join(filter(None, lines))


def _out_of_line(text: str, folder: str) -> str:
    """Return the full output that a result only points to, when it is still there."""
    if "<persisted-output>" not in text or not (saved := _SAVED.search(text)):
        return ""
    name = os.path.basename(saved[1].strip().replace("\\", "/"))
    try:
        with open_source(os.path.join(folder, "tool-results", name)) as stream:
            output = stream.read(MAX_OUTPUT).decode("utf-8", "replace")
    except (SourceError, OSError, ValueError):
        return ""
    return f"\n{output}"


def _with_decision(detail: Any, record: Json) -> Any:
    """Add who allowed or refused the call, and by which rule, when that is recorded."""
    decision = {key: record[key] for key in _DECISION if record.get(key)}
    if not decision:
        return detail
    told = detail if isinstance(detail, dict) else {"toolUseResult": detail} if detail else {}
    return {**told, **decision}


_DECISION = ("permissionDecision", "toolDenialKind")


def _before(structured: Any) -> str | None:
    before = structured.get("originalFile") if isinstance(structured, dict) else None
    return before if isinstance(before, str) else None


def _leftovers(structured: Any, text: str) -> Any:
    """Drop from the structured form what the text says already (a file behind line numbers)."""
    if not isinstance(structured, dict):
        return structured if structured and structured != text else None
    structured = {key: value for key, value in structured.items() if key != "originalFile"}
    file = structured.get("file")
    if isinstance(file, dict) and isinstance(file.get("content"), str):
        body = file["content"]
        if body.strip() and body.strip() in _NUMBERED.sub("", text):
            kept = {key: value for key, value in file.items() if key != "content"}
            return {**structured, "file": kept}
    return structured
