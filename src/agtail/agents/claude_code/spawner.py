"""Who spawned a subagent, for versions that wrote no file beside it: the parent's records tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from agtail.errors import SourceError
from agtail.model import Integrity
from agtail.records import Json, read_jsonl


class Call(msgspec.Struct, frozen=True):
    """The call that spawned a subagent."""

    tool_use_id: str
    agent_name: str | None = None
    description: str | None = None


def spawned_by(parent: str) -> dict[str, Call]:
    """Return the calls of a transcript that spawned subagents, by the subagent's id.

    Empty when the parent is gone or cannot be read.
    """
    inputs: dict[str, dict[str, Any]] = {}
    calls: dict[str, Call] = {}
    try:
        for record in read_jsonl(parent, Integrity()):
            for block in _blocks(record.data):
                if block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
                    inputs[str(block.get("id"))] = block["input"]
                elif block.get("type") == "tool_result":
                    result = record.data.get("toolUseResult")
                    agent = result.get("agentId") if isinstance(result, dict) else None
                    call = block.get("tool_use_id")
                    if isinstance(agent, str) and isinstance(call, str):
                        calls[agent] = _described(call, inputs.get(call, {}))
    except SourceError:
        return calls
    return calls


def _blocks(data: Json) -> Iterator[dict[str, Any]]:
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def _described(call: str, tool_input: dict[str, Any]) -> Call:
    name, description = tool_input.get("subagent_type"), tool_input.get("description")
    return Call(
        call,
        name if isinstance(name, str) else None,
        description if isinstance(description, str) else None,
    )
