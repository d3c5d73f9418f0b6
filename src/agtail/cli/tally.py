"""What ``stats`` adds up over sessions."""

from __future__ import annotations

import msgspec

from agtail.model import Session, Usage, Wire, encode

UNKNOWN_MODEL = "(model not recorded)"


class Tally(Wire):
    """Counts over sessions, each thing once: no session counts what it copied from another.

    Attributes:
        sessions: all that were counted, subagents included.
        subagents: those of them that are subagents.
        messages: user and assistant texts.
        calls: tool calls.
        tools: calls by tool name.
        usage: tokens.
        model_usage: tokens by model; the empty name holds responses without one.
    """

    sessions: int = msgspec.field(default_factory=int)
    subagents: int = msgspec.field(default_factory=int)
    messages: int = msgspec.field(default_factory=int)
    calls: int = msgspec.field(default_factory=int)
    tools: dict[str, int] = msgspec.field(default_factory=dict)
    usage: Usage = msgspec.field(default_factory=Usage)
    model_usage: dict[str, Usage] = msgspec.field(default_factory=dict)

    def add(self, session: Session) -> None:
        """Count one session."""
        self.sessions += 1
        self.subagents += session.is_subagent
        self.messages += session.messages
        for tool, count in session.tools.items():
            self.tools[tool] = self.tools.get(tool, 0) + count
            self.calls += count
        if session.usage is not None:
            self.usage = self.usage + session.usage
        for model, usage in session.model_usage.items():
            self.model_usage[model] = self.model_usage.get(model, Usage()) + usage

    def ranked(self) -> list[tuple[str, int]]:
        """Return the tools, most used first, then by name."""
        return sorted(self.tools.items(), key=lambda each: (-each[1], each[0]))

    def by_model(self) -> list[tuple[str, Usage]]:
        """Return what each model took, most first."""
        named = [(model or UNKNOWN_MODEL, usage) for model, usage in self.model_usage.items()]
        return sorted(named, key=lambda each: (-each[1].total, each[0]))

    def encode(self) -> bytes:
        """Write the tally as one JSON object."""
        return encode(self)
