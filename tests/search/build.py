"""Small transcripts for the search tests, put together by the real assembly."""

from __future__ import annotations

from agtail.agents.base import Item, Meta, ToolResult, Unit
from agtail.assemble import Transcript, assemble
from agtail.model import Event, Integrity


def unit(agent: str = "codex", session_id: str = "one", **facts: object) -> Unit:
    """Return a unit without a file."""
    return Unit(agent=agent, id=session_id, path=f"/home/dev/{session_id}.jsonl", **facts)  # type: ignore[arg-type]


def transcript(*items: Item | str, of: Unit | None = None, **facts: object) -> Transcript:
    """Assemble one session; a string stands for a user's text, ``facts`` are those of a Meta."""
    whole: list[Item] = [Meta(**facts)] if facts else []  # type: ignore[arg-type]
    whole += [said(item) if isinstance(item, str) else item for item in items]
    return assemble(of or unit(), whole, Integrity())[0]


def said(text: str, ts: str | None = None) -> Event:
    """Return what a user said."""
    return Event(kind="text", role="user", text=text, ts=ts)


def call(tool: str, arguments: object, call_id: str | None = None) -> Event:
    """Return a tool call."""
    return Event(kind="tool_use", tool=tool, input=arguments, tool_use_id=call_id)


def answer(call_id: str, text: str, detail: object = None) -> ToolResult:
    """Return a result for a call."""
    return ToolResult(tool_use_id=call_id, text=text, detail=detail)
