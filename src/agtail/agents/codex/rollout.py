"""Rollout records → events: everything that the model saw, once, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from agtail.agents.base import (
    TITLE_GENERATED,
    TITLE_SUMMARY,
    Abandoned,
    Ended,
    Item,
    Meta,
    Spend,
    Title,
    ToolResult,
)
from agtail.agents.blobs import strip_base64
from agtail.agents.codex import tools
from agtail.agents.codex.lines import (
    TURN_ENDS,
    TURN_STARTS,
    Line,
    listing,
    mapping,
    message_texts,
    string,
    tool_item,
)
from agtail.agents.codex.prompts import Prompt, read_prompt
from agtail.agents.codex.survey import NEVER, Survey, mark
from agtail.agents.codex.thread import facts, parent_of
from agtail.agents.codex.usage import Meter
from agtail.model import Blob, Event, Source
from agtail.records import Json

_NOTES = frozenset(
    {
        *("entered_review_mode", "exited_review_mode", "undo_completed", "thread_name_updated"),
        *("injected_message", "guardian_assessment", "image_generation_end"),
        *("EnteredReviewMode", "ExitedReviewMode", "SubAgentActivity", "Extension"),
    }
)
"""Events and items of the program's own, kept as they are but hidden."""

_COMPACTION_ITEMS = frozenset({"compaction", "compaction_summary", "context_compaction"})
_COMPACTION_NOTICE = "Compact task completed"


class Reader:
    """Maps the files of one thread, one after the other.

    Args:
        path: the session's own file, the newest.
        owned: threads whose rollouts are on this machine: copies of theirs are not ours.
        named: whether an index gives the session a name.
    """

    def __init__(self, path: str, owned: frozenset[str], *, named: bool) -> None:
        self._path = path
        self._owned = owned
        self._named = named
        self._thread = ""
        self._is_subagent = False
        self._meter = Meter()
        self._survey = Survey()
        self._calls: set[str] = set()
        self._part: str | None = None
        self._turn = 0
        self._turn_line: int | None = None
        self._turns: list[int] = []  # where each turn of the human begins that is still current
        self._turns_end = False  # whether the version writes ends of turns
        self._failed = False
        self._model: str | None = None
        self._states: dict[str, bytes] = {}
        self._namespaces: dict[str, str] = {}
        self._enriched: dict[str, list[Json]] = {}
        self._held: dict[str, ToolResult] = {}
        self._unpaid = False
        self._waiting: Spend | None = None
        self._line: Line
        self._inherited = self._rewound = False

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
            case "response_item":
                yield from self._response_item(line)
            case "event_msg":
                yield from self._event_msg(line)
            case "session_meta":
                yield from self._session(line)
            case "turn_context" | "world_state":
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
            self._thread = string(payload, "id") or string(payload, "session_id")
            self._is_subagent = bool(parent_of(payload))
            yield facts(payload, self._survey.copied)
        yield self._note(string(payload, "id"), string(payload, "cwd"))

    def _state(self, line: Line) -> Iterator[Item]:
        payload = line.payload
        settings = mapping(payload, "thread_settings") or payload
        self._model = string(settings, "model") or self._model
        if not self._inherited:
            yield Meta(model=string(settings, "model") or None, cwd=string(settings, "cwd") or None)
        steady = {key: payload[key] for key in payload if not key.endswith("turn_id")}
        state = msgspec.json.encode(steady)
        kind = line.kind if line.sub == "" else line.sub
        if self._states.get(kind) != state:
            self._states[kind] = state
            yield self._note(string(settings, "model"), string(settings, "cwd"))

    def _compacted(self, line: Line) -> Event:
        dropped = ("message", "replacement_history", "retained_context")
        rest = {key: value for key, value in line.payload.items() if key not in dropped}
        text = string(line.payload, "message")
        return self._event("summary", role="system", text=text, compact=True, raw=rest or None)

    def _usage_record(self, line: Line) -> Iterator[Item]:
        spend = self._meter.record(line, self._turn)
        if spend is not None:
            self._unpaid = False
            yield self._owing(spend)

    # What the model saw

    def _response_item(self, line: Line) -> Iterator[Item]:
        sub, payload = line.sub, line.payload
        if sub == "message":
            speaks = string(payload, "role") == "assistant"
            yield from self._reply(payload) if speaks else self._message(payload)
            yield from self._other_parts(payload)
        elif sub == "reasoning":
            parts = [*listing(payload, "summary"), *listing(payload, "content")]
            texts = [string(part, "text") for part in parts if isinstance(part, dict)]
            yield from self._thought("\n\n".join(texts), string(payload, "id"))
        elif sub.endswith("_call"):
            yield from self._call(payload, sub)
        elif sub.endswith("_output"):
            yield from self._answer(payload)
        elif sub == "ghost_snapshot":
            yield from self._state(line)
        elif sub in _COMPACTION_ITEMS:
            if not self._survey.compacted:
                yield self._event("summary", role="system", compact=True)
        else:
            yield from self._unknown(sub or line.kind)

    def _message(self, payload: Json) -> Iterator[Item]:
        prompt = read_prompt(payload, self._survey, self._turn)
        if prompt.hooks:
            first = prompt.hooks.strip().partition("\n")[0]
            yield self._event("hook", text=f"+context · {first}", raw=self._raw())
        if prompt.injected or prompt.tags:
            yield self._injected(prompt, developer=string(payload, "role") != "user")
        if prompt.human is not None:
            yield from self._typed(prompt.human, prompt.images)

    def _injected(self, prompt: Prompt, *, developer: bool) -> Event:
        """Keep what the program put into a message; instructions and image tags are hidden."""
        mixed = prompt.human is not None and prompt.injected
        event = self._event(
            "system",
            role="system",
            text="\n".join(filter(None, (prompt.injected, prompt.tags))),
            raw=self._raw() if mixed else None,
            bookkeeping=developer or not prompt.injected,
        )
        if prompt.human is None:
            event.images = prompt.images
        return event

    def _typed(self, text: str, images: list[Blob]) -> Iterator[Item]:
        """Emit what a human typed, the beginning of a turn of theirs."""
        line = self._line.record.line
        self._turns.append(self._turn_line or line)
        self._turn_line = None
        if not self._inherited:
            if not self._turns_end:
                yield Ended(None)
            if self._is_subagent and not self._named:
                self._named = True
                yield Title(text, TITLE_SUMMARY)
        yield self._event("text", role="user", text=text, images=images)

    def _reply(self, payload: Json) -> Iterator[Item]:
        texts = [text for text in message_texts(payload) if text]
        refusals = [
            string(part, "refusal")
            for part in listing(payload, "content")
            if isinstance(part, dict)
        ]
        text = "\n".join((*texts, *filter(None, refusals)))
        summary = self._survey.compacted.get(self._turn, "")
        if text and summary.endswith(text):
            return  # the reply to a compaction request; the record of the compaction holds it
        if mapping(self._line.record.data, "metadata").get("compaction_output") is True:
            yield self._event("summary", role="system", text=text)
        elif text:
            yield from self._said(text, string(payload, "id"))

    def _said(self, text: str, identity: str = "") -> Iterator[Item]:
        yield self._event(
            "text", role="assistant", text=text, message_id=identity or None, model=self._speaker()
        )
        yield from self._pay()

    def _thought(self, text: str, identity: str = "") -> Iterator[Item]:
        self._unpaid = True
        yield self._event(
            "thinking",
            role="assistant",
            text=text,
            message_id=identity or None,
            model=self._speaker(),
        )

    def _other_parts(self, payload: Json) -> Iterator[Item]:
        """Keep parts of a message that are neither text nor image as they are."""
        for part in listing(payload, "content"):
            fields = part if isinstance(part, dict) else {}
            if not any(string(fields, key) for key in ("text", "image_url", "refusal")):
                kind = string(fields, "type")
                raw, images = strip_base64(part)
                yield self._event("unknown", text=f"part · {kind}", raw=raw, images=images)

    def _call(self, payload: Json, kind: str) -> Iterator[Item]:
        name = tools.tool_name(payload, kind)
        tool_input = tools.arguments_of(payload)
        call = string(payload, "call_id") or string(payload, "id")
        summary = None
        if namespace := string(payload, "namespace"):
            self._namespaces[call] = namespace
            summary = f"{namespace}.{name} {msgspec.json.encode(tool_input).decode()}"
        yield self._event(
            "tool_use",
            role="assistant",
            tool=name,
            tool_use_id=call or None,
            input=tool_input,
            summary=summary,
            images=tools.picture_of(payload) if kind == "image_generation_call" else [],
            message_id=string(payload, "id") or None,
            model=self._speaker(),
        )
        yield from self._pay()

    def _answer(self, payload: Json) -> Iterator[Item]:
        result = self._placed(tools.answer(payload))
        call = result.tool_use_id
        if namespace := self._namespaces.pop(call, None):
            result.detail = {"namespace": namespace, **(result.detail or {})}
        tools.enrich(result, self._enriched.pop(call, []))
        if call in self._survey.late:
            self._held[call] = result
        else:
            yield result

    # What the screen showed

    def _event_msg(self, line: Line) -> Iterator[Item]:
        sub, payload = line.sub, line.payload
        item = tool_item(line)
        if item is not None:
            yield from self._tool_item(item, string(payload, "thread_id"))
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
            yield self._event("system", role="system", text=_joined(sub, string(payload, "reason")))
            yield from self._ended(
                None if string(payload, "reason") == "review_ended" else "interrupted"
            )
        elif sub == "token_count":
            yield from self._token_count(line)
        elif sub == "user_message":
            images = [*listing(payload, "images"), *listing(payload, "local_images")]
            parts = [{"image_url": image} for image in images if isinstance(image, str)]
            yield from self._shown_prompt([{"text": string(payload, "message")}, *parts])
        elif sub == "agent_message":
            yield from self._shown_reply(string(payload, "message"))
        elif sub in ("agent_reasoning", "agent_reasoning_raw_content"):
            yield from self._shown_thought(string(payload, "text") or string(payload, "reasoning"))
        elif sub == "thread_rolled_back":
            yield from self._rolled_back(payload)
        elif sub == "error":
            self._failed = True
            yield self._event(
                "system", role="system", text=string(payload, "message"), raw=self._raw()
            )
            yield from self._ended("error")
        elif sub == "thread_settings_applied":
            yield from self._state(line)
        elif sub in _NOTES:
            if name := string(payload, "thread_name"):
                yield Title(name, TITLE_GENERATED)
            yield self._note(string(payload, "message"), string(payload, "thread_name"))
        elif sub != "context_compacted":
            yield from self._unknown(sub or line.kind)

    def _item(self, item: Json) -> Iterator[Item]:
        kind = string(item, "type")
        known = string(item, "id") in self._survey.ids
        if kind == "UserMessage":
            parts = [part for part in listing(item, "content") if isinstance(part, dict)]
            pictures = [string(part, "image_url") or string(part, "path") for part in parts]
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
            yield from self._shown_reply(string(item, "text"))
        elif kind == "HookPrompt":
            texts = [string(item, "text"), *message_texts(item)]
            first = "\n".join(texts).strip().partition("\n")[0]
            yield self._event("hook", text=f"+context · {first}", raw=self._raw())
        elif kind in _NOTES:
            review = mapping(item, "review_output")
            yield self._note(
                kind, string(item, "user_facing_hint") or string(review, "overall_explanation")
            )
        elif kind != "ContextCompaction":
            yield from self._unknown(_joined("item", kind))

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

    def _tool_item(self, item: Json, thread: str) -> Iterator[Item]:
        """Fold what an event says about a call into it, or make a call of it when there is none.

        None there is in the parent of a review, which repeats what its child did, and where one
        call of a script hides several.
        """
        call = string(item, "id")
        if call in self._held:
            yield tools.enrich(self._held.pop(call), [item])
        elif call in self._calls:
            if call in self._survey.answered:
                self._enriched.setdefault(call, []).append(item)
            elif result := tools.outcome(item):
                yield self._placed(result)
        elif item.get("source") == "user_shell":
            yield self._note(*map(str, listing(item, "command")[-1:]))
        else:
            own = self._inherited
            self._inherited = own or (thread != self._thread and thread in self._owned)
            name, tool_input = tools.call_of(item)
            yield self._event(
                "tool_use", role="assistant", tool=name, tool_use_id=call, input=tool_input
            )
            if result := tools.outcome(item):
                yield self._placed(result)
            self._inherited = own

    def _turn_end(self, error: Json) -> Iterator[Item]:
        message = string(error, "message")
        if error:
            yield self._event("system", role="system", text=message, raw=error)
            yield from self._ended("limit" if "max_output_tokens" in message else "error")
        else:
            yield from self._ended("error" if self._failed else None)

    def _ended(self, ending: Any) -> Iterator[Item]:
        if not self._inherited:
            yield Ended(ending)

    def _rolled_back(self, payload: Json) -> Iterator[Item]:
        count = payload.get("num_turns")
        if isinstance(count, int) and 0 < count <= len(self._turns):
            lines = frozenset(range(self._turns[-count], self._line.record.line))
            del self._turns[-count:]
            yield Abandoned(lines=lines, branches=int(not self._inherited), path=self._part)
        yield self._event("system", role="system", text=_joined("thread_rolled_back", str(count)))

    # Usage: a count may come before the answer that it counts

    def _token_count(self, line: Line) -> Iterator[Item]:
        spend = self._meter.count(line, self._turn, f"{self._part or ''}:{line.record.line}")
        if spend is None:
            return
        spend = self._owing(spend)
        if self._waiting is not None:
            yield self._waiting
        self._waiting = None if self._unpaid else spend
        if self._unpaid:
            yield spend
        self._unpaid = False

    def _owing(self, spend: Spend) -> Spend:
        spend.model, spend.inherited = self._speaker(), self._inherited
        return spend

    def _pay(self) -> Iterator[Item]:
        """Charge a count that came early to the answer that was just emitted."""
        self._unpaid = self._waiting is None
        if self._waiting is not None:
            yield self._waiting
            self._waiting = None

    # Making events

    def _event(self, kind: Any, **fields: Any) -> Event:
        return Event(
            kind=kind,
            ts=self._line.ts,
            src=self._source(),
            inherited=self._inherited,
            rewound=self._rewound,
            **fields,
        )

    def _note(self, *details: str) -> Event:
        """Keep a record of the program's own, hidden: its type and what is worth a glance."""
        text = _joined(self._line.sub or self._line.kind, *details)
        return self._event("system", role="system", text=text, raw=self._raw(), bookkeeping=True)

    def _unknown(self, name: str) -> Iterator[Item]:
        raw, images = strip_base64(self._line.record.data)
        said = string(self._line.payload, "text") or string(self._line.payload, "content")
        yield self._event("unknown", text=_joined(name, said), raw=raw, images=images)

    def _placed(self, result: ToolResult) -> ToolResult:
        result.ts, result.src, result.inherited = self._line.ts, self._source(), self._inherited
        return result

    def _source(self) -> Source:
        line, offset, length, _ = self._line.record
        if not length:
            return Source(row=str(line), path=self._part)
        return Source(line=line, offset=offset, length=length, path=self._part)

    def _raw(self) -> Any:
        return strip_base64(self._line.record.data)[0]

    def _speaker(self) -> str | None:
        """Return the model in use; that of a copied record is its owner's matter."""
        return None if self._inherited else self._model


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))
