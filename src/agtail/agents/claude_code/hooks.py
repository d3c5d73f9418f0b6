"""Hook firings of Claude Code: attachments and stop summaries → ``hook`` events."""

from __future__ import annotations

import re
from typing import Any

from agtail.agents.claude_code.metadata import said
from agtail.model import Event

HOOK_ATTACHMENTS = frozenset(
    {
        "hook_success",
        "hook_additional_context",
        "hook_system_message",
        "hook_non_blocking_error",
        "hook_blocking_error",
        "hook_cancelled",
        "hook_error_during_execution",
        "hook_stopped_continuation",
        "hook_permission_decision",
        "hook_deferred_tool",
        "async_hook_response",
    }
)

_SCRIPT = re.compile(r"[^\s\"'/\\=]+\.(?:py|sh|js|ts|mjs|cjs|rb)(?=$|[\s\"';&|)])")
_LABEL_LENGTH = 60
_LINE_LENGTH = 120


def hook_attachment(attachment: dict[str, Any]) -> Event:
    """Map one attachment of a hook; one firing can leave several."""
    command = attachment.get("command")
    call = attachment.get("toolUseID")
    tool = attachment.get("toolName")
    return Event(
        kind="hook",
        role="system",
        text=_describe(attachment),
        hook_event=_text(attachment.get("hookEvent") or attachment.get("hook")) or None,
        tool_use_id=call if isinstance(call, str) else None,
        tool=tool if isinstance(tool, str) else None,
        command=command if isinstance(command, str) else None,
        raw=attachment,
    )


def stop_summary(record: dict[str, Any]) -> Event:
    """Map a ``stop_hook_summary``: every Stop hook of a turn, even a silent one."""
    infos = [info for info in _list(record.get("hookInfos")) if isinstance(info, dict)]
    commands = [_text(info.get("command")) for info in infos]
    labels = (_scripts(command) or [command[:_LABEL_LENGTH]] for command in commands if command)
    names = list(dict.fromkeys(name for label in labels for name in label))
    text = f"Stop · {', '.join(names)}" if names else f"Stop · {len(infos)} hook(s)"
    total = sum(_number(info.get("durationMs")) for info in infos)
    if total > 0:
        text += f" ({total:g}ms)"
    if errors := _list(record.get("hookErrors")):
        text += f" — {len(errors)} error(s)"
    return Event(
        kind="hook",
        role="system",
        text=text,
        hook_event="Stop",
        command="\n".join(filter(None, commands)) or None,
        raw=said(record),
    )


def _describe(attachment: dict[str, Any]) -> str:
    """One line in the words of the outcome, never longer than a terminal line or two."""
    label = _label(attachment)
    kind = attachment.get("type")
    if kind == "hook_success":
        duration = attachment.get("durationMs")
        return f"{label} ({_number(duration):g}ms)" if duration is not None else label
    if kind in ("hook_non_blocking_error", "hook_blocking_error", "hook_error_during_execution"):
        reason = _first_line(_error_text(attachment)) or f"exit {attachment.get('exitCode')}"
        return f"✗ {label} — {reason}"
    if kind == "hook_cancelled":
        return f"⊘ {label} cancelled"
    if kind == "async_hook_response":
        return f"⤳ async {label}"
    if kind == "hook_additional_context":
        context = _first_line(_joined(attachment.get("content")))
        return f"+context · {context}" if context else f"{label} · +context"
    message = _first_line(_joined(attachment.get("content") or attachment.get("message")))
    return f"{label} · {message}" if message else label


def _error_text(attachment: dict[str, Any]) -> str:
    blocking = attachment.get("blockingError")
    nested = blocking.get("blockingError") if isinstance(blocking, dict) else blocking
    return _text(attachment.get("stderr")) or _text(nested) or _joined(attachment.get("content"))


def _label(attachment: dict[str, Any]) -> str:
    """Script names in the command, else its beginning, else what the hook was for."""
    command = _text(attachment.get("command"))
    if scripts := _scripts(command):
        return ", ".join(dict.fromkeys(scripts))
    if command:
        return command[:_LABEL_LENGTH]
    return _text(attachment.get("hookName")).partition(":")[2]


def _scripts(command: str) -> list[str]:
    return _SCRIPT.findall(command)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:_LINE_LENGTH]


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_text(part) for part in value)
    return _text(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(value: Any) -> float:
    """Read a duration that some versions write as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0
