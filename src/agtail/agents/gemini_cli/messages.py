"""Maps messages of Gemini CLI, each of which may come many times, to what is new in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from agtail.agents.base import (
    TITLE_PROMPT,
    Item,
    Meta,
    Spend,
    Title,
    ToolResult,
    text_of,
    token_count,
)
from agtail.agents.blobs import strip_base64
from agtail.agents.gemini_cli.parts import (
    CONTEXT,
    HOOK,
    HOOK_END,
    SNAPSHOT,
    answer_of,
    hooks_in,
    media_of,
    odd_event,
    parts_of,
    result_of,
    thoughts_of,
    unknown_in,
    user_pieces,
)
from agtail.agents.gemini_cli.places import Guesses, context_directory
from agtail.model import Blob, Ending, Event, Result, Source, Usage
from agtail.records import Json

_CANCELLED = "Request cancelled."
_FILLER = "Binary content received"
_LAST_CALL = "complete_task"
_KNOWN = frozenset(("id", "timestamp", "type", "content", "displayContent"))
_KNOWN_REPLY = _KNOWN | {"thoughts", "tokens", "model", "toolCalls"}


class _Empty(NamedTuple):
    """A reply in which nothing stands yet: its calls are written when they have ended."""

    identity: str
    event: Event
    spend: list[Spend]


class Messages:
    """What was said in a session so far.

    Args:
        child: it is a subagent's.
        guesses: takes note of directories that come up.
    """

    def __init__(self, guesses: Guesses, *, child: bool) -> None:
        self.child = child
        self.source: Source | None = None
        self.ending: Ending | None = None
        self.directory: str | None = None
        self._guesses = guesses
        self._ids: set[str] = set()
        self._said: set[int] = set()
        self._calls: dict[str, int] = {}
        self._answers: dict[str, set[int]] = {}
        self._images: set[str] = set()
        self._shown: set[str] = set()
        self._empty: _Empty | None = None
        self._waits = False
        self._after_snapshot = False

    def items(self, message: Json, *, listed: bool) -> Iterator[Item]:
        """Map what is new in a message.

        Args:
            message: the message as it is now.
            listed: it stands in a list that took the place of the history: those of ids that
                were not seen before may be copies of older ones.
        """
        identity = text_of(message, "id")
        copied = listed and identity not in self._ids
        if not listed:
            yield from self.flush(identity)
        self._ids.add(identity)
        match kind := text_of(message, "type"):
            case "user":
                yield from self._user(message, identity, copied=copied, listed=listed)
            case "gemini":
                yield from self._reply(message, identity, copied=copied, listed=listed)
            case "info" | "warning" | "error":
                yield from self._notice(message, identity, kind, listed=listed)
            case _:
                if self._is_new(identity, kind, repr(message), copied=False):
                    kept, images = strip_base64(message)
                    yield Event(kind="unknown", role="system", text=kind, raw=kept, images=images)

    def flush(self, identity: str = "") -> Iterator[Item]:
        """Tell of a reply in which nothing stands, when it is sure that nothing follows."""
        if self._empty is not None and self._empty.identity != identity:
            yield self._empty.event
            yield from self._empty.spend
            self._empty = None

    def _user(self, message: Json, identity: str, *, copied: bool, listed: bool) -> Iterator[Item]:
        pieces = user_pieces(message, child=self.child)
        answered = False
        for response in pieces.answers:
            known = text_of(response, "id") in self._answers
            item = self._late_answer(response)
            answered = answered or known
            if item is not None:
                yield item
        images = [blob for blob in pieces.images if not (answered and self._is_shown(blob))]
        self._show(images)
        typed = "\n".join(pieces.typed)
        spoken = bool(typed.strip() or (images and not pieces.answers))
        if spoken and self._is_new(identity, "user", typed, copied=copied):
            self._after_snapshot = False
            if not typed.lstrip().startswith(("/", "?")):
                yield Title(typed, TITLE_PROMPT)
            yield Event(kind="text", role="user", text=typed, images=images)
        elif images and self._is_new(identity, "media", "", copied=copied):
            yield Event(kind="system", role="system", text="media", images=images)
        injected = "\n".join(pieces.injected)
        if injected.strip() and self._is_new(identity, "system", injected, copied=copied):
            yield self._injected(injected)
        for text in pieces.hooks:
            if self._is_new(identity, "hook", text, copied=copied):
                yield _hook(text)
        yield from self._rest(message, identity, _KNOWN, pieces.odd, copied=copied)
        if not listed and (spoken or pieces.answers):
            self.ending, self._waits = "interrupted", True

    def _injected(self, text: str) -> Event:
        begin = text.lstrip()
        if begin.startswith(SNAPSHOT):
            self._after_snapshot = True
            return Event(kind="summary", role="system", text=text, compact=True)
        if begin.startswith(CONTEXT):
            self.directory = self.directory or context_directory(text)
        return Event(kind="system", role="system", text=text)

    def _late_answer(self, response: Json) -> Item | None:
        """Map an answer outside of its call, unless it is known."""
        identity = text_of(response, "id")
        text, more, failed = answer_of(response)
        detail, images = strip_base64(more)
        result = ToolResult(
            tool_use_id=identity, text=text, is_error=failed, detail=detail or None, images=images
        )
        return self._answer(result)

    def _answer(self, result: ToolResult) -> Item | None:
        """Return an answer when it is new: the first is the call's, others stand alone."""
        known = self._answers.setdefault(result.tool_use_id, set())
        mark = hash(result.text)
        if mark in known:
            return None
        first = not known
        known.add(mark)
        self._show(result.images)
        if first:
            return result
        return Event(
            kind="tool_result",
            tool_use_id=result.tool_use_id,
            ts=result.ts,
            result=Result(text=result.text, is_error=result.is_error, detail=result.detail),
            images=result.images,
        )

    def _reply(self, message: Json, identity: str, *, copied: bool, listed: bool) -> Iterator[Item]:
        model = text_of(message, "model") or None
        tokens = message.get("tokens")
        mine = copied and model is None and tokens is None  # no response of the model's
        events = list(self._reply_events(message, identity, copied=copied, made_up=mine))
        for event in events:
            if isinstance(event, Event):
                event.model, event.message_id = model, identity or None
            yield event
        if model:
            yield Meta(model=model)
        spend: list[Spend] = []
        if isinstance(tokens, dict):
            spend.append(Spend(key=identity, model=model, usage=_usage(tokens)))
        shown = any(isinstance(event, Event) for event in events)
        waiting = self._empty is not None and self._empty.identity == identity
        if shown:
            self._shown.add(identity)
        if not shown and not listed and identity not in self._shown:
            event = Event(kind="system", role="system", text="empty answer", model=model)
            event.message_id, event.src = identity or None, self.source
            event.ts = text_of(message, "timestamp") or None
            self._empty = _Empty(identity, event, spend)
        else:
            if shown and waiting and self._empty is not None:
                spend = [*self._empty.spend, *spend]
                self._empty = None
            yield from spend
        if not listed:
            self._end(message)

    def _end(self, message: Json) -> None:
        calls = message.get("toolCalls")
        said = any(
            (text_of(part, "text").strip() and part.get("thought") is not True) or media_of(part)
            for part in parts_of(message.get("content"))
        )
        if isinstance(calls, list) and calls:
            finished = self.child and any(text_of(call, "name") == _LAST_CALL for call in calls)
        else:
            finished = said
        self.ending = None if finished else "interrupted"
        self._waits = not finished

    def _reply_events(
        self, message: Json, identity: str, *, copied: bool, made_up: bool
    ) -> Iterator[Item]:
        for thought, time, rest in thoughts_of(message):
            if self._is_new(identity, "thought", thought, copied=copied):
                raw = rest or None
                yield Event(kind="thinking", role="assistant", text=thought, ts=time, raw=raw)
        said: list[str] = []
        images: list[Blob] = []
        calls: list[Json] = []
        odd: list[Json] = []
        for part in parts_of(message.get("content")):
            text = part.get("text")
            if isinstance(text, str) and part.get("thought") is True:
                yield from self._thought(text, identity, copied=copied)
            elif isinstance(text, str):
                said.append(text)
            elif isinstance(call := part.get("functionCall"), dict):
                calls.append(call)
            elif isinstance(response := part.get("functionResponse"), dict):
                if (item := self._late_answer(response)) is not None:
                    yield item
            elif media := media_of(part):
                images.extend(media)
            if rest := unknown_in(part):
                odd.append(rest)
        whole = "".join(said)
        new = whole.strip() or images
        if new and self._is_new(identity, "reply", whole, copied=copied):
            self._show(images)
            if made_up and self._after_snapshot:
                yield Event(kind="system", role="system", text=whole, images=images)
            else:
                yield Event(kind="text", role="assistant", text=whole, images=images)
        self._after_snapshot = False
        yield from self._rest(message, identity, _KNOWN_REPLY, odd, copied=copied)
        listed = message.get("toolCalls")
        for index, call in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(call, dict):
                yield from self._call(call, text_of(call, "id") or f"{identity}#{index}")
        for index, call in enumerate(calls):
            name = text_of(call, "id")
            if name not in self._calls and (name or _mark(call) not in self._calls.values()):
                rest = {key: call[key] for key in call if key not in ("id", "name", "args")}
                yield self._use(call, name or f"{identity}@{index}", strip_base64(rest)[0])

    def _thought(self, text: str, identity: str, *, copied: bool) -> Iterator[Item]:
        if text.startswith(_FILLER):
            if self._is_new(identity, "system", text, copied=copied):
                yield Event(kind="system", role="system", text=text)
        elif text.strip() and self._is_new(identity, "thought", text, copied=copied):
            yield Event(kind="thinking", role="assistant", text=text.strip())

    def _use(self, call: Json, identity: str, more: Json | None = None) -> Event:
        self._calls[identity] = _mark(call)
        self._guesses.note(call.get("args"))
        arguments, images = strip_base64(call.get("args"))
        return Event(
            kind="tool_use",
            role="assistant",
            tool=text_of(call, "name"),
            tool_use_id=identity,
            input=arguments,
            images=images,
            raw=more or None,
        )

    def _call(self, call: Json, identity: str) -> Iterator[Item]:
        if self._calls.get(identity) != _mark(call):
            self._answers.pop(identity, None)
            yield self._use(call, identity)
        result = result_of(call, identity)
        if result is not None and (item := self._answer(result)) is not None:
            yield item
            for text in hooks_in(result.text):
                yield _hook(text, ts=result.ts, tool_use_id=identity)

    def _notice(self, message: Json, identity: str, kind: str, *, listed: bool) -> Iterator[Item]:
        parts = parts_of(message.get("content"))
        texts = [text for part in parts if isinstance(text := part.get("text"), str)]
        images = [blob for part in parts for blob in media_of(part)]
        odd = [rest for part in parts if (rest := unknown_in(part))]
        text = "\n".join(texts)
        if self._is_new(identity, kind, text):
            raw = {key: value for key, value in message.items() if key != "content"}
            yield Event(
                kind="system",
                role="system",
                text=text or kind,
                images=images,
                raw=strip_base64(raw)[0],
                bookkeeping=not text and not images,
            )
        yield from self._rest(message, identity, frozenset(message), odd)
        if not listed and text == _CANCELLED:
            self.ending, self._waits = "interrupted", False
        elif not listed and kind == "error" and self._waits:
            self.ending, self._waits = "error", False

    def _rest(
        self,
        message: Json,
        identity: str,
        known: frozenset[str],
        odd: list[Json],
        *,
        copied: bool = False,
    ) -> Iterator[Item]:
        """Keep parts and fields that are not known."""
        for part in odd:
            if self._is_new(identity, "part", repr(part), copied=copied):
                yield odd_event(part)
        more = {key: value for key, value in message.items() if key not in known}
        if more and self._is_new(identity, "fields", repr(more), copied=copied):
            kept, images = strip_base64(more)
            yield Event(
                kind="system",
                role="system",
                text="more fields",
                raw=kept,
                images=images,
                bookkeeping=True,
            )

    def _is_new(self, identity: str, role: str, text: str, *, copied: bool = False) -> bool:
        """Whether it was not said in this message before, or anywhere if that is a copy."""
        text = text.strip()
        own, anywhere = hash((identity, role, text)), hash((role, text))
        known = own in self._said or (copied and anywhere in self._said)
        self._said.update((own, anywhere))
        return not known

    def _show(self, images: list[Blob]) -> None:
        self._images.update(image.sha256 for image in images if image.sha256)

    def _is_shown(self, image: Blob) -> bool:
        return image.sha256 in self._images


def _hook(text: str, ts: str | None = None, tool_use_id: str | None = None) -> Event:
    added = text.removeprefix(HOOK).removesuffix(HOOK_END)
    raw = {"text": text}
    return Event(kind="hook", role="system", text=added, ts=ts, tool_use_id=tool_use_id, raw=raw)


def _mark(call: Json) -> int:
    given: Any = call.get("args")
    return hash((text_of(call, "name"), msgspec.json.encode(given, order="deterministic")))


def _usage(tokens: Json) -> Usage:
    cached, thoughts = token_count(tokens.get("cached")), token_count(tokens.get("thoughts"))
    sent = token_count(tokens.get("input"))
    return Usage(
        input_tokens=max(0, sent - cached) + token_count(tokens.get("tool")),
        output_tokens=token_count(tokens.get("output")) + thoughts,
        cache_read_tokens=cached,
        reasoning_tokens=thoughts or None,
    )
