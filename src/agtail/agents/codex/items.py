"""What the model saw: messages, thoughts, calls and their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from agtail.agents.base import TITLE_SUMMARY, Ended, Item, Meta, Title, ToolResult, text_of
from agtail.agents.blobs import strip_base64
from agtail.agents.codex import tools
from agtail.agents.codex.context import Context
from agtail.agents.codex.lines import Line, listing, mapping, message_texts
from agtail.agents.codex.prompts import Prompt, read_prompt
from agtail.model import Blob, Event
from agtail.records import Json

_FOLDER = re.compile(r"\A<environment_context>\s*<cwd>([^<]+)</cwd>")
"""Where the first generation states the working directory, and no other place."""

_COMPACTION_ITEMS = frozenset({"compaction", "compaction_summary", "context_compaction"})


class Items(Context):
    """Maps response items, and folds into calls what events say about them.

    Args:
        path: as in :class:`Context`.
        owned: as in :class:`Context`.
        named: whether an index gives the session a name.

    Attributes:
        parent: the thread that spawned this one, empty when none did.
    """

    def __init__(self, path: str, owned: frozenset[str], *, named: bool) -> None:
        super().__init__(path, owned)
        self._named = named
        self.parent = ""
        self._turn_line: int | None = None
        self._turns: list[int] = []  # where each turn of the human begins that is still current
        self._turns_end = False  # whether the version writes ends of turns
        self._calls: set[str] = set()
        self._namespaces: dict[str, str] = {}
        self._enriched: dict[str, list[Json]] = {}
        self._held: dict[str, ToolResult] = {}

    def _response_item(self, line: Line) -> Iterator[Item]:
        sub, payload = line.sub, line.payload
        if sub == "message":
            speaks = text_of(payload, "role") == "assistant"
            yield from self._reply(payload) if speaks else self._message(payload)
            yield from self._other_parts(payload)
        elif sub == "reasoning":
            parts = [*listing(payload, "summary"), *listing(payload, "content")]
            texts = [text_of(part, "text") for part in parts if isinstance(part, dict)]
            yield from self._thought("\n\n".join(texts), text_of(payload, "id"))
        elif sub.endswith("_call"):
            yield from self._call(payload, sub)
        elif sub.endswith("_output"):
            yield from self._answer(payload)
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
            if not self._inherited and (folder := _FOLDER.search(prompt.injected)):
                yield Meta(cwd=folder[1])
            yield self._injected(prompt, developer=text_of(payload, "role") != "user")
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
            if self.parent and not self._named:
                self._named = True
                yield Title(text, TITLE_SUMMARY)
        yield self._event("text", role="user", text=text, images=images)

    def _reply(self, payload: Json) -> Iterator[Item]:
        texts = [text for text in message_texts(payload) if text]
        refusals = [
            text_of(part, "refusal")
            for part in listing(payload, "content")
            if isinstance(part, dict)
        ]
        text = "\n".join((*texts, *filter(None, refusals)))
        asked = mapping(self._line.record.data, "metadata").get("compaction_output") is True
        summary = self._survey.compacted.get(self._turn, "").rstrip()
        if text and (asked or self._turn) and f"\n{summary}".endswith(f"\n{text.rstrip()}"):
            return  # the reply to a compaction request; the record of the compaction holds it
        if asked:
            yield self._event("summary", role="system", text=text)
        elif text:
            yield from self._said(text, text_of(payload, "id"))

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
            if not any(text_of(fields, key) for key in ("text", "image_url", "refusal")):
                kind = text_of(fields, "type")
                raw, images = strip_base64(part)
                yield self._event("unknown", text=f"part · {kind}", raw=raw, images=images)

    def _call(self, payload: Json, kind: str) -> Iterator[Item]:
        name = tools.tool_name(payload, kind)
        tool_input = tools.arguments_of(payload)
        call = text_of(payload, "call_id") or text_of(payload, "id")
        summary = None
        if namespace := text_of(payload, "namespace"):
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
            message_id=text_of(payload, "id") or None,
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

    def _tool_item(self, item: Json, thread: str) -> Iterator[Item]:
        """Fold what an event says about a call into it, or make a call of it when there is none.

        None there is in the parent of a review, which repeats what its child did, and where one
        call of a script hides several.
        """
        call = text_of(item, "id")
        if call in self._held:
            yield tools.enrich(self._held.pop(call), [item])
        elif call in self._calls:
            if call in self._survey.answered:
                self._enriched.setdefault(call, []).append(item)
            elif text_of(item, "type") != "ImageGeneration" and (result := tools.outcome(item)):
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
