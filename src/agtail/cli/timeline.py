"""How ``show`` writes a session: its header, and each event as one or more lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from agtail.cli.terminal import (
    AMBER,
    BOLD,
    CYAN,
    DIM,
    ELLIPSIS,
    GRAY,
    GREEN,
    RED,
    VIOLET,
    Line,
    Span,
)
from agtail.cli.wording import Wording, blob, caveats, flat, launcher, plural, short_id
from agtail.model import Event, Result, Session
from agtail.search.haystack import summarize

INDENT = " " * 11
TEXT_LENGTH = 1000
RESULT_LENGTH = 140
LINE_LENGTH = 120


def header(session: Session, wording: Wording) -> Iterator[Line]:
    """Say what the session is: who, which, what for, where, and what is odd about it."""
    marks = ["🗄 archived" if session.archived else "", launcher(session)]
    named = "  ".join([f"{wording.agent(session.agent)} · {session.id}", *filter(None, marks)])
    yield [Span(named, BOLD)]
    if session.title:
        yield [Span(f"  {session.title}")]
    if session.is_subagent:
        line = f"  ↳ subagent ({session.agent_name or '?'}) of {session.parent_id or '?'}"
        spawner = session.parent_agent_id
        nested = f", spawned by {short_id(spawner)}" if spawner else ""
        yield [Span(line + nested, DIM)]
    facts = [
        wording.path(session.cwd),
        f"branch={session.git_branch or '-'}",
        " → ".join(session.models),
        f"v{session.version or '?'}",
        f"imported from {session.imported_from}" if session.imported_from else "",
    ]
    yield [Span("  " + "  ".join(filter(None, facts)), DIM)]
    if odd := caveats(session):
        yield [Span("  "), *odd]


class Timeline:
    """Writes events as lines.

    Args:
        wording: names and times.
        full: cut nothing, and show inputs and raw records as well.
    """

    def __init__(self, wording: Wording, *, full: bool = False) -> None:
        self._wording = wording
        self._full = full

    def lines(self, event: Event) -> Iterator[Line]:
        """Write one event; a line holds line feeds only where a text goes on indented."""
        if event.compact:
            yield [*self._start(event), Span("⇲ compacted", DIM)]
        yield from self._kind(event)
        for image in event.images:
            yield [Span(f"{INDENT}🖼 {blob(image)}", DIM)]

    def _kind(self, event: Event) -> Iterator[Line]:
        start = self._start(event)
        text = event.text or ""
        if event.kind == "text":
            speaker, style = _speaker(event)
            body = self._body(text.strip(), TEXT_LENGTH)
            yield [*start, Span(speaker, style), Span(f": {body}"), *_badge(event)]
        elif event.kind == "thinking":
            said = self._brief(text, LINE_LENGTH)
            yield [*start, Span("thinking", VIOLET), Span(f" {said}".rstrip(), DIM), *_badge(event)]
        elif event.kind == "tool_use":
            yield from self._call(event, start)
        elif event.kind == "tool_result":
            result = event.result or Result(text=text)
            yield [*start, *self._result(result), Span("  (its call is not recorded)", DIM)]
        elif event.kind == "hook":
            yield from self._hook(event, start)
        elif event.kind == "summary":
            yield [start[0], Span(" "), Span(f"— {self._body(text, TEXT_LENGTH)}", GRAY)]
        elif event.kind == "system":
            said = self._brief(text, LINE_LENGTH)
            yield [*start, Span("system", GRAY), Span(f" {said}", DIM), *_badge(event)]
        else:
            yield [
                *start,
                Span(f"? {self._brief(text, TEXT_LENGTH)}".rstrip(), DIM),
                *_badge(event),
            ]
            if self._full:
                yield from _details(event.raw)

    def _call(self, event: Event, start: Line) -> Iterator[Line]:
        summary = summarize(event)
        shown = self._brief(summary, TEXT_LENGTH)
        yield [*start, Span(f"⚙ {event.tool or '?'}", AMBER), Span(f"  {shown}"), *_badge(event)]
        if self._full:
            yield from _details(event.input, summary)
        if event.result is not None:
            yield [Span(INDENT), *self._result(event.result)]

    def _result(self, result: Result) -> Line:
        mark = Span("✗", RED) if result.is_error else Span("✓", GREEN)
        text = self._brief(result.text, RESULT_LENGTH, "  ")
        return [mark, Span(f" {text}", DIM)] if text else [mark]

    def _hook(self, event: Event, start: Line) -> Iterator[Line]:
        named = [
            event.hook_event or "?",
            f"[{event.plugin}]" if event.plugin else "",
            event.tool or "",
        ]
        label = f"🪝 {' '.join(filter(None, named))}"
        said = self._brief(event.text or "", TEXT_LENGTH)
        yield [*start, Span(label, VIOLET), Span("  "), Span(said, AMBER), *_badge(event)]
        if self._full:
            yield from _details(event.raw)

    def _start(self, event: Event) -> Line:
        """Begin a line: the time, and two columns that mark copies, branches and subagents."""
        marks = "⊂" * event.inherited + "⟲" * event.rewound + "¦" * event.sidechain
        time = self._wording.time(event.time, event.ts)
        return [Span(time, GRAY), Span(f" {marks:<2}", DIM if event.inherited else "")]

    def _body(self, text: str, length: int, extra: str = "") -> str:
        """Write a text over several lines, each but the first indented."""
        if not self._full and len(text) > length:
            text = text[:length] + ELLIPSIS
        return text.replace("\r\n", "\n").replace("\n", f"\n{INDENT}{extra}")

    def _brief(self, text: str, length: int, extra: str = "") -> str:
        """Write a text on one line, cut; all of it over several lines when all is wanted."""
        if self._full:
            return self._body(text.strip(), length, extra)
        return flat(text[:length]) + (ELLIPSIS if len(text) > length else "")


def hidden_line(count: int) -> Line:
    """Say that bookkeeping records are left out, and how to see them."""
    hidden = f"{INDENT}{plural(count, 'bookkeeping record')} hidden (--full shows all)"
    return [Span(hidden, DIM)]


def _speaker(event: Event) -> tuple[str, str]:
    """Name who speaks. In a subagent's conversation the user is the agent that called it."""
    if event.role == "user":
        return ("agent" if event.sidechain else "user"), CYAN
    return event.role or "?", ""


def _badge(event: Event) -> Line:
    usage = event.usage
    return [] if usage is None else [Span(f"  [{usage.total:,} tok]", GREEN)]


def _details(value: Any, known: str = "") -> Iterator[Line]:
    """Write a call's arguments or a raw record: one line a key, texts as they are."""
    if value is None:
        return
    for key, inner in value.items() if isinstance(value, dict) else [("", value)]:
        if inner == known:
            continue
        text = inner if isinstance(inner, str) else msgspec.json.encode(inner).decode()
        body = text.replace("\r\n", "\n").replace("\n", f"\n{INDENT}    ")
        yield [Span(f"{INDENT}  {key}: " if key else f"{INDENT}  ", GRAY), Span(body)]
