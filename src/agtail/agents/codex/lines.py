"""One line of a rollout, whatever generation of Codex wrote it, as type, payload and place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from agtail.agents.base import text_of
from agtail.model import Integrity
from agtail.records import Json, Record, read_json, read_jsonl

TURN_STARTS = frozenset({"task_started", "turn_started"})
TURN_ENDS = frozenset({"task_complete", "turn_complete"})

TOOL_ITEMS = {
    "CommandExecution": "exec_command",
    "FileChange": "apply_patch",
    "McpToolCall": "",
    "WebSearch": "web_search",
    "ImageView": "view_image",
    "ImageGeneration": "image_generation",
    "CollabAgentToolCall": "",
    "DynamicToolCall": "",
    "FunctionCallOutput": "",
}
"""Items that tell of a tool call, with the tool's name where the item holds none."""

_LEGACY_ITEMS = {
    "exec_command_end": "CommandExecution",
    "patch_apply_end": "FileChange",
    "mcp_tool_call_end": "McpToolCall",
    "web_search_end": "WebSearch",
    "view_image_tool_call": "ImageView",
    "image_generation_end": "ImageGeneration",
    "dynamic_tool_call_response": "DynamicToolCall",
}
_BARE_ITEM = re.compile(r"message|reasoning|ghost_snapshot|\w+_call(?:_output)?")


class Line(NamedTuple):
    """A record: top-level type, payload, the payload's own type, and the record itself.

    ``kind`` is ``session_meta``, ``response_item`` … for all generations; empty for a record
    that fits none of them.
    """

    kind: str
    payload: Json
    sub: str
    record: Record

    @property
    def ts(self) -> str | None:
        """When the line was written; the first generation does not say."""
        value = self.record.data.get("timestamp")
        return value if isinstance(value, str) else None

    @property
    def ordinal(self) -> int | None:
        """Position in the thread's history, which spans files (since 0.149)."""
        value = self.record.data.get("ordinal")
        return value if isinstance(value, int) else None


def read_lines(path: str, health: Integrity) -> Iterator[Line]:
    """Read a rollout: JSON Lines, or the single document of the first versions.

    Raises:
        SourceError: the file cannot be opened or read at all.
    """
    if not path.endswith(".json"):
        for record in read_jsonl(path, health):
            yield line_of(record)
        return
    document = read_json(path, health)
    if isinstance(document, dict):
        members = [document.get("session"), *listing(document, "items")]
        for number, member in enumerate(members, 1):
            if isinstance(member, dict):
                yield line_of(Record(number, 0, 0, member))


def line_of(record: Record) -> Line:
    """Bring a record of any generation into one shape."""
    data = record.data
    kind, payload = data.get("type"), data.get("payload")
    if isinstance(kind, str) and isinstance(payload, dict):
        return Line(kind, payload, text_of(payload, "type"), record)
    if "record_type" in data:
        return Line("state", data, "", record)
    if isinstance(kind, str) and _BARE_ITEM.fullmatch(kind):
        return Line("response_item", data, kind, record)
    if kind is None and isinstance(data.get("id"), str):
        return Line("session_meta", data, "", record)
    return Line("", {}, "", record)


def tool_item(line: Line) -> Json | None:
    """Return what an event says about a tool call as an item, also of versions before items."""
    payload = line.payload
    if line.sub == "item_completed":
        item = mapping(payload, "item")
        return item if text_of(item, "type") in TOOL_ITEMS else None
    kind = _LEGACY_ITEMS.get(line.sub)
    if kind is None and line.sub.startswith("collab_") and line.sub.endswith("_end"):
        kind = "CollabAgentToolCall"
    if kind is None or not text_of(payload, "call_id"):
        return None
    return {**payload, "type": kind, "id": payload["call_id"]}


def message_texts(payload: Json) -> list[str]:
    """Return the texts of a message or item, one per part."""
    parts = listing(payload, "content")
    return [text for part in parts if isinstance(part, dict) and (text := text_of(part, "text"))]


def mapping(value: Json, key: str) -> Json:
    """Return an object field, empty when it is absent or of another type."""
    field = value.get(key)
    return field if isinstance(field, dict) else {}


def listing(value: Json, key: str) -> list[Any]:
    """Return a list field, empty when it is absent or of another type."""
    field = value.get(key)
    return field if isinstance(field, list) else []
