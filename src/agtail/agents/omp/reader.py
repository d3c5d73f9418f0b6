"""Maps what Oh My Pi adds to the entries of Pi (``docs/agents/omp.md``)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from agtail.agents.base import (
    TITLE_GENERATED,
    TITLE_NAMED,
    Item,
    Meta,
    Spend,
    Title,
    ToolResult,
    text_of,
)
from agtail.agents.blobs import strip_base64
from agtail.agents.pi.reader import (
    Key,
    Reader,
    images_of,
    key_of,
    note,
    rest_of,
    spend_of,
    spent_by,
)
from agtail.model import Blob, Event
from agtail.records import Json

_QUIET = (
    "title",
    "title_change",
    "service_tier_change",
    "mode_change",
    "ttsr_injection",
    "archive",
)

_ANSWER = frozenset(
    {
        *("role", "content", "model", "usage", "stopReason", "errorMessage", "timestamp"),
        *("api", "provider", "responseId", "duration", "ttft", "completedAt", "contextSnapshot"),
        *("errorId", "providerPayload"),
    }
)
"""Fields of an answer that are in its events, or in none; the others get an event of their own."""

_MARKS = ("prunedAt", "useless")


class Child(NamedTuple):
    """What is known of a subagent by its place: its name, and the call that spawned it."""

    name: str
    call: str | None


class OmpReader(Reader):
    """Maps one file.

    Args:
        owned: entries that belong to the session this one was forked from.
        fork_of: that session.
        child: it is the file of a subagent.
    """

    def __init__(self, owned: frozenset[Key], fork_of: str | None, child: Child | None) -> None:
        super().__init__(owned, fork_of)
        self._child = child
        self._late: list[Spend] = []
        self._slot: Json = {}
        self._renamed: Json = {}
        self._named: Json = {}

    def items(self, records: Iterator[Any]) -> Iterator[Item]:
        """Map all records; the title and what helpers spent come last."""
        yield from super().items(records)
        yield from self._late
        yield from self._title()

    def _entry(self, data: Json) -> Iterator[Item]:
        match kind := text_of(data, "type"):
            case "model_usage":
                said = f"usage · {text_of(data, 'purpose')}"
                event = _bookkeeping(said, data)
                event.message_id = spent_by(data)
                yield event
                # The model of a helper is none of those that a session is named by.
                for item in spend_of(data):
                    item.inherited = key_of(data) in self._owned
                    self._late.append(item)
            case "session_init":
                prompt = data.get("systemPrompt")
                blocks = prompt if isinstance(prompt, list) else [prompt]
                said = "\n".join(block for block in blocks if isinstance(block, str))
                left_out = (
                    ("systemPrompt",) if all(isinstance(each, str) for each in blocks) else ()
                )
                yield _bookkeeping(said or kind, rest_of(data, *left_out))
            case "credential_pin":
                yield _bookkeeping(kind, rest_of(data, "hash"))
            case "reset_boundary":
                yield Event(kind="system", role="system", text="context cleared", raw=data)
            case _ if kind in _QUIET:
                if kind == "title":
                    self._slot = data
                elif kind == "title_change":
                    self._renamed = data
                yield _bookkeeping(kind, data)
            case _:
                yield from super()._entry(data)

    def _header(self, data: Json) -> Iterator[Item]:
        if not self._begun:
            self._named = {"title": data.get("title"), "source": data.get("titleSource")}
            if self._child:
                name, call = self._child
                yield Meta(agent_name=name, spawned_by_tool_use_id=call)
        yield from super()._header(data)

    def _origin(self, data: Json) -> str | None:
        return None if self._child else super()._origin(data)

    def _title(self) -> Iterator[Title]:
        """Tell the title: the slot's, which is the newest; but it may be cut there."""
        slot, renamed = (text_of(each, "title") for each in (self._slot, self._renamed))
        cut = slot.rstrip("…").rstrip()
        best = self._slot if slot else self._named
        if renamed and renamed.startswith(cut):
            best = self._renamed
        if said := text_of(best, "title"):
            by_hand = text_of(best, "source") == "user"
            yield Title(said, TITLE_NAMED if by_hand else TITLE_GENERATED)

    def _message(self, data: Json, message: Json) -> Iterator[Item]:
        match text_of(message, "role"):
            case "developer":
                yield from note(data, message)
            case "fileMention":
                yield _mention(data, message)
            case "pythonExecution":
                said = f"$ {text_of(message, 'code')}\n{text_of(message, 'output')}".rstrip()
                rest = rest_of(data, "code", "output")
                yield Event(kind="system", role="system", text=said, raw=rest)
            case _:
                yield from super()._message(data, message)

    def _user(self, data: Json, message: Json) -> Iterator[Item]:
        by_agent = text_of(message, "attribution") == "agent" and self._child is None
        if not by_agent and not message.get("synthetic"):
            yield from super()._user(data, message)
            return
        self._ending = "interrupted"  # until something answers
        self._open.clear()
        yield from note(data, message)

    def _assistant(self, data: Json, message: Json) -> Iterator[Item]:
        shown = False
        for item in super()._assistant(data, message):
            shown = shown or (isinstance(item, Event) and item.raw is data)
            yield item
        more = {key: value for key, value in message.items() if key not in _ANSWER}
        if more and not shown:
            yield _bookkeeping("answer", strip_base64(more)[0])

    def _block(self, block: Any) -> Event:
        match text_of(block, "type"):
            case "redactedThinking":
                return Event(kind="thinking", role="assistant", text="")
            case "image":
                images = images_of(block)
                return Event(kind="system", role="system", text="image", images=images)
        event = super()._block(block)
        if event.kind == "tool_use":
            streamed = text_of(block, "partialArgs")
            intent = text_of(block, "intent")
            raw = {}
            if streamed and _decoded(streamed) != block.get("arguments"):
                raw["partialArgs"] = streamed
            if intent and not (isinstance(event.input, dict) and event.input.get("i") == intent):
                raw["intent"] = intent
            event.raw = raw or None
        return event

    def _result(self, data: Json, message: Json) -> Iterator[Item]:
        details, linked = message.get("details"), list[Blob]()
        if isinstance(details, dict) and details.get("images"):
            left, linked = _linked(details["images"])
            message = {**message, "details": {**details, "images": left}}
        for item in super()._result(data, message):
            if isinstance(item, ToolResult):
                known = {image.sha256 for image in item.images}
                item.images += [image for image in linked if image.sha256 not in known]
                _complete(item, message)
            yield item


def _complete(item: ToolResult, message: Json) -> None:
    """Put the old file of an edit where it belongs, and add marks."""
    detail = dict(item.detail) if isinstance(item.detail, dict) else {}
    inner = detail.get("details")
    if isinstance(inner, dict) and inner.get("diff") and isinstance(inner.get("oldText"), str):
        item.before = inner["oldText"]
        detail["details"] = {
            key: value for key, value in inner.items() if key not in ("oldText", "newText")
        }
    detail.update({key: message[key] for key in _MARKS if message.get(key)})
    item.detail = detail or None


def _bookkeeping(text: str, raw: Any) -> Event:
    return Event(kind="system", role="system", text=text, raw=raw, bookkeeping=True)


def _mention(data: Json, message: Json) -> Event:
    """Map files that were named with ``@``, as they were put before the model."""
    said: list[str] = []
    images: list[Blob] = []
    left: list[Any] = []
    files = message.get("files")
    for file in files if isinstance(files, list) else [files]:
        if not isinstance(file, dict):
            left.append(file)
            continue
        said.append(f"@{text_of(file, 'path')}\n{text_of(file, 'content')}".rstrip())
        if isinstance(image := file.get("image"), dict):
            images += images_of(image)
        left.append({key: file[key] for key in file if key not in ("content", "image")})
    rest = rest_of({**data, "message": {**message, "files": left}})
    return Event(kind="system", role="system", text="\n\n".join(said), images=images, raw=rest)


def _linked(images: Any) -> tuple[Any, list[Blob]]:
    """Take images out of a list whose bytes are in files of their own."""
    if not isinstance(images, list):
        return images, []
    linked = [each for each in images if text_of(each, "data").startswith("blob:")]
    blobs = [blob for block in linked for blob in images_of(block)]
    return [each for each in images if each not in linked], blobs


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
