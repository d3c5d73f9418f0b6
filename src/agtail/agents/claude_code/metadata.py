"""The agent's own state records: kept whole as bookkeeping, mirrors of other records left out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agtail.agents.base import Item
from agtail.agents.blobs import strip_base64
from agtail.lenient import strings_of
from agtail.model import Event, Source
from agtail.records import Json

_MIRRORS = frozenset({"api-request", "api-request-blob", "api-request-shape", "last-prompt"})
"""Records that repeat what other records of the same file say."""

_STATE = frozenset(
    {
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "artifact-autoreact-ledger",
        "artifact-comment-monitor",
        "atis-latch",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "continued-in",
        "cost-state",
        "custom-title",
        "data-flow-incomplete",
        "data-flow-records",
        "derived-from",
        "dev-mods",
        "ended-by-model",
        "file-history-delta",
        "file-history-snapshot",
        "fork-context-ref",
        "frame-link",
        "history-suppression",
        "host-row",
        "hybrid-organization",
        "isolation-latch",
        "marble-origami-commit",
        "marble-origami-reset",
        "marble-origami-snapshot",
        "memory-mode",
        "mode",
        "observer-ref",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "relocated",
        "repl-mode",
        "resume-head-vouch",
        "session-owner",
        "speculation-accept",
        "tag",
        "tools-used",
        "worktree-state",
    }
)

_ENVELOPE = frozenset(
    {
        "type",
        "uuid",
        "parentUuid",
        "timestamp",
        "sessionId",
        "session_id",
        "messageId",
        "snapshotMessageId",
        "leafUuid",
        "cwd",
        "version",
        "gitBranch",
        "userType",
        "entrypoint",
        "slug",
        "agentId",
        "toolUseID",
        "parentToolUseID",
    }
)
"""Fields that say where a record stands, not what it says."""

_GIST_LENGTH = 2000


class Metadata:
    """Maps state records of one file, and remembers what repeats."""

    def __init__(self) -> None:
        self.queued_first = False
        self.states: dict[str, Json] = {}
        self.queued: dict[str, Event] = {}

    def sent(self, text: str) -> None:
        """Note that a prompt arrived: its queue record was only a copy."""
        self.queued.pop(text.strip(), None)

    def unsent(self) -> Iterator[Item]:
        """Yield the prompts that were queued and never arrived: this was their only record."""
        yield from self.queued.values()

    def items(self, data: Json, kind: object, source: Source) -> Iterator[Item]:
        """Map a record without a message, whatever its type."""
        name = kind if isinstance(kind, str) else ""
        if name in _MIRRORS:
            return
        if name == "progress":
            yield from _progress(data)
            return
        if name == "queue-operation":
            yield from self._queue(data, source)
            return
        if name in _STATE:
            content = said(data)
            if self.states.get(name) == content:
                return
            self.states[name] = content
        raw, images = strip_base64(data)
        yield Event(
            kind="system" if name in _STATE else "unknown",
            role="system",
            text=_gist(name, raw) if name in _STATE else name,
            raw=raw,
            images=images,
            bookkeeping=name in _STATE,
        )

    def _queue(self, data: Json, source: Source) -> Iterator[Item]:
        content = data.get("content")
        if data.get("operation") == "enqueue" and isinstance(content, str) and content.strip():
            timestamp = data.get("timestamp")
            self.queued[content.strip()] = Event(
                kind="system",
                role="system",
                text=f"queued, never sent: {content}",
                ts=timestamp if isinstance(timestamp, str) else None,
                raw=data,
                src=source,
            )
        elif data.get("reason"):
            yield Event(
                kind="system",
                role="system",
                text=_gist("queue-operation", data),
                raw=data,
                bookkeeping=True,
            )


def _progress(data: Json) -> Iterator[Item]:
    """Map a progress record (up to 2.1.2x): hooks are events, a subagent's copy is a mirror."""
    progress = data.get("data")
    detail: Any = progress if isinstance(progress, dict) else {}
    kind = detail.get("type")
    if kind == "agent_progress":
        return
    if kind == "hook_progress":
        command = detail.get("command")
        yield Event(
            kind="hook",
            role="system",
            text=str(detail.get("hookName") or command or "hook"),
            hook_event=str(detail.get("hookEvent") or "") or None,
            command=command if isinstance(command, str) else None,
            tool_use_id=data.get("toolUseID") if isinstance(data.get("toolUseID"), str) else None,
            raw=detail,
        )
        return
    raw, images = strip_base64(data)
    yield Event(
        kind="system",
        role="system",
        text=_gist(f"progress · {kind}", raw),
        raw=raw,
        images=images,
        bookkeeping=True,
    )


def said(data: Json) -> Json:
    """Return a record without its envelope: what it says, not where it stands."""
    return {key: value for key, value in data.items() if key not in _ENVELOPE}


def _gist(name: str, data: Json) -> str:
    """Return the type and the strings of a record, without the envelope, for people to find."""
    values = " ".join(strings_of(said(data)))[:_GIST_LENGTH]
    return f"{name}: {values}" if values else name
