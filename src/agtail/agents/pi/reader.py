"""Maps the entries of a Pi session (``docs/agents/pi.md``)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from agtail.agents.base import (
    TITLE_NAMED,
    TITLE_PROMPT,
    Abandoned,
    Ended,
    Item,
    Meta,
    Spend,
    Title,
    ToolResult,
    text_of,
    token_count,
)
from agtail.agents.blobs import strip_base64
from agtail.agents.pi import injected
from agtail.agents.pi.adapter import Pi, id_in
from agtail.errors import SourceError
from agtail.model import Blob, Ending, Event, Integrity, Source, Usage
from agtail.records import Json, Record, read_jsonl

_PROMPT_FIRST = 3
"""Format version from which a prompt may be the last record."""

Key = tuple[str, str]
"""Id and time of an entry: what is the same in a copy of it."""

_ENDINGS: dict[str, Ending] = {"length": "limit", "error": "error", "aborted": "interrupted"}
_LINK = "blob:sha256:"
_QUIET = ("model_change", "thinking_level_change", "label", "context_edit", "session_info")


class Link(NamedTuple):
    """An entry in the tree: its parent, and the line it stands in."""

    parent: str | None
    line: int


def keys_of(paths: Iterable[str]) -> frozenset[Key]:
    """Return the entries of other files, of which copies may be found.

    A file that cannot be read is told of where it is a session itself; here it owns nothing.
    """
    keys: set[Key] = set()
    for path in paths:
        with contextlib.suppress(SourceError):
            records = read_jsonl(path, Integrity(), glued=Pi.glued)
            keys.update(key_of(record.data) for record in records)
    return frozenset(keys)


class Reader:
    """Maps one file.

    Args:
        owned: entries that belong to the session this one was forked from.
        fork_of: that session.
    """

    def __init__(self, owned: frozenset[Key], fork_of: str | None) -> None:
        self._owned = owned
        self._fork_of = fork_of
        self._links: dict[str, Link] = {}
        self._last: str | None = None
        self._begun = False
        self._version = 1
        self._open: set[str] = set()
        self._ending: Ending | None = None

    def items(self, records: Iterator[Record]) -> Iterator[Item]:
        """Map all records, then what only the end of the file tells."""
        for record in records:
            data = record.data
            source = Source(line=record.line, offset=record.offset, length=record.length)
            inherited = key_of(data) in self._owned
            self._link(data, record.line)
            for item in self._entry(data):
                if isinstance(item, Event | ToolResult):
                    item.src = item.src or source
                    item.ts = item.ts or text_of(data, "timestamp") or None
                    item.inherited = inherited
                elif isinstance(item, Spend):
                    item.inherited = inherited
                yield item
        lines, branches = self._abandoned()
        if branches:
            yield Abandoned(lines=lines, branches=branches)
        yield Ended("interrupted" if self._open else self._ending)

    def _entry(self, data: Json) -> Iterator[Item]:
        kind = text_of(data, "type")
        match kind:
            case "session":
                yield from self._header(data)
            case "message":
                message = data.get("message")
                yield from self._message(data, message if isinstance(message, dict) else {})
            case "compaction" | "branch_summary":
                yield Event(
                    kind="summary",
                    role="system",
                    text=text_of(data, "summary"),
                    compact=kind == "compaction",
                    message_id=spent_by(data),
                    raw=rest_of(data, "summary"),
                )
                yield from spend_of(data)
            case "usage":
                yield Event(
                    kind="system",
                    role="system",
                    text=f"usage · {text_of(data, 'kind')}",
                    message_id=spent_by(data),
                    raw=data,
                    bookkeeping=True,
                )
                yield from spend_of(data)
            case "custom_message":
                yield from note(data, data)
            case "custom":
                yield Event(
                    kind="system",
                    role="system",
                    text=text_of(data, "customType"),
                    raw=data,
                    bookkeeping=True,
                )
            case _ if kind in _QUIET:
                if kind == "session_info":
                    yield Title(text_of(data, "name"), TITLE_NAMED)
                yield Event(kind="system", role="system", text=kind, raw=data, bookkeeping=True)
            case _:
                yield Event(kind="unknown", role="system", text=kind or "record", raw=data)

    def _header(self, data: Json) -> Iterator[Item]:
        if not self._begun:
            self._begun = True
            version = data.get("version")
            self._version = version if isinstance(version, int) else 1
            yield Meta(
                id=text_of(data, "id") or None,
                cwd=text_of(data, "cwd") or None,
                started=text_of(data, "timestamp") or None,
                fork_of=self._origin(data),
            )
        yield Event(kind="system", role="system", text="session", raw=data, bookkeeping=True)

    def _origin(self, data: Json) -> str | None:
        return self._fork_of or id_in(text_of(data, "parentSession")) or None

    def _message(self, data: Json, message: Json) -> Iterator[Item]:
        match role := text_of(message, "role"):
            case "user":
                yield from self._user(data, message)
            case "assistant":
                yield from self._assistant(data, message)
            case "toolResult":
                yield from self._result(data, message)
            case "bashExecution":
                command, output = text_of(message, "command"), text_of(message, "output")
                rest = rest_of(data, "command", "output")
                yield Event(
                    kind="system", role="system", text=f"! {command}\n{output}".rstrip(), raw=rest
                )
            case "custom" | "hookMessage":
                yield from note(data, message)
            case "branchSummary" | "compactionSummary":
                yield Event(
                    kind="summary",
                    role="system",
                    text=text_of(message, "summary"),
                    compact=role == "compactionSummary",
                    raw=rest_of(data, "summary"),
                )
            case "system":
                yield Event(
                    kind="system",
                    role="system",
                    text=text_of(message, "content") or "system prompt",
                    raw=data,
                    bookkeeping=True,
                )
            case _:
                yield Event(kind="unknown", role="system", text=role or "message", raw=data)

    def _user(self, data: Json, message: Json) -> Iterator[Item]:
        # Until something answers; older versions wrote no prompt before its answer.
        self._ending = "interrupted" if self._version >= _PROMPT_FIRST else None
        self._open.clear()
        said, images, odd = _content(message.get("content"))
        yield from odd
        put_in, typed = injected.split("\n".join(said))
        if put_in:
            yield Event(kind="system", role="system", text=put_in, raw=rest_of(data))
        if typed.strip() or images:
            if typed.strip():
                yield Title(typed, TITLE_PROMPT)
            yield Event(kind="text", role="user", text=typed, images=images)

    def _assistant(self, data: Json, message: Json) -> Iterator[Item]:
        model, key = text_of(message, "model") or None, spent_by(data)
        self._open.clear()
        self._ending = _ENDINGS.get(text_of(message, "stopReason"))
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        for block in blocks:
            if block is None:
                continue
            event = self._block(block)
            event.model, event.message_id = model, key
            yield event
        failure = text_of(message, "errorMessage")
        if failure or not any(blocks):
            said = failure or "empty answer"
            yield Event(
                kind="system", role="system", text=said, model=model, message_id=key, raw=data
            )
        if model:
            yield Meta(model=model)
        yield from spend_of(data, message)

    def _block(self, block: Any) -> Event:
        """Map a part of an answer."""
        kind = text_of(block, "type")
        if isinstance(block, str) or kind == "text":
            said = block if isinstance(block, str) else text_of(block, "text")
            return Event(kind="text", role="assistant", text=said)
        if kind == "thinking":
            return Event(kind="thinking", role="assistant", text=text_of(block, "thinking"))
        if kind == "toolCall":
            call = text_of(block, "id")
            self._open.add(call)
            arguments, images = strip_base64(block.get("arguments"))
            return Event(
                kind="tool_use",
                role="assistant",
                tool=text_of(block, "name"),
                tool_use_id=call,
                input=arguments,
                images=images,
            )
        return _odd(block)

    def _result(self, data: Json, message: Json) -> Iterator[Item]:
        call = text_of(message, "toolCallId")
        self._open.discard(call)
        said, images, odd = _content(message.get("content"))
        yield from odd
        detail, more = strip_base64(
            {key: message[key] for key in ("details", "nestedCalls") if message.get(key)}
        )
        seen = {image.sha256 for image in images}
        failed = message.get("isError")
        yield ToolResult(
            tool_use_id=call,
            text="\n".join(said),
            is_error=failed if isinstance(failed, bool) else None,
            detail=detail or None,
            images=images + [image for image in more if image.sha256 not in seen],
        )
        yield from spend_of(data, message)

    def _link(self, data: Json, line: int) -> None:
        identity = text_of(data, "id")
        if not identity or data.get("type") == "session":
            return
        parent = data.get("parentId", self._last)  # v1 is a chain
        self._links[identity] = Link(parent if isinstance(parent, str) else None, line)
        self._last = identity

    def _abandoned(self) -> tuple[frozenset[int], int]:
        """Return the lines that are off the path to the last entry, and how many branches."""
        path: set[str] = set()
        at = self._last
        while at is not None and at not in path:
            path.add(at)
            link = self._links.get(at)
            at = link.parent if link else None
        off = {identity: link for identity, link in self._links.items() if identity not in path}
        branches = sum(link.parent not in off for link in off.values())
        return frozenset(link.line for link in off.values()), branches


def note(data: Json, place: Json) -> Iterator[Item]:
    """Map what an extension put before the model."""
    said, images, odd = _content(place.get("content"))
    yield from odd
    yield Event(
        kind="system",
        role="system",
        text="\n".join(said),
        images=images,
        raw=rest_of(data, "content"),
    )


def _content(content: Any) -> tuple[list[str], list[Blob], list[Event]]:
    """Take content apart: texts, images, and blocks of other kinds."""
    said: list[str] = []
    images: list[Blob] = []
    odd: list[Event] = []
    for block in content if isinstance(content, list) else [content]:
        kind = text_of(block, "type") if isinstance(block, dict) else ""
        if isinstance(block, str):
            said.append(block)
        elif kind == "text":
            said.append(text_of(block, "text"))
        elif kind == "image":
            images.extend(images_of(block))
        elif block is not None:
            odd.append(_odd(block))
    return said, images, odd


def images_of(block: Json) -> list[Blob]:
    """Describe an image, in base64 or (in the fork Oh My Pi) in a file named by its digest."""
    data = text_of(block, "data")
    if data.startswith(_LINK):
        kind = text_of(block, "mimeType")
        return [Blob(media_type=kind, sha256=data.removeprefix(_LINK), url=data)]
    return strip_base64(block)[1]


def _odd(block: Any) -> Event:
    kept, images = strip_base64(block)
    kind = text_of(block, "type") if isinstance(block, dict) else ""
    return Event(kind="unknown", role="system", text=f"block {kind}", raw=kept, images=images)


def spent_by(data: Json) -> str:
    """Return what names the response whose usage an entry has."""
    return "@".join(key_of(data))


def spend_of(data: Json, place: Json | None = None) -> Iterator[Spend]:
    """Return the usage that an entry has, in itself or in its message."""
    holder = data if place is None else place
    usage = holder.get("usage")
    if not isinstance(usage, dict):
        return
    long = token_count(usage.get("cacheWrite1h"))
    thought = usage.get("reasoning", usage.get("reasoningTokens"))  # the latter in Oh My Pi
    yield Spend(
        key=spent_by(data),
        model=text_of(holder, "model") or None,
        usage=Usage(
            input_tokens=token_count(usage.get("input")),
            output_tokens=token_count(usage.get("output")),
            cache_read_tokens=token_count(usage.get("cacheRead")),
            cache_creation_tokens=token_count(usage.get("cacheWrite")),
            cache_creation_1h_tokens=long if "cacheWrite1h" in usage else None,
            reasoning_tokens=token_count(thought) or None,
        ),
    )


def key_of(data: Json) -> Key:
    """Return what is the same in a copy of an entry."""
    return text_of(data, "id"), text_of(data, "timestamp")


def rest_of(data: Json, *left_out: str) -> Any:
    """Return a record without what stands in its event already, binary data cut out."""
    message = data.get("message")
    rest = {key: value for key, value in data.items() if key not in left_out}
    if isinstance(message, dict):
        rest["message"] = {key: value for key, value in message.items() if key not in left_out}
    return strip_base64(rest)[0]
