"""Builds one session from the items of an adapter: pairing, usage, times, titles, counts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from agtail.agents.base import (
    TITLE_FALLBACK,
    TITLE_NAMED,
    TITLE_PROMPT,
    Abandoned,
    Checkpoint,
    Ended,
    Item,
    Meta,
    Rest,
    Spend,
    Title,
    ToolResult,
    Unit,
)
from agtail.event_log import EventLog, Events
from agtail.instants import parse_instant
from agtail.lenient import strings_of
from agtail.model import CONTENT_KINDS, Ending, Event, Integrity, Result, Session, Usage

TITLE_LENGTH = 120
"""Titles are one line of at most this many characters."""

Describe = Callable[[str, object], str | None]


class Known(msgspec.Struct):
    """What is known of a session in the middle of its reading, its events aside.

    Attributes:
        count: events so far; filled in at a checkpoint, like ``lines``.
        lines: line and number of each event, one after the other, by file.
        calls: number of the call, by its id.
        waiting_hooks: hooks whose call has not come, by its id.
        spends: usage by response, ``carriers`` the event that shows it, and whether it is
            one that should.
        last_content: the latest text, thought or call.
        start, end: instant and text of the earliest and the latest time.
    """

    meta: Meta = msgspec.field(default_factory=Meta)
    models: dict[str, None] = {}
    ending: Ending | None = None
    titles: dict[int, str] = {}
    first_prompt: str | None = None
    first_text: str | None = None
    calls: dict[str, int] = {}
    waiting_hooks: dict[str, list[int]] = {}
    spends: dict[str, Spend] = {}
    carriers: dict[str, tuple[int, bool]] = {}
    last_content: int = 0
    messages: int = 0
    inherited: int = 0
    compactions: int = 0
    branches: int = 0
    tools: dict[str, int] = {}
    start: tuple[int, str] | None = None
    end: tuple[int, str] | None = None
    count: int = 0
    lines: dict[str, list[int]] = {}


def _never(_offset: int) -> bool:
    return False


class Builder:
    """Collects the items of one session.

    Args:
        unit: where they come from.
        describe: the adapter's own one-line summary of a tool call.
        events: where events are kept; with ``known``, those there are already.
        known: what is known already, when reading goes on from a checkpoint.
        rests: whether a checkpoint is wanted after so many bytes.
    """

    def __init__(
        self,
        unit: Unit,
        describe: Describe | None,
        events: Events | None = None,
        known: Known | None = None,
        rests: Callable[[int], bool] = _never,
    ) -> None:
        self.unit = unit
        self.describe = describe
        self.events: Events = EventLog() if events is None else events
        self.known = Known() if known is None else known
        self.lines: dict[str | None, array[int]] = {}  # line and number of each event, by file
        for path, pairs in self.known.lines.items():
            self.lines[path or None] = array("q", pairs)
        self.spent: set[str] = set()  # responses heard of in this reading
        self.relieved: set[int] = set()  # events that showed a usage which another one does now
        self.rests = rests
        self.checkpoint: bytes | None = None

    def take(self, item: Item) -> None:
        """Take one item of the adapter's stream."""
        if isinstance(item, Event):
            self._event(item)
        elif isinstance(item, ToolResult):
            self._result(item)
        elif isinstance(item, Spend):
            self._spend(item)
        elif isinstance(item, Title):
            self._title(item)
        elif isinstance(item, Meta):
            self._merge(item)
        elif isinstance(item, Ended):
            self.known.ending = item.ending
        elif isinstance(item, Abandoned):
            self._abandon(item)
        elif isinstance(item, Rest) and self.rests(item.offset):
            self._save(item.save())

    def _event(self, event: Event) -> None:
        event.time = parse_instant(event.ts)
        seq = self.events.append(event)
        self._place(event)
        if not event.bookkeeping:
            self._clock(event.time, event.ts)
        if event.message_id is not None:
            self._carry(event)
        if event.tool_use_id is not None:
            if event.kind == "tool_use":
                self.known.calls[event.tool_use_id] = seq
                self._name_hooks(event)
            elif event.kind == "hook" and event.tool is None:
                self._name_hook(event)
        if event.model:
            self.known.models.setdefault(event.model)
        if event.kind == "tool_use" and event.tool and self.describe and event.summary is None:
            event.summary = self.describe(event.tool, event.input)
        self._count(event)

    def _place(self, event: Event) -> None:
        src = event.src
        if src is not None and src.line is not None:
            pairs = self.lines.get(src.path)
            if pairs is None:
                pairs = self.lines[src.path] = array("q")
            pairs.extend((src.line, event.seq))

    def _clock(self, time: int | None, ts: str | None) -> None:
        if time is None or ts is None:
            return
        if self.known.start is None or time < self.known.start[0]:
            self.known.start = (time, ts)
        if self.known.end is None or time > self.known.end[0]:
            self.known.end = (time, ts)

    def _count(self, event: Event) -> None:
        kind = event.kind
        if kind in CONTENT_KINDS:
            self.known.last_content = event.seq
        if (
            kind == "text"
            and event.role == "user"
            and event.text
            and self.known.first_prompt is None
        ):
            self.known.first_prompt = event.text
        if kind == "text" and event.text and self.known.first_text is None:
            self.known.first_text = event.text
        if event.inherited:
            self.known.inherited += kind in CONTENT_KINDS
            return
        self.known.messages += kind == "text"
        self.known.compactions += event.compact
        if kind == "tool_use":
            name = event.tool or ""
            self.known.tools[name] = self.known.tools.get(name, 0) + 1

    def _result(self, item: ToolResult) -> None:
        result = Result(
            text=item.text,
            is_error=item.is_error,
            detail=leftovers(item.detail, None, item.text) or None,
            before=item.before,
            ts=item.ts,
        )
        self._clock(parse_instant(item.ts), item.ts)
        seq = self.known.calls.get(item.tool_use_id)
        if seq is None:
            self._event(
                Event(
                    kind="tool_result",
                    ts=item.ts,
                    tool_use_id=item.tool_use_id,
                    result=result,
                    images=item.images,
                    src=item.src,
                    sidechain=item.sidechain,
                    inherited=item.inherited,
                )
            )
            return
        event = self.events[seq]
        if event.result is not None and event.result.text not in ("", item.text):
            self._keep_earlier(event)
        result.detail = leftovers(item.detail, event.input, item.text) or None
        result.src = item.src if item.src != event.src else None
        event.result = result
        event.images = [*event.images, *item.images]
        self.events.update(event)

    def _keep_earlier(self, call: Event) -> None:
        """Keep an answer that a later one takes the place of, as an event of its own."""
        earlier = call.result
        if earlier is not None:
            self._event(
                Event(
                    kind="tool_result",
                    ts=earlier.ts,
                    tool_use_id=call.tool_use_id,
                    result=earlier,
                    src=earlier.src or call.src,
                    sidechain=call.sidechain,
                    inherited=call.inherited,
                )
            )

    def _name_hook(self, event: Event) -> None:
        """Give a hook the name of the tool that triggered it, now or when the call comes."""
        call = event.tool_use_id or ""
        seq = self.known.calls.get(call)
        if seq is None:
            self.known.waiting_hooks.setdefault(call, []).append(event.seq)
        else:
            event.tool = self.events[seq].tool

    def _name_hooks(self, call: Event) -> None:
        for seq in self.known.waiting_hooks.pop(call.tool_use_id or "", ()):
            hook = self.events[seq]
            hook.tool = call.tool
            self.events.update(hook)

    def _carry(self, event: Event) -> None:
        """Note which event of a response shall carry its usage: text or call before thought."""
        key = event.message_id or ""
        better = event.kind in ("text", "tool_use")
        known = self.known.carriers.get(key)
        if known is None or (better and not known[1]):
            self.known.carriers[key] = (event.seq, better)
            if known is not None and key in self.known.spends:
                self.relieved.add(known[0])
                self.spent.add(key)

    def _spend(self, item: Spend) -> None:
        if item.model:
            self.known.models.setdefault(item.model)
        self.spent.add(item.key)
        known = self.known.spends.get(item.key)
        if known is None:
            if item.key not in self.known.carriers and len(self.events):
                self.known.carriers[item.key] = (self.known.last_content, True)
            self.known.spends[item.key] = item
        elif item.usage.output_tokens >= known.usage.output_tokens:
            item.model = item.model or known.model
            item.inherited = item.inherited and known.inherited
            self.known.spends[item.key] = item

    def _title(self, item: Title) -> None:
        text = one_line(item.text)
        if item.rank == TITLE_NAMED and not text:
            self.known.titles.pop(TITLE_NAMED, None)
        elif text and (item.rank > TITLE_PROMPT or item.rank not in self.known.titles):
            self.known.titles[item.rank] = text

    def _merge(self, item: Meta) -> None:
        if item.model:
            self.known.models.setdefault(item.model)
        for field in item.__struct_fields__:
            if getattr(self.known.meta, field) in (None, ""):
                setattr(self.known.meta, field, getattr(item, field))

    def _abandon(self, item: Abandoned) -> None:
        self.known.branches += item.branches
        pairs = self.lines.get(item.path, array("q"))
        for at in range(0, len(pairs), 2):
            if pairs[at] in item.lines:
                event = self.events[pairs[at + 1]]
                event.rewound = True
                self.events.update(event)

    def _charge(self) -> tuple[Usage | None, dict[str, Usage]]:
        """Put every response's usage on its event and add up what is the session's own."""
        spends: dict[str, list[Usage]] = {}
        carried: dict[int, list[Spend]] = {seq: [] for seq in self.relieved}
        carried.update({self._carrier(key): [] for key in self.spent})
        for key, spend in self.known.spends.items():
            if (seq := self._carrier(key)) in carried:
                carried[seq].append(spend)
            if not spend.inherited:
                spends.setdefault(spend.model or "", []).append(spend.usage)
        for seq, shown in carried.items():
            if seq < len(self.events):
                event = self.events[seq]
                event.usage = total(spend.usage for spend in shown)
                models = (spend.model for spend in shown if spend.model)
                event.model = event.model or next(models, None)
                self.events.update(event)
        by_model = {model: total(usages) or Usage() for model, usages in spends.items()}
        return total(by_model.values()), by_model

    def _carrier(self, key: str) -> int:
        return self.known.carriers.get(key, (0, True))[0]

    def _save(self, item: Checkpoint) -> None:
        """Note what is known here, so that reading can go on from here another time."""
        known = msgspec.structs.replace(
            self.known,
            count=len(self.events),
            lines={path or "": pairs.tolist() for path, pairs in self.lines.items()},
        )
        self.checkpoint = msgspec.msgpack.encode((item, known))

    def _best_title(self) -> str | None:
        prompt, text = (
            one_line(self.known.first_prompt or ""),
            one_line(self.known.first_text or ""),
        )
        titles = {TITLE_PROMPT: prompt, TITLE_FALLBACK: text, **self.known.titles}
        return next((titles[rank] for rank in sorted(titles, reverse=True) if titles[rank]), None)

    def finish(self, health: Integrity) -> Session:
        """Close the session."""
        own, by_model = self._charge()
        unit, meta = self.unit, self.known.meta
        models = list(self.known.models)
        parent = unit.parent_id or meta.parent_id
        return Session(
            agent=unit.agent,
            id=meta.id or unit.id,
            path=unit.path.encode(errors="replace").decode(),
            cwd=meta.cwd,
            title=self._best_title(),
            messages=self.known.messages,
            event_count=len(self.events),
            started=self.known.start[1] if self.known.start else meta.started,
            ended=self.known.end[1] if self.known.end else meta.started,
            started_time=self.known.start[0] if self.known.start else parse_instant(meta.started),
            ended_time=self.known.end[0] if self.known.end else parse_instant(meta.started),
            mtime=unit.mtime_ns / 1e6,
            bytes=unit.size,
            git_branch=meta.git_branch,
            model=models[0] if models else None,
            models=models,
            version=meta.version,
            tools=self.known.tools,
            usage=own,
            model_usage=by_model,
            archived=unit.archived or bool(meta.archived),
            imported=unit.imported_from is not None,
            imported_from=unit.imported_from,
            programmatic=meta.programmatic,
            origin=meta.origin,
            is_subagent=parent is not None,
            parent_id=parent,
            parent_agent_id=meta.parent_agent_id,
            agent_name=meta.agent_name,
            spawned_by_tool_use_id=meta.spawned_by_tool_use_id,
            fork_of=meta.fork_of,
            inherited_events=self.known.inherited,
            branches=self.known.branches,
            compactions=self.known.compactions,
            ending=self.known.ending,
            integrity=None if health.clean else health,
        )


def total(usages: Iterable[Usage]) -> Usage | None:
    """Add up, field by field; ``None`` for nothing. A part is known when any of them knows it."""
    known_ones = list(usages)
    if len(known_ones) < 2:
        return msgspec.structs.replace(known_ones[0]) if known_ones else None
    rows = map(msgspec.structs.astuple, known_ones)
    sums = ([value for value in column if value is not None] for column in zip(*rows, strict=True))
    known = (sum(values) if values else None for values in sums)
    return Usage(**dict(zip(Usage.__struct_fields__, known, strict=True)))  # type: ignore[arg-type]


def leftovers(detail: Any, tool_input: Any, text: str) -> Any:
    """Drop from the structured form of a result what its text or the call's input says already.

    Strings that stand in either are left out, and so are containers that this empties.
    """
    if detail is None:
        return None
    said = "\n".join((text, *strings_of(tool_input)))
    return _left(detail, said)


def _left(value: Any, said: str) -> Any:
    if isinstance(value, str):
        return None if value.strip() in said else value
    if isinstance(value, dict):
        fields = {key: _left(inner, said) for key, inner in value.items()}
        return {key: inner for key, inner in fields.items() if inner is not None} or None
    if isinstance(value, list):
        items = [_left(inner, said) for inner in value]
        return [item for item in items if item is not None] or None
    return value


def one_line(text: str) -> str:
    """Return the first line that is not blank, cut to :data:`TITLE_LENGTH` characters."""
    # Not splitlines(): U+2028 and its like stand inside a line here, as everywhere in JSONL.
    lines = text.replace("\r", "\n").split("\n")
    return next((line.strip()[:TITLE_LENGTH] for line in lines if line.strip()), "")
