"""Tool calls of Codex: their arguments, what came of them, and one line to show for them."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from agtail.agents.base import ToolResult, text_of
from agtail.agents.blobs import blob_from_base64, blob_from_data_url, placeholder, strip_base64
from agtail.agents.codex.lines import TOOL_ITEMS, listing, mapping
from agtail.lenient import BROKEN, decode_text
from agtail.model import Blob
from agtail.records import Json

_ASKED = (
    *("command", "cwd", "changes", "arguments", "invocation", "query", "action", "path"),
    *("prompt", "model", "revised_prompt"),
)
"""Fields of an item that are the call's; everything else came of it."""

_REPEATED = frozenset({"type", "id", "call_id", "turn_id", "command", "parsed_cmd"})
"""Fields of an item that the call holds already, or that only tie records together."""

_HEADER = (
    r"\A(?:(?:Chunk ID|Wall time|Original token count|Total output lines)\b[^\n]*\n|Output:\n)*"
)
_EXIT_CODE = re.compile(_HEADER + r"(?:.*exited with code|Exit code:) (-?\d+)")
_REFUSED = re.compile(
    _HEADER + r"(?:apply_patch verification failed|error:|unsupported call:"
    r"|Command blocked by PreToolUse hook|aborted by user)"
)
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_SHELLS = re.compile(r"(?:.*[/\\])?(?:ba|z|da|k|fi)?sh(?:\.exe)?")


def tool_name(payload: Json, kind: str) -> str:
    """Return the name of a call: its own, or that of the kind of record."""
    named = kind in ("function_call", "custom_tool_call")
    return text_of(payload, "name") or ("" if named else kind.removesuffix("_call"))


def arguments_of(payload: Json) -> Any:
    """Return the arguments of a call as JSON, never losing what cannot be parsed.

    A string that is no JSON becomes ``{"raw": …}``, JSON that is no object ``{"value": …}``, and
    the free text of a custom tool ``{"input": …}``.
    """
    if isinstance(payload.get("input"), str):
        return {"input": payload["input"]}
    given = payload.get("arguments")
    if isinstance(given, str):
        decoded = decode_text(given) if given.strip() else {}
        if decoded is BROKEN:
            return {"raw": given}
        return decoded if isinstance(decoded, dict) else {"value": decoded}
    if isinstance(given, dict):
        return strip_base64(given)[0]
    if isinstance(payload.get("action"), dict):
        return payload["action"]
    asked = {key: payload[key] for key in ("query", "revised_prompt") if payload.get(key)}
    return asked if given is None else {"value": given}


def answer(payload: Json) -> ToolResult:
    """Map an output record: a text, a list of parts, an object, or (old) JSON in a string."""
    output = payload.get("output", payload.get("tools"))
    images: list[Blob] = []
    detail: Any = None
    if isinstance(output, str) and output.startswith('{"output":'):
        output = _object(output) or output
    if isinstance(output, dict):
        said = next((key for key in ("output", "content") if key in output), None)
        if said is not None:
            detail = {key: value for key, value in output.items() if key != said}
            output = output[said]
    if isinstance(output, list):
        output = _join(output, images)
    elif output is not None and not isinstance(output, str):
        output = msgspec.json.encode(output).decode()
    text, cut = strip_base64(output or "")
    return ToolResult(
        tool_use_id=text_of(payload, "call_id"),
        text=text,
        is_error=failed(text) or _unsuccessful(detail),
        detail=detail,
        images=images + cut,
    )


def enrich(result: ToolResult, items: list[Json]) -> ToolResult:
    """Add what the events say about a call: its failure, a diff, an exit code, a server."""
    for item in items:
        told, _ = strip_base64(item)
        leftovers = {key: told[key] for key in told if key not in _REPEATED}
        result.is_error = bool(result.is_error) or _unsuccessful(item)
        result.detail = {**(result.detail or {}), **leftovers}
    return result


def outcome(item: Json) -> ToolResult | None:
    """Return the answer that only an event tells of; ``None`` when it tells of none."""
    result = item.get("result")
    if text_of(item, "type") == "ImageGeneration" and isinstance(result, str):
        return ToolResult(tool_use_id=text_of(item, "id"), images=[_picture(result)])
    images: list[Blob] = []
    texts = [text_of(item, key) for key in ("aggregated_output", "stdout", "stderr", "error")]
    texts.extend(
        _join(listing(place, "content") or listing(place, "content_items"), images)
        for place in (item, mapping(item, "result"), mapping(mapping(item, "result"), "Ok"))
    )
    texts.append(text_of(mapping(item, "result"), "Err"))
    text = "\n".join(filter(None, texts))
    if not text and not images and "exit_code" not in item and not _unsuccessful(item):
        return None
    found = ToolResult(tool_use_id=text_of(item, "id"), text=text, is_error=False, images=images)
    told = {key: value for key, value in item.items() if key not in _ASKED}
    return enrich(found, [told])


def call_of(item: Json) -> tuple[str, Any]:
    """Return name and input of a call that only an event tells of."""
    kind = text_of(item, "type")
    invocation = mapping(item, "invocation")
    name = TOOL_ITEMS[kind] or text_of(item, "tool") or text_of(invocation, "tool") or kind
    asked = {key: item[key] for key in _ASKED if key in item}
    return name, strip_base64(asked)[0]


def failed(text: str) -> bool:
    """Whether an output says by its own beginning that the call failed."""
    head = text[:2000]
    exited = _EXIT_CODE.match(head)
    return int(exited[1]) != 0 if exited else _REFUSED.match(head) is not None


def describe(tool: str, tool_input: object) -> str | None:
    """Return one line for a call: the command line, or the files a patch touches."""
    if not isinstance(tool_input, dict):
        return None
    command = tool_input.get("cmd", tool_input.get("command"))
    line = _unwrapped(command) if isinstance(command, list) else command
    patch = tool_input.get("input") if tool == "apply_patch" else line
    if isinstance(patch, str) and (files := _PATCHED.findall(patch)):
        listed = ", ".join(dict.fromkeys(file.strip() for file in files))
        return listed if tool == "apply_patch" else f"apply_patch {listed}"
    if isinstance(tool_input.get("changes"), dict):
        return ", ".join(tool_input["changes"])
    return line if isinstance(line, str) and line else None


def picture_of(payload: Json) -> list[Blob]:
    """Return the image that a generation call holds as base64."""
    result = text_of(payload, "result")
    return [_picture(result)] if result else []


def _picture(data: str) -> Blob:
    _, known = strip_base64(data)
    return known[0] if known else blob_from_base64(data, "image/png")


def _unwrapped(command: list[Any]) -> str:
    """Join an argument list; ``bash -lc X`` is X."""
    words = [word if isinstance(word, str) else str(word) for word in command]
    if len(words) == 3 and _SHELLS.fullmatch(words[0]) and re.fullmatch(r"-\w*c", words[1]):
        return words[2]
    return " ".join(words)


def _unsuccessful(item: Any) -> bool:
    """Whether structured fields say that a call failed."""
    if not isinstance(item, dict):
        return False
    codes = (item.get("exit_code"), mapping(item, "metadata").get("exit_code"))
    results = (mapping(item, "result"), mapping(mapping(item, "result"), "Ok"))
    return (
        item.get("status") in ("failed", "declined")
        or item.get("success") is False
        or any(isinstance(code, int) and code != 0 for code in codes)
        or any(result.get("isError") is True or "Err" in result for result in results)
    )


def _object(text: str) -> Json | None:
    value = decode_text(text)
    return value if isinstance(value, dict) and isinstance(value.get("output"), str) else None


def _join(parts: list[Any], images: list[Blob]) -> str:
    """Join the texts of an output's parts, one a line; images are collected."""
    texts = []
    for part in parts:
        if not isinstance(part, dict):
            texts.append(part if isinstance(part, str) else msgspec.json.encode(part).decode())
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part.get("image_url"), str):
            images.append(blob_from_data_url(part["image_url"]))
        else:
            other, cut = strip_base64(part)
            images.extend(cut)
            texts.append(placeholder(cut[0]) if cut else msgspec.json.encode(other).decode())
    return "\n".join(texts)
