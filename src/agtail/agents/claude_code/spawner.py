"""Who spawned a subagent, for versions that wrote no file beside it: the parent's record tells."""

from __future__ import annotations

from typing import Any

import msgspec

from agtail.errors import SourceError
from agtail.model import Integrity
from agtail.records import decode_object, open_source, unpack


class Call(msgspec.Struct, frozen=True):
    """The call that spawned a subagent."""

    tool_use_id: str
    agent_name: str | None = None
    description: str | None = None


def spawner(parent: str, agent_id: str) -> Call | None:
    """Find the call in the parent's transcript whose result names the subagent.

    ``None`` when the parent is gone or never heard of it.
    """
    needle = f'"agentId":"{agent_id}"'.encode()
    calls: dict[str, dict[str, Any]] = {}
    try:
        with open_source(parent) as stream:
            for line in unpack(stream):
                if b'"tool_use"' in line and b'"subagent_type"' in line:
                    calls.update(_calls(decode_object(line.strip(), Integrity())))
                elif needle in line.replace(b'": "', b'":"') and b'"tool_result"' in line:
                    call = _answered(decode_object(line.strip(), Integrity()), agent_id)
                    if call is not None:
                        return _described(call, calls.get(call, {}))
    except (SourceError, OSError):
        return None
    return None


def _calls(data: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
    return {
        str(block.get("id")): block["input"]
        for block in _blocks(data)
        if block.get("type") == "tool_use" and isinstance(block.get("input"), dict)
    }


def _answered(data: dict[str, Any] | None, agent_id: str) -> str | None:
    result = (data or {}).get("toolUseResult")
    if not isinstance(result, dict) or result.get("agentId") != agent_id:
        return None
    ids = [block.get("tool_use_id") for block in _blocks(data)]
    return next((call for call in ids if isinstance(call, str)), None)


def _blocks(data: dict[str, Any] | None) -> list[dict[str, Any]]:
    message = (data or {}).get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content or () if isinstance(block, dict)]


def _described(call: str, tool_input: dict[str, Any]) -> Call:
    name, description = tool_input.get("subagent_type"), tool_input.get("description")
    return Call(
        call,
        name if isinstance(name, str) else None,
        description if isinstance(description, str) else None,
    )
