"""Rollout records → events: everything that the model saw, once, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from agtail.agents.base import TITLE_GENERATED, Abandoned, Ended, Item, Meta, Title, text_of
from agtail.agents.codex.context import joined
from agtail.agents.codex.items import Items
from agtail.agents.codex.lines import (
    TURN_ENDS,
    TURN_STARTS,
    Line,
    listing,
    mapping,
    message_texts,
    tool_item,
)
from agtail.agents.codex.survey import NEVER, Survey, mark
from agtail.agents.codex.thread import facts, parent_of
from agtail.model import Ending, Event
from agtail.records import Json

_NOTES = frozenset(
    {
        *("entered_review_mode", "exited_review_mode", "undo_completed", "thread_name_updated"),
        *("injected_message", "guardian_assessment", "image_generation_end"),
        *("EnteredReviewMode", "ExitedReviewMode", "SubAgentActivity", "Extension"),
    }
)
"""Events and items of the program's own, kept as they are but hidden."""

_COMPACTION_NOTICE = "Compact task completed"


class Reader(Items):
    """Maps the files of one thread, one after the other.

    Args:
        path: the session's own file, the newest.
        owned: threads whose rollouts are on this machine: copies of theirs are not ours.
        named: whether an index gives the session a name.
    """

    def __init__(self, path: str, owned: frozenset[str], *, named: bool) -> None:
        super().__init__(path, owned, named=named)
        self._failed = False
        self._states: dict[str, bytes] = {}

    def items(
        self, path: str, lines: Iterable[Line], survey: Survey, cutoff: int = NEVER
    ) -> Iterator[Item]:
        """Map one file.

        Args:
            path: the file.
            lines: its records.
            survey: what a first look found; consumed.
            cutoff: ordinal from which a rewind abandoned the records.
        """
        self._part = path if path != self._path else None
        self._survey = survey
        self._calls |= survey.calls
        self._turn = 0
        self._turns.clear()
        self._meter.new_segment()
        own_from = survey.own_from or 1
        copied = survey.copied in self._owned
        for line in lines:
            self._line = line
            self._inherited = copied and 1 < line.record.line < own_from
            self._rewound = line.ordinal is not None and line.ordinal >= cutoff
            yield from self._record(line)
        yield from self._held.values()
        self._held.clear()
        yield from self._pay()

    def _record(self, line: Line) -> Iterator[Item]:
        match line.kind:
            case "response_item" if line.sub != "ghost_snapshot":
                yield from self._response_item(line)
            case "event_msg":
                yield from self._event_msg(line)
            case "session_meta":
                yield from self._session(line)
            case "turn_context" | "world_state" | "response_item":
                yield from self._state(line)
            case "compacted":
                yield self._compacted(line)
            case "token_usage_record":
                yield from self._usage_record(line)
            case "state":  # of the first generation: only the id of the previous response
                pass
            case _:
                yield from self._unknown(line.kind or "record")

    # Session and state

    def _session(self, line: Line) -> Iterator[Item]:
        payload = line.payload
        if not self._thread:
            self._thread = text_of(payload, "id") or text_of(payload, "session_id")
            self.parent = parent_of(payload)
            yield facts(payload, self._survey.copied)
        yield self._note(text_of(payload, "id"), text_of(payload, "cwd"))

    def _state(self, line: Line) -> Iterator[Item]:
        payload = line.payload
        settings = mapping(payload, "thread_settings") or payload
        self._model = text_of(settings, "model") or self._model
        if not self._inherited:
            yield Meta(
                model=text_of(settings, "model") or None, cwd=text_of(settings, "cwd") or None
            )
        steady = {key: payload[key] for key in payload if not key.endswith("turn_id")}
        state = msgspec.json.encode(steady)
        kind = line.kind if line.sub == "" else line.sub
        if self._states.get(kind) != state:
            self._states[kind] = state
            yield self._note(text_of(settings, "model"), text_of(settings, "cwd"))

    def _compacted(self, line: Line) -> Event:
        dropped = ("message", "replacement_history", "retained_context")
        rest = {key: value for key, value in line.payload.items() if key not in dropped}
        text = text_of(line.payload, "message")
        return self._event("summary", role="system", text=text, compact=True, raw=rest or None)

    def _usage_record(self, line: Line) -> Iterator[Item]:
        spend = self._meter.record(line, self._turn)
        if spend is not None:
            self._unpaid = False
            yield self._owing(spend)

    # What the screen showed

    def _event_msg(self, line: Line) -> Iterator[Item]:
        sub, payload = line.sub, line.payload
        item = tool_item(line)
        if item is not None:
            yield from self._tool_item(item, text_of(payload, "thread_id"))
        elif sub == "item_completed":
            yield from self._item(mapping(payload, "item"))
        elif sub in TURN_STARTS:
            self._turn += 1
            self._turn_line = line.record.line
            self._turns_end, self._failed = True, False
            yield from self._ended("interrupted")
        elif sub in TURN_ENDS:
            yield from self._turn_end(mapping(payload, "error"))
        elif sub == "turn_aborted":
            yield self._event("system", role="system", text=joined(sub, text_of(payload, "reason")))
            yield from self._ended(
                None if text_of(payload, "reason") == "review_ended" else "interrupted"
            )
        elif sub == "token_count":
            yield from self._token_count(line)
        elif sub == "user_message":
            images = [*listing(payload, "images"), *listing(payload, "local_images")]
            parts = [{"image_url": image} for image in images if isinstance(image, str)]
            yield from self._shown_prompt([{"text": text_of(payload, "message")}, *parts])
        elif sub == "agent_message":
            yield from self._shown_reply(text_of(payload, "message"))
        elif sub in ("agent_reasoning", "agent_reasoning_raw_content"):
            yield from self._shown_thought(
                text_of(payload, "text") or text_of(payload, "reasoning")
            )
        elif sub == "thread_rolled_back":
            yield from self._rolled_back(payload)
        elif sub == "error":
            self._failed = True
            yield self._event(
                "system", role="system", text=text_of(payload, "message"), raw=self._raw()
            )
            yield from self._ended("error")
        elif sub == "thread_settings_applied":
            yield from self._state(line)
        elif sub in _NOTES:
            if name := text_of(payload, "thread_name"):
                yield Title(name, TITLE_GENERATED)
            yield self._note(text_of(payload, "message"), text_of(payload, "thread_name"))
        elif sub != "context_compacted":
            yield from self._unknown(sub or line.kind)

    def _item(self, item: Json) -> Iterator[Item]:
        kind = text_of(item, "type")
        known = text_of(item, "id") in self._survey.ids
        if kind == "UserMessage":
            parts = [part for part in listing(item, "content") if isinstance(part, dict)]
            pictures = [text_of(part, "image_url") or text_of(part, "path") for part in parts]
            yield from self._shown_prompt(
                [*parts, *({"image_url": picture} for picture in pictures if picture)]
            )
        elif kind == "AgentMessage":
            yield from self._shown_reply("\n".join(message_texts(item)), known=known)
        elif kind == "Reasoning":
            texts = [*listing(item, "summary_text"), *listing(item, "raw_content")]
            for text in () if known else texts:
                yield from self._shown_thought(text if isinstance(text, str) else "")
        elif kind == "Plan":
            yield from self._shown_reply(text_of(item, "text"))
        elif kind == "HookPrompt":
            texts = [text_of(item, "text"), *message_texts(item)]
            first = "\n".join(texts).strip().partition("\n")[0]
            yield self._event("hook", text=f"+context · {first}", raw=self._raw())
        elif kind in _NOTES:
            review = mapping(item, "review_output")
            yield self._note(
                kind, text_of(item, "user_facing_hint") or text_of(review, "overall_explanation")
            )
        elif kind != "ContextCompaction":
            yield from self._unknown(joined("item", kind))

    def _shown_prompt(self, parts: list[Any]) -> Iterator[Item]:
        """Emit a prompt that stands only in an event."""
        payload = {"role": "user", "content": parts}
        text = "\n".join(message_texts(payload))
        if self._survey.prompts[mark(text)] > 0:
            self._survey.prompts[mark(text)] -= 1
        elif text.strip() or len(parts) > 1:
            yield from self._message(payload)

    def _shown_reply(self, text: str, *, known: bool = False) -> Iterator[Item]:
        """Emit an answer that stands only in an event."""
        twin = (self._turn, mark(text))
        if self._survey.replies[twin] > 0:
            self._survey.replies[twin] -= 1
        elif text == _COMPACTION_NOTICE:
            yield self._event("system", role="system", text=text)
        elif text.strip() and not known:
            yield from self._said(text)

    def _shown_thought(self, text: str) -> Iterator[Item]:
        """Emit a thought that stands only in an event."""
        if text.strip() and (self._turn, mark(text)) not in self._survey.thoughts:
            yield from self._thought(text)

    def _turn_end(self, error: Json) -> Iterator[Item]:
        message = text_of(error, "message")
        if error:
            yield self._event("system", role="system", text=message, raw=error)
            yield from self._ended("limit" if "max_output_tokens" in message else "error")
        else:
            yield from self._ended("error" if self._failed else None)

    def _ended(self, ending: Ending | None) -> Iterator[Item]:
        if not self._inherited:
            yield Ended(ending)

    def _rolled_back(self, payload: Json) -> Iterator[Item]:
        count = payload.get("num_turns")
        if isinstance(count, int) and 0 < count <= len(self._turns):
            lines = frozenset(range(self._turns[-count], self._line.record.line))
            del self._turns[-count:]
            yield Abandoned(lines=lines, branches=int(not self._inherited), path=self._part)
        yield self._event("system", role="system", text=joined("thread_rolled_back", str(count)))
