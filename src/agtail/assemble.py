"""Events → sessions, once for all agents: pairing, usage, times, titles, counts.

An adapter yields items in the order of its file; :func:`assemble` turns them into transcripts.
Events live in an :class:`~agtail.event_log.EventLog`, so that memory stays bounded however long
a transcript is.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from agtail.agents.base import (
    TITLE_FALLBACK,
    TITLE_NAMED,
    TITLE_PROMPT,
    Abandoned,
    Ended,
    Item,
    Meta,
    Spend,
    Title,
    ToolResult,
    Unit,
    Within,
)
from agtail.event_log import EventLog
from agtail.instants import parse_instant
from agtail.lenient import strings_of
from agtail.model import CONTENT_KINDS, Ending, Event, Integrity, Result, Session, Usage

TITLE_LENGTH = 120
"""Titles are one line of at most this many characters."""

Describe = Callable[[str, object], str | None]


class Transcript(msgspec.Struct, frozen=True):
    """A session with its events. ``events`` may be read many times."""

    session: Session
    events: Sequence[Event]

    @property
    def empty(self) -> bool:
        """Whether it has no text, thought or call, and no reason to be listed all the same."""
        health = self.session.integrity
        return not self.session.messages and not (
            (health is not None and health.unreadable)
            or any(event.kind in CONTENT_KINDS for event in self.events)
        )


def assemble(
    unit: Unit,
    items: Iterable[Item],
    health: Integrity,
    describe: Describe | None = None,
) -> list[Transcript]:
    """Turn the items of one unit into its session, followed by the sessions within it.

    Args:
        unit: where the items come from; its facts are the defaults.
        items: what the adapter read, in order. Consumed to the end.
        health: filled in by the adapter while ``items`` is consumed.
        describe: the adapter's own one-line summary of a tool call.

    Raises:
        SourceError: from ``items``, when nothing can be read.
    """
    main = _Builder(unit, describe)
    within: dict[str, _Builder] = {}
    for item in items:
        if isinstance(item, Within):
            builder = within.get(item.session_id)
            if builder is None:
                builder = within[item.session_id] = _Builder(unit, describe)
                builder.take(
                    Meta(id=item.session_id, parent_id=unit.parent_id or unit.id),
                )
            builder.take(item.item)
        else:
            main.take(item)
    for builder in within.values():
        builder.take(
            Meta(cwd=main.meta.cwd, git_branch=main.meta.git_branch, version=main.meta.version)
        )
    return [main.finish(health), *(builder.finish(Integrity()) for builder in within.values())]


class _Builder:
    """Collects the items of one session."""

    def __init__(self, unit: Unit, describe: Describe | None) -> None:
        self.unit = unit
        self.describe = describe
        self.events = EventLog()
        self.lines: dict[str | None, array[int]] = {}  # line and number of each event, by file
        self.meta = Meta()
        self.models: dict[str, None] = {}
        self.ending: Ending | None = None
        self.titles: dict[int, str] = {}
        self.first_prompt: str | None = None
        self.first_text: str | None = None
        self.calls: dict[str, int] = {}
        self.waiting_hooks: dict[str, list[int]] = {}
        self.spends: dict[str, Spend] = {}
        self.carriers: dict[str, tuple[int, bool]] = {}
        self.last_content = 0
        self.messages = self.inherited = self.compactions = self.branches = 0
        self.tools: dict[str, int] = {}
        self.start: tuple[int, str] | None = None
        self.end: tuple[int, str] | None = None

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
            self.ending = item.ending
        elif isinstance(item, Abandoned):
            self._abandon(item)

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
                self.calls[event.tool_use_id] = seq
                self._name_hooks(event)
            elif event.kind == "hook" and event.tool is None:
                self._name_hook(event)
        if event.model:
            self.models.setdefault(event.model)
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
        if self.start is None or time < self.start[0]:
            self.start = (time, ts)
        if self.end is None or time > self.end[0]:
            self.end = (time, ts)

    def _count(self, event: Event) -> None:
        kind = event.kind
        if kind in CONTENT_KINDS:
            self.last_content = event.seq
        if kind == "text" and event.role == "user" and event.text and self.first_prompt is None:
            self.first_prompt = event.text
        if kind == "text" and event.text and self.first_text is None:
            self.first_text = event.text
        if event.inherited:
            self.inherited += kind in CONTENT_KINDS
            return
        self.messages += kind == "text"
        self.compactions += event.compact
        if kind == "tool_use":
            name = event.tool or ""
            self.tools[name] = self.tools.get(name, 0) + 1

    def _result(self, item: ToolResult) -> None:
        result = Result(
            text=item.text,
            is_error=item.is_error,
            detail=leftovers(item.detail, None, item.text) or None,
            before=item.before,
            ts=item.ts,
        )
        self._clock(parse_instant(item.ts), item.ts)
        seq = self.calls.get(item.tool_use_id)
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
        seq = self.calls.get(call)
        if seq is None:
            self.waiting_hooks.setdefault(call, []).append(event.seq)
        else:
            event.tool = self.events[seq].tool

    def _name_hooks(self, call: Event) -> None:
        for seq in self.waiting_hooks.pop(call.tool_use_id or "", ()):
            hook = self.events[seq]
            hook.tool = call.tool
            self.events.update(hook)

    def _carry(self, event: Event) -> None:
        """Note which event of a response shall carry its usage: text or call before thought."""
        key = event.message_id or ""
        better = event.kind in ("text", "tool_use")
        known = self.carriers.get(key)
        if known is None or (better and not known[1]):
            self.carriers[key] = (event.seq, better)

    def _spend(self, item: Spend) -> None:
        if item.model:
            self.models.setdefault(item.model)
        known = self.spends.get(item.key)
        if known is None:
            if item.key not in self.carriers and len(self.events):
                self.carriers[item.key] = (self.last_content, True)
            self.spends[item.key] = item
        elif item.usage.output_tokens >= known.usage.output_tokens:
            item.model = item.model or known.model
            item.inherited = item.inherited and known.inherited
            self.spends[item.key] = item

    def _title(self, item: Title) -> None:
        text = one_line(item.text)
        if item.rank == TITLE_NAMED and not text:
            self.titles.pop(TITLE_NAMED, None)
        elif text and (item.rank > TITLE_PROMPT or item.rank not in self.titles):
            self.titles[item.rank] = text

    def _merge(self, item: Meta) -> None:
        if item.model:
            self.models.setdefault(item.model)
        for field in item.__struct_fields__:
            if getattr(self.meta, field) in (None, ""):
                setattr(self.meta, field, getattr(item, field))

    def _abandon(self, item: Abandoned) -> None:
        self.branches += item.branches
        pairs = self.lines.get(item.path, array("q"))
        for at in range(0, len(pairs), 2):
            if pairs[at] in item.lines:
                event = self.events[pairs[at + 1]]
                event.rewound = True
                self.events.update(event)

    def _charge(self) -> tuple[Usage | None, dict[str, Usage]]:
        """Put every response's usage on its event and add up what is the session's own."""
        by_model: dict[str, Usage] = {}
        own: Usage | None = None
        for key, spend in self.spends.items():
            seq, _ = self.carriers.get(key, (0, True))
            if seq < len(self.events):
                event = self.events[seq]
                event.usage = spend.usage if event.usage is None else event.usage + spend.usage
                event.model = event.model or spend.model
                self.events.update(event)
            if not spend.inherited:
                own = spend.usage if own is None else own + spend.usage
                model = spend.model or ""
                by_model[model] = by_model.get(model, Usage()) + spend.usage
        return own, by_model

    def _best_title(self) -> str | None:
        prompt, text = one_line(self.first_prompt or ""), one_line(self.first_text or "")
        titles = {TITLE_PROMPT: prompt, TITLE_FALLBACK: text, **self.titles}
        return next((titles[rank] for rank in sorted(titles, reverse=True) if titles[rank]), None)

    def finish(self, health: Integrity) -> Transcript:
        """Close the session."""
        own, by_model = self._charge()
        unit, meta = self.unit, self.meta
        models = list(self.models)
        parent = unit.parent_id or meta.parent_id
        session = Session(
            agent=unit.agent,
            id=meta.id or unit.id,
            path=unit.path.encode(errors="replace").decode(),
            cwd=meta.cwd,
            title=self._best_title(),
            messages=self.messages,
            event_count=len(self.events),
            started=self.start[1] if self.start else meta.started,
            ended=self.end[1] if self.end else meta.started,
            started_time=self.start[0] if self.start else parse_instant(meta.started),
            ended_time=self.end[0] if self.end else parse_instant(meta.started),
            mtime=unit.mtime_ns / 1e6,
            bytes=unit.size,
            git_branch=meta.git_branch,
            model=models[0] if models else None,
            models=models,
            version=meta.version,
            tools=self.tools,
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
            inherited_events=self.inherited,
            branches=self.branches,
            compactions=self.compactions,
            ending=self.ending,
            integrity=None if health.clean else health,
        )
        return Transcript(session, self.events)


def unreadable(unit: Unit, reason: str) -> Transcript:
    """List a source that cannot be read, with its size, so that it is never silently absent."""
    builder = _Builder(unit, None)
    return builder.finish(Integrity(unreadable=reason, size=unit.size))


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
